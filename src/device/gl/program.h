// Linked shader programs. Errors contain the driver's message.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "device/gl/session.h"

namespace lanecrypt::device::gl {

struct Stage {
  GLenum kind;
  // The parts of the source that follow the version line.
  std::string defines;
  const char *source;
};

// Returns the first line of a source for this context: version `es` for OpenGL ES, `desktop` for
// desktop OpenGL.
std::string version_line(const Limits &limits, int es, int desktop);

// Compiles and links a program. `name` is for messages; `version` is the result of version_line().
Result<GLuint> link_program(Session &session, const std::string &name, const std::string &version,
                            std::span<const Stage> stages);

}  // namespace lanecrypt::device::gl
