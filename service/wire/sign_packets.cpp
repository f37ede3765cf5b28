// SPDX-License-Identifier: Apache-2.0
#include "service/wire/sign_packets.h"

#include "service/wire/packets.h"

namespace lanecrypt::service {
namespace {

std::optional<SignRequest> read_as(std::span<const uint8_t> packet, Family family) {
  std::span<const uint8_t> rest;
  const auto fixed = fixed_part<Sign>(packet, kind_of_signature(family), &rest);
  if (!fixed || fixed->key == 0) return std::nullopt;
  const SignatureSet *const set = find_set({family, fixed->set});
  if (set == nullptr || (fixed->key_bytes != 0 && fixed->key_bytes != set->key_bytes) ||
      rest.size() != set->input_bytes + fixed->key_bytes)
    return std::nullopt;
  return SignRequest{fixed->key, set, rest.first(set->input_bytes), rest.subspan(set->input_bytes)};
}

}  // namespace

std::optional<SignRequest> read_sign_request(std::span<const uint8_t> packet) {
  if (const auto request = read_as(packet, Family::kMlDsa)) return request;
  return read_as(packet, Family::kSlhDsa);
}

}  // namespace lanecrypt::service
