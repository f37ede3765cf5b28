// SPDX-License-Identifier: Apache-2.0
#include "service/daemon/client/key.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "service/daemon/client/session.h"
#include "service/daemon/report/counters.h"

namespace lanecrypt::service::daemon {
namespace {

uint32_t bits_of(std::span<const uint8_t> number) {
  size_t zeros = 0;
  while (zeros < number.size() && number[zeros] == 0) ++zeros;
  if (zeros == number.size()) return 0;
  return uint32_t(8 * (number.size() - zeros - 1) + size_t(std::bit_width(number[zeros])));
}

bool is_zero(std::span<const uint8_t> number) {
  uint8_t all = 0;
  for (const uint8_t byte : number) all |= byte;
  return all == 0;
}

}  // namespace

Key::Key(std::shared_ptr<Session> its_session, uint64_t its_number, const KeyParts &parts,
         Seat of_user, Counters &counters)
    : session(std::move(its_session)),
      number(its_number),
      of_user_(std::move(of_user)),
      counters_(counters) {
  size_t bytes = 0;
  for (size_t n = 0; n < kKeyParts; ++n) {
    part_bytes_[n] = uint16_t(parts[n].size());
    bytes += parts[n].size();
  }
  parts_ = secure::KeyMemory(bytes);
  if (!parts_.ok(bytes)) throw std::bad_alloc();
  uint8_t *at = parts_.data();
  for (const std::span<const uint8_t> &from : parts) at = std::copy(from.begin(), from.end(), at);
  modulus_bits_ = bits_of(part(kN));
  counters_.keys.fetch_add(1, std::memory_order_relaxed);
}

Key::~Key() {
  lc_rsa_key_free(checked_);
  counters_.keys.fetch_sub(1, std::memory_order_relaxed);
}

std::span<const uint8_t> Key::part(size_t n) const {
  size_t at = 0;
  for (size_t before = 0; before < n; ++before) at += part_bytes_[before];
  return {parts_.data() + at, part_bytes_[n]};
}

bool Key::has(const KeyParts &parts) const {
  uint8_t difference = 0;
  const uint8_t *at = parts_.data();
  for (size_t n = 0; n < kKeyParts; ++n) {
    if (parts[n].size() != part_bytes_[n]) return false;
    for (const uint8_t byte : parts[n]) difference = uint8_t(difference | (byte ^ *at++));
  }
  return difference == 0;
}

bool Key::check() {
  lc_rsa_parts parts{};
  parts.struct_size = sizeof parts;
  const auto number_of = [this](size_t n) { return lc_number{part(n).data(), part(n).size()}; };
  parts.n = number_of(kN);
  parts.e = number_of(kE);
  parts.p = number_of(kP);
  parts.q = number_of(kQ);
  parts.dp = number_of(kDp);
  parts.dq = number_of(kDq);
  parts.qinv = number_of(kQinv);
  // The library takes a number of zeros for one that is left out, and a key without private
  // numbers for a public one.
  for (size_t n = 0; n < kD; ++n)
    if (is_zero(part(n))) return false;
  if (lc_rsa_key_new(&parts, &checked_) != LC_OK) return false;
  // With zeros before the modulus the library's inputs would be shorter than the client's.
  return lc_rsa_key_bytes(checked_) == modulus_bytes();
}

}  // namespace lanecrypt::service::daemon
