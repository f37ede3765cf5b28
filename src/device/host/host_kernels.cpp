// The kernel sources, compiled as plain C++.
//
// SPDX-License-Identifier: Apache-2.0
#include "device/host/host_kernels.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "kernels/host_lane.h"

// The kernels' functions are this file's alone; what a platform does not call
// stays unused.
#pragma GCC diagnostic ignored "-Wunused-function"

namespace {
#include "kernels/all.h"
}  // namespace

namespace lanecrypt::device {
namespace {

template <typename T>
T parameter(uint64_t value) {
  if constexpr (std::is_pointer_v<T>)
    return reinterpret_cast<T>(value);
  else
    return static_cast<T>(value);
}

template <typename... P, size_t... I>
void call(void (*kernel)(P...), std::span<const uint64_t> arguments, std::index_sequence<I...>) {
  kernel(parameter<P>(arguments[I])...);
}

template <typename... P>
constexpr size_t count_parameters(void (*)(P...)) {
  return sizeof...(P);
}

template <auto kKernel>
void run(std::span<const uint64_t> arguments) {
  call(kKernel, arguments, std::make_index_sequence<count_parameters(kKernel)>());
}

#define ENTRY(name) \
  HostKernelEntry { #name, run < name>, count_parameters(name) }
#define FORM(form)                                                                               \
  ENTRY(aes_##form##_ecb_encrypt), ENTRY(aes_##form##_ecb_decrypt),                              \
      ENTRY(aes_##form##_cbc_encrypt), ENTRY(aes_##form##_cbc_decrypt), ENTRY(aes_##form##_ctr), \
      ENTRY(aes_##form##_feedback), ENTRY(aes_##form##_cfb_decrypt),                             \
      ENTRY(aes_##form##_steal_encrypt), ENTRY(aes_##form##_steal_decrypt),                      \
      ENTRY(aes_##form##_xts_points), ENTRY(aes_##form##_xts_encrypt),                           \
      ENTRY(aes_##form##_xts_decrypt)

constexpr HostKernelEntry kKernels[] = {ENTRY(aes_expand_keys),
                                        ENTRY(aes_bitslice_keys),
                                        FORM(bitslice),
                                        FORM(table1),
                                        FORM(table4),
                                        ENTRY(ghash_powers),
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
                                        ENTRY(aead_check)};

}  // namespace

const HostKernelEntry *find_host_kernel(std::string_view name) {
  const auto *entry = std::find_if(std::begin(kKernels), std::end(kKernels),
                                   [&](const HostKernelEntry &e) { return e.name == name; });
  return entry == std::end(kKernels) ? nullptr : entry;
}

}  // namespace lanecrypt::device
