// SPDX-License-Identifier: Apache-2.0
#include "rsa/rsa_request.h"

#include <algorithm>
#include <cstring>

#include "cpu/rsa/cpu_rsa.h"
#include "cpu/rsa/rsa_image.h"
#include "secure/wiped_bytes.h"

namespace lanecrypt::runtime {

RsaRequest::RsaRequest(RsaJob whole, Callback on_end)
    : BatchRequest(whole.messages.size(), std::move(on_end)), job(std::move(whole)) {
  kinds_.reserve(job.keys.size());
  for (const RsaKeyPointer &key : job.keys) kinds_.push_back(rsa_kind(*key, job.operation));
}

// Computes the result on the CPU, checks it against e, and writes it only if it is right. Returns
// whether it is.
Result<bool> RsaRequest::make_right(const RsaItem &what) {
  const RsaKey &key = *what.key;
  secure::WipedBytes made(key.modulus_bytes);
  LC_TRY(cpu::run_rsa(key, LC_RSA_PRIVATE, what.in, made.data()));
  Result<bool> right = cpu::computes_back(key, made.data(), what.in);
  if (right.ok() && *right) std::memcpy(what.out, made.data(), key.modulus_bytes);
  return right;
}

Status RsaRequest::run_on_cpu(uint32_t message) {
  const RsaItem what = item(message);
  const RsaKey &key = *what.key;
  if (job.operation != LC_RSA_PRIVATE) return cpu::run_rsa(key, job.operation, what.in, what.out);
  if (key.is_at_fault) return cpu::key_at_fault();
  Result<bool> right = make_right(what);
  if (right.ok() && *right) return Status();
  if (!right.ok()) {
    // If p or q is not prime, the key may be impossible to blind. The computation then fails
    // instead of giving a wrong result.
    Result<bool> primes = cpu::has_proven_primes(key);
    if (!primes.ok() || *primes) return right.status();
  }
  key.is_at_fault = true;
  return cpu::key_at_fault();
}

Repaired RsaRequest::repair_on_cpu(uint32_t message) {
  if (job.operation != LC_RSA_PRIVATE) return BatchRequest::repair_on_cpu(message);
  const RsaItem what = item(message);
  const RsaKey &key = *what.key;
  const auto unknown = [](const Status &why) { return Repaired{Repaired::Fault::kUnknown, why}; };
  const auto at_fault = [&] {
    key.is_at_fault = true;
    return Repaired{Repaired::Fault::kKey, cpu::key_at_fault()};
  };
  if (key.is_at_fault) return at_fault();
  // The CPU's result may be right and the device's wrong although the device works, because OpenSSL
  // computes with d. Both agree only if p and q are primes.
  Result<bool> primes = cpu::has_proven_primes(key);
  if (!primes.ok()) return unknown(primes.status());
  if (!*primes) return at_fault();
  Result<bool> right = make_right(what);
  if (!right.ok()) return unknown(right.status());
  return *right ? Repaired() : at_fault();
}

// The functions are the caller's, and may use what it frees after the call. So they are called
// here, and never on a thread of ours. The seeds of keys with different functions are used
// together.
Status RsaRequest::draw() {
  if (std::none_of(job.keys.begin(), job.keys.end(),
                   [](const RsaKeyPointer &key) { return key->random.function != nullptr; }))
    return Status();
  constexpr size_t kSeed = cpu::SeededRandom::kSeedBytes;
  const size_t count = job.messages.size(), blind_bytes = count * sizeof blinds_[0];
  secure::WipedBytes drawn;
  size_t seeds = 0;
  for (auto key = job.keys.begin(); key != job.keys.end(); ++seeds) {
    const RandomSource &source = (*key)->random;
    key = std::find_if(key, job.keys.end(),
                       [&](const RsaKeyPointer &other) { return other->random != source; });
    // If there is but one source, it gives all at once.
    const bool is_only = seeds == 0 && key == job.keys.end();
    const size_t bytes = kSeed + (is_only ? blind_bytes : 0);
    drawn.resize(drawn.size() + bytes);
    uint8_t *const to = &drawn[drawn.size() - bytes];
    LC_TRY(cpu::random_bytes_from(source, to, bytes));
    if (std::all_of(to, to + bytes, [to](uint8_t byte) { return byte == *to; }))
      return Status(LC_ERROR_INTERNAL, "the caller's random generator gives no random numbers");
  }
  blinds_.resize(count);
  auto random = std::make_unique<cpu::SeededRandom>(std::span(drawn).first(seeds * kSeed));
  if (seeds == 1)
    std::memcpy(blinds_.data(), &drawn[kSeed], blind_bytes);
  else
    LC_TRY(random->fill(blinds_.data(), blind_bytes));
  random_ = std::move(random);
  return Status();
}

Status RsaRequest::prepare_for_device() {
  if (job.operation != LC_RSA_PRIVATE) return Status();
  LC_TRY(draw());
  if (job.keys.size() == 1 && kinds_.front() != 0)
    cpu::make_rsa_base_ahead(*job.keys.front(), random_.get());
  return Status();
}

}  // namespace lanecrypt::runtime
