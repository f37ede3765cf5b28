// How much a test does: less where a sanitizer makes the emulator many times as
// slow, more by hand.
//
// LANECRYPT_TEST_SCALE        counts of random cases times this, and below 1 a sample of the
//                             listed cases (Sample); 1 if not set. dev/test also sets it where
//                             it runs tests that it has run whole.
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

inline bool is_scaled_down() { return scaled(10) < 10; }

// Which of the cases that a test lists it runs: all, and where LANECRYPT_TEST_SCALE is below 1
// one of so many, evenly.
class Sample {
 public:
  // one_in: a prime that divides the rounds of no inner loop, or some of them would never run.
  explicit Sample(uint64_t one_in) : one_in_(is_scaled_down() ? one_in : 1) {}
  bool takes_next() { return turn_++ % one_in_ == 0; }

 private:
  const uint64_t one_in_;
  uint64_t turn_ = 0;
};
