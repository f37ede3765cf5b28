// Sets of kernels that are compiled and loaded together. A new family adds a row here, and files
// whose names contain the row's name:
//   src/device/cuda/NAME_kernels.cu      compiled to a fatbin by nvcc
//   src/device/opencl/NAME_source.cpp    NAME_source(): the parts that OpenCL compiles
//   src/device/host/NAME_kernels.h       compiled for the emulator; the build lists its kernels
//   src/verify/NAME_known_answers.cpp    NAME_known_answers(): what a device must answer first
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace lanecrypt::device {

// ROW(name, enumerator, the name in messages, the prefixes of its kernels' names). "" as prefixes
// means all kernels that no other set has. CMake reads the names, so each row is one line.
#define LC_KERNEL_SETS(ROW)                \
  ROW(ciphers, kCiphers, "ciphers", "")    \
  ROW(rsa, kRsa, "RSA", "rsa_ prime_")     \
  ROW(slh, kSlh, "SLH-DSA", "slh_")        \
  ROW(ml_dsa, kMlDsa, "ML-DSA", "ml_dsa_") \
  ROW(hash, kHash, "hashes", "hash_")

#define LC_VALUE(name, value, subject, beginnings) value,
enum class KernelSet : uint32_t { LC_KERNEL_SETS(LC_VALUE) };
#undef LC_VALUE

struct KernelSetRow {
  KernelSet set;
  std::string_view subject, beginnings;
};

#define LC_ROW(name, value, subject, beginnings) {KernelSet::value, subject, beginnings},
inline constexpr KernelSetRow kKernelSets[] = {LC_KERNEL_SETS(LC_ROW)};
#undef LC_ROW

constexpr const KernelSetRow &row_of(KernelSet set) { return kKernelSets[uint32_t(set)]; }
constexpr uint32_t bit_of(KernelSet set) { return uint32_t{1} << uint32_t(set); }

constexpr KernelSet set_of_kernel(std::string_view kernel) {
  for (const KernelSetRow &row : kKernelSets)
    for (std::string_view rest = row.beginnings; !rest.empty();) {
      const size_t end = rest.find(' ');
      if (kernel.starts_with(rest.substr(0, end))) return row.set;
      rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
    }
  for (const KernelSetRow &row : kKernelSets)
    if (row.beginnings.empty()) return row.set;
  return {};
}

}  // namespace lanecrypt::device
