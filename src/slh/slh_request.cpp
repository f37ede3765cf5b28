// SPDX-License-Identifier: Apache-2.0
#include "slh/slh_request.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "cpu/random.h"
#include "cpu/slh/slh_message.h"
#include "job/round_up.h"

namespace lanecrypt::runtime {

BatchKind slh_kind(lc_slh_dsa_operation operation, const SlhSet &set) {
  return {operation, uint32_t(set.number) + 1};
}

const SlhSet &slh_set_of(BatchKind kind) { return *find_slh_set(kind.size - 1); }

SlhSignatures::SlhSignatures(SlhJob whole, Callback on_end)
    : SlhRequest(whole.messages.size(), whole.device, std::move(on_end)),
      job_(std::move(whole)),
      hashed_(job_.messages.size()) {
  // A signature of a wrong length is invalid, and its verdict is already set.
  std::erase_if(todo, [this](uint32_t n) { return !job_.messages[n].has_right_length; });
}

// Draws opt_rand of hedged signatures. It is stored where R will be.
Status SlhSignatures::draw() {
  if (job_.operation != LC_SLH_DSA_SIGN || job_.is_deterministic ||
      job_.encoding == LC_MESSAGE_DIGEST)
    return Status();
  const size_t count = hashed_.size(), most = count * sizeof hashed_[0].r;
  secure::KeyMemory drawn(most);
  if (!drawn.ok(most)) return Status(LC_ERROR_MEMORY, "no memory for random numbers");
  // Consecutive keys with the same random source share a call.
  for (size_t first = 0, end; first < count; first = end) {
    const RandomSource &source = key_of(uint32_t(first)).random;
    size_t bytes = 0;
    for (end = first; end < count && key_of(uint32_t(end)).random == source; ++end)
      bytes += key_of(uint32_t(end)).set.n;
    LC_TRY(cpu::random_bytes_from(source, drawn.data(), bytes));
    const uint8_t *from = drawn.data();
    for (size_t n = first; n < end; ++n) {
      std::memcpy(hashed_[n].r, from, key_of(uint32_t(n)).set.n);
      from += key_of(uint32_t(n)).set.n;
    }
  }
  return Status();
}

Status SlhSignatures::hash_one(uint32_t number) {
  const SlhMessage &message = job_.messages[number];
  cpu::SlhHashed &hashed = hashed_[number];
  if (job_.operation == LC_SLH_DSA_VERIFY)
    return message.has_right_length ? cpu::hash_to_verify(job_, message, hashed) : Status();
  const size_t n = key_of(number).set.n;
  if (job_.encoding == LC_MESSAGE_DIGEST) {
    std::copy_n(message.message.data(), n, hashed.r);
    std::copy(message.message.begin() + std::ptrdiff_t(n), message.message.end(), hashed.digest);
    return Status();
  }
  uint8_t opt_rand[32];
  const bool is_given = message.additional_random != nullptr;
  std::memcpy(opt_rand, is_given ? message.additional_random : hashed.r, n);
  const Status status =
      cpu::hash_to_sign(job_, message,
                        is_given || !job_.is_deterministic ? std::span<const uint8_t>(opt_rand, n)
                                                           : std::span<const uint8_t>(),
                        hashed);
  secure::wipe(opt_rand, sizeof opt_rand);
  return status;
}

Status SlhSignatures::hash(const RunParts &run_parts) {
  // Hashing this many messages takes about as long as waking a thread.
  constexpr size_t kPart = 32;
  LC_TRY(draw());
  const size_t count = hashed_.size(), parts = divide_up(count, kPart);
  std::vector<Status> ended(parts);
  const auto run = [&](size_t part) {
    ended[part] = guarded([&] {
      Status status;
      for (size_t n = part * kPart; status.ok() && n < std::min(count, (part + 1) * kPart); ++n)
        status = hash_one(uint32_t(n));
      return status;
    });
  };
  if (parts > 1)
    run_parts(parts, run);
  else if (parts == 1)
    run(0);
  for (const Status &status : ended) LC_TRY(status);
  return Status();
}

Status SlhSignatures::run_on_cpu(uint32_t number) {
  if (job_.operation == LC_SLH_DSA_SIGN) {
    const Status made = cpu::slh_sign(key_of(number), hashed_[number], signature(number));
    if (made.code() == LC_ERROR_DEVICE) {
      // With this count the job reports that the error it ends with is not a device's failure.
      const std::lock_guard lock(mutex);
      ++result.failed_checks;
    }
    return made;
  }
  bool valid = false;
  LC_TRY(cpu::slh_verify(key_of(number), hashed_[number], signature(number), valid));
  set_verdict(number, valid);
  return Status();
}

void SlhSignatures::withdraw_results() {
  if (job_.verdicts != nullptr) std::fill_n(job_.verdicts, job_.messages.size(), uint8_t{0});
}

Status SlhKeys::take_seeds() {
  const size_t bytes = what_.count * what_.set->seed_bytes();
  seeds_ = secure::KeyMemory(bytes);
  if (!seeds_.ok(bytes)) return Status(LC_ERROR_MEMORY, "no memory for the seeds of the keys");
  if (what_.seeds == nullptr) return cpu::random_bytes_from(what_.random, seeds_.data(), bytes);
  std::memcpy(seeds_.data(), what_.seeds, bytes);
  return Status();
}

void SlhKeys::put_item(uint32_t number, SlhItem &item) const {
  const size_t n = what_.set->n;
  const std::span<const uint8_t> from = seeds(number);
  item = {};
  cpu::slh_put_key(*what_.set,
                   {.sk_seed = from.first(n), .sk_prf = {}, .pk_seed = from.last(n), .pk_root = {}},
                   item);
}

}  // namespace lanecrypt::runtime
