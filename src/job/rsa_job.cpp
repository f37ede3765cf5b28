// SPDX-License-Identifier: Apache-2.0
#include "job/rsa_job.h"

#include <bit>
#include <cstring>
#include <string>
#include <unordered_map>

#include "job/enum_number.h"
#include "job/overlap.h"
#include "job/read_struct.h"

namespace lanecrypt {
namespace {

constexpr uint32_t kLeastBits = 512, kMostBits = 16384;

std::span<const uint8_t> without_zeros(const lc_number &number) {
  std::span<const uint8_t> bytes(static_cast<const uint8_t *>(number.bytes), number.length);
  while (!bytes.empty() && bytes.front() == 0) bytes = bytes.subspan(1);
  return bytes;
}

// Returns whether input < modulus, both of `bytes` bytes. The first word decides, except for one
// input in 2^64; that it did is no secret.
bool is_less(const uint8_t *input, std::span<const uint8_t> modulus) {
  uint64_t a, b;
  std::memcpy(&a, input, sizeof a);
  std::memcpy(&b, modulus.data(), sizeof b);
  a = __builtin_bswap64(a);
  b = __builtin_bswap64(b);
  if (a != b) return a < b;
  unsigned borrow = 0;
  for (size_t n = modulus.size(); n-- > 0;)
    borrow = (static_cast<unsigned>(input[n]) - modulus[n] - borrow) >> 31;
  return borrow != 0;
}

// Checks that outputs overlap no other message: outputs are written while other inputs are read.
Status check_overlaps(const RsaJob &job) {
  const auto bytes = [&](size_t n) { return job.keys[job.messages[n].key]->modulus_bytes; };
  Overlaps overlaps;
  overlaps.writes("output", job.messages.size(),
                  [&](size_t n) { return MemoryRange(job.messages[n].out, bytes(n)); });
  overlaps.reads("input", job.messages.size(), [&](size_t n) {
    const RsaMessage &message = job.messages[n];
    return message.in == message.out ? MemoryRange() : MemoryRange(message.in, bytes(n));
  });
  return overlaps.check();
}

}  // namespace

uint32_t bits_of(std::span<const uint8_t> number) {
  if (number.empty()) return 0;
  return static_cast<uint32_t>(8 * (number.size() - 1)) + std::bit_width(number.front());
}

Result<std::shared_ptr<RsaKey>> copy_rsa_key(const lc_rsa_parts *parts) {
  if (parts == nullptr) return wrong_argument("no parts of a key were given");
  if (parts->struct_size < sizeof(lc_rsa_parts))
    return wrong_argument("lc_rsa_parts.struct_size is too small");
  const struct {
    const lc_number &from;
    std::span<const uint8_t> RsaNumbers::*to;
  } fields[] = {{parts->n, &RsaNumbers::n},       {parts->e, &RsaNumbers::e},
                {parts->p, &RsaNumbers::p},       {parts->q, &RsaNumbers::q},
                {parts->dp, &RsaNumbers::dp},     {parts->dq, &RsaNumbers::dq},
                {parts->qinv, &RsaNumbers::qinv}, {parts->d, &RsaNumbers::d}};
  RsaNumbers given;
  size_t bytes = 0;
  for (const auto &field : fields) {
    if (field.from.length != 0 && field.from.bytes == nullptr)
      return wrong_argument("a number of the key has a length and no bytes");
    given.*field.to = without_zeros(field.from);
    // No number of a key is longer than the longest modulus.
    if ((given.*field.to).size() > kMostBits / 8)
      return wrong_argument("a number of the key is too long");
    bytes += (given.*field.to).size();
  }

  auto key = std::make_shared<RsaKey>();
  key->random = {parts->random, parts->argument};
  key->modulus_bits = bits_of(given.n);
  key->modulus_bytes = static_cast<uint32_t>(given.n.size());
  if (key->modulus_bits < kLeastBits || key->modulus_bits > kMostBits)
    return wrong_argument("an RSA modulus has 512 to 16384 bits, not " +
                          std::to_string(key->modulus_bits));
  if (given.n.back() % 2 == 0) return wrong_argument("the RSA modulus is even");
  if (given.e.empty() || given.e.back() % 2 == 0 || bits_of(given.e) < 2)
    return wrong_argument("the public exponent is not an odd number from 3 up");
  if (given.e.size() > given.n.size())
    return wrong_argument("the public exponent exceeds the modulus");
  const auto private_parts = {&RsaNumbers::p, &RsaNumbers::q, &RsaNumbers::dp, &RsaNumbers::dq,
                              &RsaNumbers::qinv};
  size_t there = 0;
  for (const auto part : private_parts) there += (given.*part).empty() ? 0 : 1;
  if (there != 0 && there != private_parts.size())
    return wrong_argument("a private key needs all of p, q, dp, dq and qinv");
  if (there == 0 && !given.d.empty())
    return wrong_argument("a private key without its primes is not supported");
  key->is_private = there != 0;
  if (given.e.size() <= sizeof key->exponent)
    for (const uint8_t byte : given.e) key->exponent = key->exponent << 8 | byte;

  key->memory = secure::KeyMemory(bytes, secure::KeyMemory::Fork::kKept);
  if (!key->memory.ok(bytes)) return Status(LC_ERROR_MEMORY, "no memory for the key");
  uint8_t *at = key->memory.data();
  for (const auto &field : fields) {
    const std::span<const uint8_t> from = given.*field.to;
    if (!from.empty()) std::memcpy(at, from.data(), from.size());
    key->numbers.*field.to = {at, from.size()};
    at += from.size();
  }
  return key;
}

Result<RsaJob> make_rsa_job(const lc_rsa_job *job, RsaKeyOf key_of) {
  if (job == nullptr) return wrong_argument("no job was given");
  if (!has_known_size(*job)) return wrong_argument("lc_rsa_job.struct_size is too small");
  const uint32_t operation = enum_number(job->operation);
  if (operation != LC_RSA_PUBLIC && operation != LC_RSA_PRIVATE)
    return wrong_argument("unknown RSA operation " + std::to_string(operation));
  if (job->message_count != 0 && job->messages == nullptr)
    return wrong_argument("no messages were given");
  if (job->message_count != 0 && job->message_size < sizeof(lc_rsa_message))
    return wrong_argument("lc_rsa_job.message_size is too small");
  if (job->message_count > UINT32_MAX) return wrong_argument("more than 2^32 - 1 messages");

  RsaJob result;
  result.operation = job->operation;
  result.device = device_of(*job);
  result.messages.reserve(job->message_count);
  std::unordered_map<const lc_rsa_key *, uint32_t> numbers;
  const lc_rsa_key *last = nullptr;
  uint32_t number = 0;
  for (size_t n = 0; n < job->message_count; ++n) {
    lc_rsa_message message;
    std::memcpy(&message, reinterpret_cast<const char *>(job->messages) + n * job->message_size,
                sizeof message);
    // If there are many messages, their inputs are not in the cache, so one is prefetched while
    // others are checked.
    if (constexpr size_t kAhead = 16; n + kAhead < job->message_count) {
      lc_rsa_message later;
      std::memcpy(&later,
                  reinterpret_cast<const char *>(job->messages) + (n + kAhead) * job->message_size,
                  sizeof later);
      __builtin_prefetch(later.in);
    }
    const auto here = [n](const char *what) {
      return wrong_argument("message " + std::to_string(n) + ": " + what);
    };
    if (message.key == nullptr) return here("no key");
    if (message.in == nullptr || message.out == nullptr) return here("no input or output");
    if (message.key != last) {
      const auto [at, is_new] =
          numbers.try_emplace(message.key, static_cast<uint32_t>(result.keys.size()));
      if (is_new) {
        result.keys.push_back(key_of(message.key));
        if (operation == LC_RSA_PRIVATE && !result.keys.back()->is_private)
          return here("its key is public, and the operation is private");
      }
      last = message.key;
      number = at->second;
    }
    const RsaKey &key = *result.keys[number];
    const uint8_t *in = static_cast<const uint8_t *>(message.in);
    uint8_t *out = static_cast<uint8_t *>(message.out);
    if (in != out && in < out + key.modulus_bytes && out < in + key.modulus_bytes)
      return here("input and output overlap in part");
    if (!is_less(in, key.numbers.n)) return here("its input is not less than the modulus");
    result.messages.push_back({number, in, out});
  }
  LC_TRY(check_overlaps(result));
  return result;
}

}  // namespace lanecrypt
