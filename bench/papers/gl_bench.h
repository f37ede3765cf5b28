// What the papers that used OpenGL share: the OpenGL device, opened again for each way to
// compute.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "bench/papers/case.h"
#include "bench/papers/gl2007/gl2007.h"

namespace lanecrypt::bench {

// A way to compute by OpenGL.
struct GlWay {
  std::string name;                     // in results
  std::optional<gl2007::Way> fragment;  // nullopt: the library's own device, with compute shaders
};

const GlWay kComputeWay = {"compute", {}};
const GlWay kIntegerWay = {"integer", gl2007::Way{}};
// The way of R and M: a table of all pairs of bytes, and one draw per round.
const GlWay kTable8Way = {"table8", gl2007::Way{.xor_by = gl2007::Xor::kTable8}};

// Returns the first selected OpenGL device, or else the first GPU that OpenGL reaches, or else
// its first device.
std::optional<lc_device_info> find_gl(const Context &context);

class GlBench {
 public:
  GlBench(PaperBench &bench, const lc_device_info &device);

  PaperBench &bench() const { return bench_; }
  const std::string &api() const { return api_; }
  bool is_gpu() const { return is_gpu_; }
  // Whether few and small measurements are enough: in a quick run, or without a GPU.
  bool is_small() const { return bench_.quick || !is_gpu_; }

  // Opens the device for `way` and calls `work` with it as device 0. If it cannot be opened, a
  // note says why.
  void with(const GlWay &way, const std::function<void(const Context &)> &work) const;

 private:
  PaperBench &bench_;
  const std::string id_, api_;
  const bool is_gpu_;
};

}  // namespace lanecrypt::bench
