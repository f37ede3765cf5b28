// SPDX-License-Identifier: Apache-2.0
#include "service/daemon/work/stored_parts.h"

#include <algorithm>
#include <new>

namespace lanecrypt::service::daemon {

StoredParts::StoredParts(const KeyParts &parts) {
  size_t bytes = 0;
  for (size_t n = 0; n < kKeyParts; ++n) {
    bytes_[n] = uint16_t(parts[n].size());
    bytes += parts[n].size();
  }
  memory_ = secure::KeyMemory(bytes);
  if (!memory_.ok(bytes)) throw std::bad_alloc();
  uint8_t *at = memory_.data();
  for (const std::span<const uint8_t> &from : parts) at = std::copy(from.begin(), from.end(), at);
}

KeyParts StoredParts::parts() const {
  KeyParts parts;
  const uint8_t *at = memory_.data();
  for (size_t n = 0; n < kKeyParts; at += bytes_[n++]) parts[n] = {at, bytes_[n]};
  return parts;
}

bool StoredParts::are(const KeyParts &others) const {
  uint8_t difference = 0;
  const uint8_t *at = memory_.data();
  for (size_t n = 0; n < kKeyParts; ++n) {
    if (others[n].size() != bytes_[n]) return false;
    for (const uint8_t byte : others[n]) difference = uint8_t(difference | (byte ^ *at++));
  }
  return difference == 0;
}

}  // namespace lanecrypt::service::daemon
