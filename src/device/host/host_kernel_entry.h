// Makes an entry of the emulator's list of kernels from a kernel function.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>
#include <utility>

#include "device/host/host_kernels.h"

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

}  // namespace
}  // namespace lanecrypt::device

#define ENTRY(name) \
  HostKernelEntry { #name, run < name>, count_parameters(name) }
