// The error type inside the library: a status code of the ABI with a text for people.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "lanecrypt/lanecrypt.h"

namespace lanecrypt {

// LC_OK, or an error with its sentence. The sentence never holds secret data. If there is no memory
// for it, a copy has none: threads from which nothing may be thrown pass failures on.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(lc_status code, std::string text) : code_(code), text_(std::move(text)) {}
  Status(const Status &other) noexcept : code_(other.code_) {
    try {
      text_ = other.text_;
    } catch (const std::bad_alloc &) {
    }
  }
  Status(Status &&) noexcept = default;
  Status &operator=(const Status &other) noexcept { return *this = Status(other); }
  Status &operator=(Status &&) noexcept = default;

  bool ok() const { return code_ == LC_OK; }
  lc_status code() const { return code_; }
  const std::string &text() const { return text_; }

 private:
  lc_status code_ = LC_OK;
  std::string text_;
};

// status_of() returns an error, without its text if there is no memory for it. For threads that
// must not throw.
inline Status status_of(lc_status code, const char *text) noexcept {
  try {
    return Status(code, text);
  } catch (const std::exception &) {
    return Status(code, "");
  }
}

// guarded() returns what `body` returns, or LC_ERROR_MEMORY if it throws, which it does only for
// lack of memory or of threads.
template <typename Body>
Status guarded(const Body &body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc &) {
    return status_of(LC_ERROR_MEMORY, "out of memory");
  } catch (const std::exception &error) {
    return status_of(LC_ERROR_MEMORY, error.what());
  }
}

// The error of a call that violates the contract in lanecrypt.h.
inline Status wrong_argument(std::string text) {
  return Status(LC_ERROR_ARGUMENT, std::move(text));
}

// Both texts are so short that they take no memory of their own.
//
// process_ends() is for a request that exit() found waiting, or that came after it.
inline Status process_ends() noexcept { return Status(LC_ERROR_STOPPED, "process ends"); }
inline Status out_of_memory() noexcept { return Status(LC_ERROR_MEMORY, "out of memory"); }

// `Result` is a value, or an error.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Status status) : status_(std::move(status)) {}

  bool ok() const { return value_.has_value(); }
  const Status &status() const { return status_; }
  T &operator*() { return *value_; }
  T *operator->() { return &*value_; }

 private:
  std::optional<T> value_;
  Status status_;
};

}  // namespace lanecrypt

// Returns from the function with the status of `expression` unless it is OK.
#define LC_TRY(expression)                                                     \
  do {                                                                         \
    if (::lanecrypt::Status lc_try_status = (expression); !lc_try_status.ok()) \
      return lc_try_status;                                                    \
  } while (0)
