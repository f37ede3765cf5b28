// SPDX-License-Identifier: Apache-2.0
#include "service/daemon/work/library_keys.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "abi/rsa_primes.h"
#include "service/daemon/limits.h"

namespace lanecrypt::service::daemon {
namespace {

bool is_zero(std::span<const uint8_t> number) {
  uint8_t all = 0;
  for (const uint8_t byte : number) all |= byte;
  return all == 0;
}

bool suits_devices(const KeyParts &rsa) {
  return bits_of(rsa[kN]) >= kLeastModulusBits && bits_of(rsa[kP]) <= kMostPrimeBits &&
         bits_of(rsa[kQ]) <= kMostPrimeBits && bits_of(rsa[kE]) <= kMostExponentBits;
}

}  // namespace

uint32_t bits_of(std::span<const uint8_t> number) {
  size_t zeros = 0;
  while (zeros < number.size() && number[zeros] == 0) ++zeros;
  if (zeros == number.size()) return 0;
  return uint32_t(8 * (number.size() - zeros - 1) + size_t(std::bit_width(number[zeros])));
}

LibraryKey::LibraryKey(lc_context *context, const OperationKind &operation_kind,
                       const KeyParts &brought)
    : parts_(brought) {
  if (operation_kind.family == Family::kMlDsa)
    take_ml_dsa(operation_kind.size, brought);
  else if (operation_kind.family == Family::kSlhDsa)
    take_slh_dsa(context, operation_kind.size, brought);
  else
    take_rsa(brought);
}

LibraryKey::~LibraryKey() {
  lc_rsa_key_free(rsa_);
  lc_ml_dsa_key_free(ml_dsa_);
  lc_slh_dsa_key_free(slh_dsa_);
}

// Makes an RSA key in the library, if devices take it and its primes pass the test.
void LibraryKey::take_rsa(const KeyParts &brought) {
  // The library treats a number of zeros as absent, and a key without private numbers as a public
  // key.
  if (std::any_of(brought.begin(), brought.begin() + kD, is_zero)) return;
  if (!suits_devices(brought)) return;
  lc_rsa_parts parts{};
  parts.struct_size = sizeof parts;
  const auto number_of = [&](KeyPart n) { return lc_number{brought[n].data(), brought[n].size()}; };
  parts.n = number_of(kN);
  parts.e = number_of(kE);
  parts.p = number_of(kP);
  parts.q = number_of(kQ);
  parts.dp = number_of(kDp);
  parts.dq = number_of(kDq);
  parts.qinv = number_of(kQinv);
  if (lc_rsa_key_new(&parts, &rsa_) != LC_OK) return;
  // With leading zeros in the modulus, the library's inputs would be shorter than the client's.
  if (lc_rsa_key_bytes(rsa_) == brought[kN].size()) {
    // If p or q is not prime, each result is wrong, and the CPU would compute it again. The test is
    // probabilistic: a key that passes it wrongly is found by its first wrong result.
    const int has_primes = lc_rsa_key_has_primes(rsa_);
    if (has_primes == 1) return;
    if (has_primes < 0) {
      lc_rsa_key_free(rsa_);
      throw std::bad_alloc();
    }
  }
  lc_rsa_key_free(rsa_);
  rsa_ = nullptr;
}

void LibraryKey::take_ml_dsa(uint32_t set, const KeyParts &brought) {
  lc_ml_dsa_parts parts{};
  parts.struct_size = sizeof parts;
  parts.set = lc_ml_dsa_set(set);
  parts.private_key = brought[kWholeKey].data();
  // The library computes the public key.
  (void)lc_ml_dsa_key_new(&parts, &ml_dsa_);
}

// Has a device compute the root from the seeds again. With a wrong root no signature would verify;
// the library would blame the device, and make each signature again on the CPU.
void LibraryKey::take_slh_dsa(lc_context *context, uint32_t set, const KeyParts &brought) {
  const std::span<const uint8_t> parts = brought[kWholeKey];
  const size_t n = parts.size() / 3;
  secure::KeyMemory seeds(3 * n), made(4 * n);
  if (!seeds.ok(3 * n) || !made.ok(4 * n)) throw std::bad_alloc();
  // SK.prf stays with the client, which has computed R already. It is zero here.
  std::memset(seeds.data(), 0, 3 * n);
  std::copy_n(parts.data(), n, seeds.data());
  std::copy_n(parts.data() + n, n, seeds.data() + 2 * n);
  lc_slh_dsa_generation generation{};
  generation.struct_size = sizeof generation;
  generation.set = lc_slh_dsa_set(set);
  generation.device = LC_ANY_DEVICE;
  generation.count = 1;
  generation.seeds = seeds.data();
  generation.keys = made.data();
  if (lc_slh_dsa_generate(context, &generation, nullptr) != LC_OK) throw NotChecked();
  // The root is public, so this need not be constant-time.
  if (!std::equal(parts.end() - std::ptrdiff_t(n), parts.end(), made.data() + 3 * n)) return;
  lc_slh_dsa_parts key{};
  key.struct_size = sizeof key;
  key.set = generation.set;
  key.private_key = made.data();
  key.private_key_bytes = 4 * n;
  (void)lc_slh_dsa_key_new(&key, &slh_dsa_);
}

LibraryKeys::PublicPart LibraryKeys::public_part_of(const OperationKind &operation_kind,
                                                    const KeyParts &parts) {
  std::span<const uint8_t> part = parts[kN];
  // tr, the hash of the public key, follows rho and K in an ML-DSA private key (FIPS 204, Algorithm
  // 24, skEncode).
  constexpr size_t kBefore = 64, kHashBytes = 64;
  if (operation_kind.family == Family::kMlDsa) part = parts[kWholeKey].subspan(kBefore, kHashBytes);
  // An SLH-DSA private key ends with PK.seed and PK.root.
  if (operation_kind.family == Family::kSlhDsa)
    part = parts[kWholeKey].last(parts[kWholeKey].size() / 3 * 2);
  PublicPart name(part.begin(), part.end());
  // Keys of several SLH-DSA sets have the same length, so the set is a part of the name.
  name.push_back(uint8_t(operation_kind.family));
  if (operation_kind.family != Family::kRsa) name.push_back(uint8_t(operation_kind.size));
  return name;
}

LibraryKeyPointer LibraryKeys::get(const OperationKind &operation_kind, const KeyParts &parts) {
  const PublicPart name = public_part_of(operation_kind, parts);
  if (LibraryKeyPointer found = find(name, parts)) return found;
  lc_context *const context = context_;
  if (operation_kind.family == Family::kSlhDsa && (context == nullptr || !may_ask_()))
    throw NotChecked();
  std::unique_ptr<const LibraryKey> made =
      std::make_unique<LibraryKey>(context, operation_kind, parts);
  if (!made->is_good()) return nullptr;
  const LibraryKeyPointer key(made.release(), [this, name](const LibraryKey *gone) {
    delete gone;
    forget(name);
  });
  // Another thread may have made the same key meanwhile. Two copies do no harm.
  const std::lock_guard lock(mutex_);
  by_public_part_[name] = key;
  return key;
}

// Returns the shared key with this public part, if its private numbers are the same too.
LibraryKeyPointer LibraryKeys::find(const PublicPart &name, const KeyParts &parts) {
  LibraryKeyPointer key;
  {
    const std::lock_guard lock(mutex_);
    const auto at = by_public_part_.find(name);
    if (at != by_public_part_.end()) key = at->second.lock();
  }
  // Outside the lock: if `key` is the last reference, the key is destroyed here, which takes the
  // lock.
  return key != nullptr && key->is(parts) ? key : nullptr;
}

// Removes the entry of a destroyed key, unless a newer key has replaced it.
void LibraryKeys::forget(const PublicPart &name) {
  const std::lock_guard lock(mutex_);
  const auto at = by_public_part_.find(name);
  if (at != by_public_part_.end() && at->second.expired()) by_public_part_.erase(at);
}

}  // namespace lanecrypt::service::daemon
