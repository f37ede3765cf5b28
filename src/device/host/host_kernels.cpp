// The kernel sources, compiled as plain C++.
//
// SPDX-License-Identifier: Apache-2.0
#include "device/host/host_kernels.h"

#include <algorithm>
#include <array>

#include "device/host/host_kernel_entry.h"
#include "kernels/host_lane.h"

// The kernels' functions are this file's alone; what a platform does not call
// stays unused.
#pragma GCC diagnostic ignored "-Wunused-function"

namespace {
#include "kernels/all.h"
}  // namespace

namespace lanecrypt::device {
namespace {

#define FORM(cipher, form)                                                          \
  ENTRY(cipher##_##form##_ecb_encrypt), ENTRY(cipher##_##form##_ecb_decrypt),       \
      ENTRY(cipher##_##form##_cbc_encrypt), ENTRY(cipher##_##form##_cbc_decrypt),   \
      ENTRY(cipher##_##form##_ctr), ENTRY(cipher##_##form##_feedback),              \
      ENTRY(cipher##_##form##_cfb_decrypt), ENTRY(cipher##_##form##_steal_encrypt), \
      ENTRY(cipher##_##form##_steal_decrypt), ENTRY(cipher##_##form##_ccm),         \
      ENTRY(cipher##_##form##_xts_points), ENTRY(cipher##_##form##_xts_encrypt),    \
      ENTRY(cipher##_##form##_xts_decrypt)
#define CIPHER(name, NAME)                                                                  \
  ENTRY(name##_expand_keys), ENTRY(name##_expand_stream_keys), ENTRY(name##_bitslice_keys), \
      FORM(name, bitslice), FORM(name, table1), FORM(name, table4),

constexpr HostKernelEntry kKernels[] = {BLOCK_CIPHERS(CIPHER) ENTRY(ghash_powers),
                                        ENTRY(ghash_runs),
                                        ENTRY(ghash_weigh),
                                        ENTRY(ghash_sums),
                                        ENTRY(ghash_matrices),
                                        ENTRY(ghash_matrix_runs),
                                        ENTRY(chacha20),
                                        ENTRY(poly1305_keys),
                                        ENTRY(chacha20_poly1305_runs),
                                        ENTRY(poly1305_weigh),
                                        ENTRY(poly1305_sums),
                                        ENTRY(poly1305_matrices),
                                        ENTRY(chacha20_poly1305_matrix_runs),
                                        ENTRY(aead_check)};

std::array<std::span<const HostKernelEntry>, 2> all_kernels() {
  return {kKernels, host_rsa_kernels()};
}

}  // namespace

const HostKernelEntry *find_host_kernel(std::string_view name) {
  for (const std::span<const HostKernelEntry> kernels : all_kernels()) {
    const auto entry = std::find_if(kernels.begin(), kernels.end(),
                                    [&](const HostKernelEntry &e) { return e.name == name; });
    if (entry != kernels.end()) return &*entry;
  }
  return nullptr;
}

std::vector<std::string> host_kernels_named(std::string_view beginnings) {
  std::vector<std::string> names;
  for (size_t at = 0; at <= beginnings.size(); ++at) {
    const std::string_view beginning = beginnings.substr(at, beginnings.find(',', at) - at);
    at += beginning.size();
    for (const std::span<const HostKernelEntry> kernels : all_kernels())
      for (const HostKernelEntry &kernel : kernels)
        if (!beginning.empty() && kernel.name.starts_with(beginning))
          names.emplace_back(kernel.name);
  }
  return names;
}

}  // namespace lanecrypt::device
