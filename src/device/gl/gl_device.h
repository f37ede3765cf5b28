// A device of OpenGL, with the kernels that the code which opens it provides.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "device/gl/session.h"

namespace lanecrypt::device::gl {

// What is known of the device `number` of EGL's without a context.
Properties describe(const EglPlace &place, size_t number);

// `context` is current. `properties` are those of describe(); what the context tells replaces the
// rest. An error where a context of a GPU computes on the CPU.
Result<std::unique_ptr<Device>> open_device(std::unique_ptr<Context> context,
                                            std::unique_ptr<Kernels> kernels,
                                            Properties properties);

}  // namespace lanecrypt::device::gl
