// How much a test does: less where a sanitizer makes the emulator many times as
// slow, more by hand.
//
// LANECRYPT_TEST_SCALE        counts of random cases times this; 1 if not set.
// LANECRYPT_TEST_EVERY_FORM   1: every case and form on slow devices too.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

// Their threads and memory are not what a program without a sanitizer has.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif

// Whether slow devices run every case and every form of the kernels, as with dev/test --full.
inline bool wants_every_case() {
  const char *value = std::getenv("LANECRYPT_TEST_EVERY_FORM");
  return value != nullptr && std::string_view(value) == "1";
}

// count * LANECRYPT_TEST_SCALE, at least 1.
inline uint64_t scaled(uint64_t count) {
  const char *text = std::getenv("LANECRYPT_TEST_SCALE");
  const double scale = text == nullptr || *text == '\0' ? 1 : std::atof(text);
  if (!(scale > 0))
    throw std::runtime_error(std::string("LANECRYPT_TEST_SCALE is no number above 0: ") + text);
  return std::max<uint64_t>(1, std::llround(double(count) * scale));
}
