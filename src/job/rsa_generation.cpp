// SPDX-License-Identifier: Apache-2.0
#include "job/rsa_generation.h"

#include <string>

#include "job/read_struct.h"
#include "job/rsa_job.h"

namespace lanecrypt {
namespace {

constexpr uint32_t kLeastNewBits = 1024, kMostNewBits = 16384, kMostExponentBits = 256;

}  // namespace

Result<RsaGeneration> make_rsa_generation(const lc_rsa_generation *generation) {
  if (generation == nullptr) return wrong_argument("nothing was asked for");
  if (!has_known_size(*generation))
    return wrong_argument("lc_rsa_generation.struct_size is too small");
  if (generation->bits < kLeastNewBits || generation->bits > kMostNewBits ||
      generation->bits % 2 != 0)
    return wrong_argument("keys are made of an even number of bits from 1024 to 16384, not of " +
                          std::to_string(generation->bits));
  if (generation->on_key == nullptr)
    return wrong_argument("nobody takes the keys: on_key is missing");
  RsaGeneration result;
  result.bits = generation->bits;
  result.count = generation->count;
  result.device = device_of(*generation);
  result.on_key = generation->on_key;
  result.on_progress = generation->on_progress;
  result.random = generation->random;
  result.argument = generation->argument;
  const lc_number &e = generation->exponent;
  if (e.length == 0) {
    result.exponent = {1, 0, 1};
    return result;
  }
  if (e.bytes == nullptr) return wrong_argument("the public exponent has a length and no bytes");
  const auto *bytes = static_cast<const uint8_t *>(e.bytes);
  size_t first = 0;
  while (first < e.length && bytes[first] == 0) ++first;
  result.exponent.assign(bytes + first, bytes + e.length);
  // FIPS 186-5, Appendix A.1.1.
  if (bits_of(result.exponent) <= 16 || bits_of(result.exponent) > kMostExponentBits ||
      result.exponent.back() % 2 == 0)
    return wrong_argument("the public exponent is not an odd number from 65537 to 2^256 - 1");
  return result;
}

}  // namespace lanecrypt
