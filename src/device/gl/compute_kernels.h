// The kernels as compute shaders. A program is linked at its first launch.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>

#include "device/gl/session.h"

namespace lanecrypt::device::gl {

class ComputeKernels : public Kernels {
 public:
  // Whether a context supports everything that these kernels need.
  static bool can_run(const Limits &limits);

  explicit ComputeKernels(const Limits &limits) : limits_(limits) {}
  std::vector<std::string> names() const override;
  Status launch(Session &session, const Launch &launch) override;
  void close(Session &session) override;

 private:
  const Limits limits_;
  std::map<std::string, GLuint, std::less<>> programs_;
};

}  // namespace lanecrypt::device::gl
