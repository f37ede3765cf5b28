// The kernels of RSA, compiled as plain C++.
//
// SPDX-License-Identifier: Apache-2.0
#include "device/host/host_kernel_entry.h"
#include "kernels/host_lane.h"

#pragma GCC diagnostic ignored "-Wunused-function"

namespace {
#define LC_RSA_FP64
#define LC_RSA_U32
#include "kernels/all_rsa.h"
}  // namespace

namespace lanecrypt::device {
namespace {

#define POWER(name) ENTRY(rsa_##name##_power_all), ENTRY(rsa_##name##_prime_test)
#define WHOLE(name) \
  ENTRY(rsa_##name##_blind_all), ENTRY(rsa_##name##_finish_all), ENTRY(rsa_##name##_public_all)
#define ALL(name) POWER(name), WHOLE(name)

constexpr HostKernelEntry kKernels[] = {
    ENTRY(prime_sieve),  POWER(fp64_lone_10), POWER(fp64_lone_20), POWER(fp64_lone_30),
    POWER(fp64_lone_40), POWER(u32_lone_39),  ALL(fp64_10),        ALL(fp64_20),
    ALL(fp64_30),        ALL(fp64_40),        ALL(fp64_60),        ALL(fp64_80),
    WHOLE(fp64_120),     WHOLE(fp64_160),     ALL(u32_20),         ALL(u32_39),
    WHOLE(u32_40),       ALL(u32_58),         ALL(u32_78),         ALL(u32_116),
    ALL(u32_156),        WHOLE(u32_232),      WHOLE(u32_312)};

}  // namespace

std::span<const HostKernelEntry> host_rsa_kernels() { return kKernels; }

}  // namespace lanecrypt::device
