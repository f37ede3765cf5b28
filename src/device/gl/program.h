// A shader program, linked, with the driver's words where it fails.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "device/gl/session.h"

namespace lanecrypt::device::gl {

struct Stage {
  GLenum kind;
  // The parts of the source that follow the line of the version.
  std::string defines;
  const char *source;
};

// The first line of a source for this context: `es` for OpenGL ES, `desktop`
// for desktop OpenGL.
std::string version_line(const Limits &limits, int es, int desktop);

// `name` is for messages; `version` for version_line().
Result<GLuint> link_program(Session &session, const std::string &name, const std::string &version,
                            std::span<const Stage> stages);

}  // namespace lanecrypt::device::gl
