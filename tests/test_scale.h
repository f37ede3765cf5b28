// How much a test does: less if a sanitizer makes the emulator many times slower, more on request.
//
// LANECRYPT_TEST_SCALE        a factor for the counts of random cases; below 1, also only a sample
// of
//                             the listed cases runs (Sample). The default is 1. dev/test also sets
//                             it if it repeats tests that it has already run in full.
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

// A sanitized program has other threads and memory than a normal one.
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

// Returns count * LANECRYPT_TEST_SCALE, but at least 1.
inline uint64_t scaled(uint64_t count) {
  const char *text = std::getenv("LANECRYPT_TEST_SCALE");
  const double scale = text == nullptr || *text == '\0' ? 1 : std::atof(text);
  if (!(scale > 0))
    throw std::runtime_error(std::string("LANECRYPT_TEST_SCALE is no number above 0: ") + text);
  return std::max<uint64_t>(1, std::llround(double(count) * scale));
}

inline bool is_scaled_down() { return scaled(10) < 10; }

// Chooses which of its listed cases a test runs: all, or an even sample of them if
// LANECRYPT_TEST_SCALE is below 1.
class Sample {
 public:
  // `one_in` is the sampling interval. It must be a prime that divides no inner loop's number of
  // rounds; otherwise some cases would never run.
  explicit Sample(uint64_t one_in) : one_in_(is_scaled_down() ? one_in : 1) {}
  bool takes_next() { return turn_++ % one_in_ == 0; }

 private:
  const uint64_t one_in_;
  uint64_t turn_ = 0;
};
