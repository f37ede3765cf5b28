// SPDX-License-Identifier: Apache-2.0
#include "cpu/rsa/prime_candidates.h"

#include <algorithm>
#include <cstring>

#include "secure/key_memory.h"

namespace lanecrypt::cpu {
namespace {

// The number of small primes to divide by. If e is short, e is one of them.
constexpr size_t kSmallPrimes = 1024;
static_assert(kSmallPrimes % PRIME_SIEVE_BLOCK == 0);
// With this limit the sums of the parts of remainders fit into 64 bits.
constexpr uint64_t kMostDivisor = 1 << 17;

// The top 64 bits of sqrt(2) 2^(bits-1), plus 1. A number with at least this top is at least that
// large. (A fraction of 2^-64 of the suitable numbers is excluded too.)
constexpr uint64_t kLeastTop = 0xb504f333f9de6485;

// Returns the first `count` odd primes.
std::vector<uint32_t> small_primes(size_t count) {
  constexpr uint32_t kMost = 8192;  // there are 1027 odd primes below
  std::vector<bool> is_composite(kMost);
  std::vector<uint32_t> primes;
  for (uint32_t n = 3; n < kMost && primes.size() < count; n += 2) {
    if (is_composite[n]) continue;
    primes.push_back(n);
    for (uint32_t multiple = n * n; multiple < kMost; multiple += 2 * n)
      is_composite[multiple] = true;
  }
  return primes;
}

uint64_t remainder_of(std::span<const uint8_t> number, uint64_t divisor) {
  uint64_t rest = 0;
  for (const uint8_t byte : number) rest = (rest << 8 | byte) % divisor;
  return rest;
}

// Returns the number if it is at most `most`, and otherwise 0.
uint64_t short_number(std::span<const uint8_t> number, uint64_t most) {
  uint64_t value = 0;
  for (const uint8_t byte : number) {
    value = value << 8 | byte;
    if (value > most) return 0;
  }
  return value;
}

// Returns whether a < b, both of `bytes` bytes. The time does not depend on the numbers.
bool is_less(const uint8_t *a, const uint8_t *b, size_t bytes) {
  unsigned borrow = 0;
  for (size_t n = bytes; n-- > 0;) borrow = (unsigned{a[n]} - b[n] - borrow) >> 31;
  return borrow != 0;
}

// Returns whether FIPS 186-5, Appendix B.3.1, step 4.2 excludes a base: 0, 1, or not below
// candidate - 1, which is even.
bool is_no_base(const uint8_t *base, const uint8_t *candidate, size_t bytes) {
  if (!is_less(base, candidate, bytes)) return true;
  uint8_t high = 0, difference = 0;
  for (size_t n = 0; n + 1 < bytes; ++n) {
    high |= base[n];
    difference |= base[n] ^ candidate[n];
  }
  difference |= uint8_t(base[bytes - 1] ^ (candidate[bytes - 1] & 0xfe));
  return difference == 0 || (high == 0 && base[bytes - 1] <= 1);
}

// The most draws of a base. Random bases are all rejected with a probability of at most 2^-256,
// except for tiny candidates.
constexpr int kMostDraws = 256;

Status not_random() {
  return Status(LC_ERROR_INTERNAL, "the caller's random generator gives no random numbers");
}

// Clears the bits of a number of `stride_bytes` bytes from bit `bits` up.
void cut(uint8_t *number, uint32_t bits, uint32_t stride_bytes) {
  const uint32_t empty = 8 * stride_bytes - bits;
  memset(number, 0, empty / 8);
  if (empty % 8 != 0) number[empty / 8] &= uint8_t(0xff >> (empty % 8));
}

}  // namespace

SieveTable make_sieve_table(uint32_t stride_bytes, std::span<const uint8_t> exponent) {
  SieveTable table;
  table.stride_bytes = stride_bytes;
  table.blocks = kSmallPrimes / PRIME_SIEVE_BLOCK;
  for (const uint32_t prime : small_primes(kSmallPrimes))
    table.primes.push_back({prime, remainder_of(exponent, prime) == 0 ? 1u : 0u});
  // e itself replaces the largest prime: no candidate may be 1 modulo e.
  if (const uint64_t e = short_number(exponent, kMostDivisor); e > table.primes.back().prime)
    table.primes.back() = {uint32_t(e), 1};
  for (const SmallPrime &small : table.primes)
    table.survivors *= 1 - (small.of_exponent ? 2.0 : 1.0) / (small.prime - small.of_exponent);

  const uint32_t words = stride_bytes / 4;
  table.powers.resize(size_t{kSmallPrimes} * words);
  for (size_t n = 0; n < kSmallPrimes; ++n) {
    const uint64_t prime = table.primes[n].prime;
    uint64_t power = 1;
    for (uint32_t w = 0; w < words; ++w) {
      table
          .powers[(n / PRIME_SIEVE_BLOCK * words + w) * PRIME_SIEVE_BLOCK + n % PRIME_SIEVE_BLOCK] =
          uint32_t(power);
      power = (power << 32) % prime;
    }
  }
  return table;
}

bool survives(const SieveTable &table, const uint8_t *candidate) {
  const uint32_t words = table.stride_bytes / 4;
  for (uint32_t block = 0; block < table.blocks; ++block) {
    const uint32_t *row = table.powers.data() + size_t{block} * words * PRIME_SIEVE_BLOCK;
    uint64_t sum[PRIME_SIEVE_BLOCK] = {};
    for (uint32_t w = 0; w < words; ++w) {
      uint32_t word;
      memcpy(&word, candidate + size_t{4} * (words - 1 - w), sizeof word);
      const uint64_t value = __builtin_bswap32(word);
      for (uint32_t k = 0; k < PRIME_SIEVE_BLOCK; ++k)
        sum[k] += value * row[w * PRIME_SIEVE_BLOCK + k];
    }
    bool lives = true;
    for (uint32_t k = 0; k < PRIME_SIEVE_BLOCK; ++k) {
      const SmallPrime &small = table.primes[block * PRIME_SIEVE_BLOCK + k];
      const uint64_t rest = sum[k] % small.prime;
      lives &= rest != 0 && (rest != 1 || small.of_exponent == 0);
    }
    if (!lives) return false;
  }
  return true;
}

Status draw_candidates(const RandomBytes &random, uint32_t bits, std::span<uint8_t> to) {
  const uint32_t stride = prime_stride_bytes(bits);
  LC_TRY(random(to.data(), to.size()));
  // The upper 64 bits are drawn again until they are large enough. They are drawn separately, so
  // that the rest need not be discarded with them.
  uint64_t tops[512];
  size_t next = std::size(tops), blocks_since = 0;
  Status status;
  for (size_t at = 0; at < to.size() && status.ok(); at += stride) {
    uint64_t top = 0;
    while (top < kLeastTop) {
      if (next == std::size(tops)) {
        // About one in four random numbers is large enough.
        status = ++blocks_since > 2 ? not_random() : random(tops, sizeof tops);
        if (!status.ok()) break;
        next = 0;
      }
      top = tops[next++];
    }
    blocks_since = 0;
    uint8_t *number = to.data() + at;
    cut(number, bits - 64, stride);
    const uint32_t shift = (8 * stride - bits) % 8;
    uint8_t *byte = number + (8 * stride - bits) / 8;
    for (uint32_t n = 0; n < 8; ++n) byte[n] |= uint8_t(top >> (56 - 8 * n) >> shift);
    if (shift != 0) byte[8] |= uint8_t(top << (8 - shift));
    // FIPS 186-5, Appendix A.1.3, step 4.3: 1 is added to an even number.
    number[stride - 1] |= 1;
  }
  secure::wipe(tops, sizeof tops);
  return status;
}

Status draw_bases(const RandomBytes &random, uint32_t bits, std::span<const uint8_t> candidates,
                  std::span<const uint32_t> trials, std::span<uint8_t> to) {
  const uint32_t stride = prime_stride_bytes(bits);
  LC_TRY(random(to.data(), trials.size() * stride));
  for (size_t n = 0; n < trials.size(); ++n) {
    uint8_t *base = to.data() + n * stride;
    cut(base, bits, stride);
    const uint8_t *const candidate = candidates.data() + size_t{trials[n]} * stride;
    for (int draws = 1; is_no_base(base, candidate, stride); ++draws) {
      if (draws == kMostDraws) return not_random();
      LC_TRY(random(base, stride));
      cut(base, bits, stride);
    }
  }
  return Status();
}

}  // namespace lanecrypt::cpu
