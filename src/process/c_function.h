// Wraps our functions that C code calls. An exception that propagates through C code ends the
// process, so none may leave such a function.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <type_traits>

namespace lanecrypt::process {

using OnException = void (*)(const std::exception &) noexcept;

inline void ignore_exception(const std::exception & /*error*/) noexcept {}

template <auto kFunction, OnException kOnException, typename Pointer = decltype(+kFunction)>
struct CFunction;

// call() is not noexcept: pthread_cancel() ends a thread by an exception of the C library, which is
// not derived from std::exception and must propagate.
template <auto kFunction, OnException kOnException, typename Result, typename... Parameters>
struct CFunction<kFunction, kOnException, Result (*)(Parameters...)> {
  static Result call(Parameters... arguments) {
    try {
      return kFunction(arguments...);
    } catch (const std::exception &error) {
      kOnException(error);
    }
    if constexpr (!std::is_void_v<Result>) return Result{};
  }
};

// c_function wraps `kFunction`, which may be a lambda without captures, for a caller in C. If
// `kFunction` throws, `kOnException` is called and the result is 0 or nullptr, which the caller
// must treat as failure. A noexcept function needs no wrapper, and does not compile here.
template <auto kFunction, OnException kOnException = ignore_exception>
inline constexpr auto c_function = &CFunction<kFunction, kOnException>::call;

}  // namespace lanecrypt::process
