// SPDX-License-Identifier: Apache-2.0
#include "service/wire/ml_dsa_packets.h"

#include "service/wire/packets.h"

namespace lanecrypt::service {

std::optional<SignRequest> read_sign_request(std::span<const uint8_t> packet) {
  std::span<const uint8_t> rest;
  const auto fixed = fixed_part<MlDsaSign>(packet, Kind::kMlDsaSign, &rest);
  if (!fixed || fixed->key == 0) return std::nullopt;
  const MlDsaSet *const set = find_ml_dsa_set(fixed->set);
  if (set == nullptr || (fixed->key_bytes != 0 && fixed->key_bytes != set->key_bytes) ||
      rest.size() != kMlDsaInputBytes + fixed->key_bytes)
    return std::nullopt;
  return SignRequest{fixed->key, set, rest.first(kMlDsaInputBytes), rest.subspan(kMlDsaInputBytes)};
}

}  // namespace lanecrypt::service
