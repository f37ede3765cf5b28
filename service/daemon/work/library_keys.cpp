// SPDX-License-Identifier: Apache-2.0
#include "service/daemon/work/library_keys.h"

#include <algorithm>

namespace lanecrypt::service::daemon {
namespace {

bool is_zero(std::span<const uint8_t> number) {
  uint8_t all = 0;
  for (const uint8_t byte : number) all |= byte;
  return all == 0;
}

}  // namespace

LibraryKey::LibraryKey(const KeyParts &brought) : parts_(brought) {
  // The library takes a number of zeros for one that is left out, and a key without private
  // numbers for a public one.
  if (std::any_of(brought.begin(), brought.begin() + kD, is_zero)) return;
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
  if (lc_rsa_key_new(&parts, &key_) != LC_OK) return;
  // With zeros before the modulus the library's inputs would be shorter than the client's.
  if (lc_rsa_key_bytes(key_) == brought[kN].size()) return;
  lc_rsa_key_free(key_);
  key_ = nullptr;
}

LibraryKeyPointer LibraryKeys::get(const KeyParts &parts) {
  const Modulus modulus(parts[kN].begin(), parts[kN].end());
  if (LibraryKeyPointer found = find(modulus, parts)) return found;
  std::unique_ptr<const LibraryKey> made = std::make_unique<LibraryKey>(parts);
  if (!made->is_good()) return nullptr;
  const LibraryKeyPointer key(made.release(), [this, modulus](const LibraryKey *gone) {
    delete gone;
    forget(modulus);
  });
  // Another thread may have made the same meanwhile. Then there are two, which does no harm.
  const std::lock_guard lock(mutex_);
  by_modulus_[modulus] = key;
  return key;
}

LibraryKeyPointer LibraryKeys::find(const Modulus &modulus, const KeyParts &parts) {
  LibraryKeyPointer key;
  {
    const std::lock_guard lock(mutex_);
    const auto at = by_modulus_.find(modulus);
    if (at != by_modulus_.end()) key = at->second.lock();
  }
  // Without the lock: if this was the last owner, the key goes here.
  return key != nullptr && key->is(parts) ? key : nullptr;
}

void LibraryKeys::forget(const Modulus &modulus) {
  const std::lock_guard lock(mutex_);
  const auto at = by_modulus_.find(modulus);
  if (at != by_modulus_.end() && at->second.expired()) by_modulus_.erase(at);
}

}  // namespace lanecrypt::service::daemon
