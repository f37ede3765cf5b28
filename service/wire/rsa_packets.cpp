// SPDX-License-Identifier: Apache-2.0
#include "service/wire/rsa_packets.h"

#include <algorithm>

#include "service/wire/packets.h"
#include "service/wire/result.h"

namespace lanecrypt::service {
namespace {

constexpr uint32_t kMostExponentBytes = 32;

bool is_modulus_length(size_t bytes) {
  return bytes >= kLeastModulusBytes && bytes <= kMostModulusBytes;
}

// Splits `rest` into the parts of a key. Returns nullopt unless they take all of `rest`, and if a
// part is longer than the longest modulus.
std::optional<KeyParts> cut(std::span<const uint8_t> rest, const uint16_t (&bytes)[kKeyParts]) {
  KeyParts parts;
  for (size_t n = 0; n < kKeyParts; ++n) {
    if (bytes[n] > kMostModulusBytes || bytes[n] > rest.size()) return std::nullopt;
    parts[n] = rest.first(bytes[n]);
    rest = rest.subspan(bytes[n]);
  }
  if (!rest.empty()) return std::nullopt;
  return parts;
}

bool has_all(const KeyParts &parts, size_t count) {
  return std::none_of(parts.begin(), parts.begin() + std::ptrdiff_t(count),
                      [](std::span<const uint8_t> part) { return part.empty(); });
}

}  // namespace

std::optional<PrivateRequest> read_private_request(std::span<const uint8_t> packet) {
  std::span<const uint8_t> rest;
  const auto fixed = fixed_part<RsaPrivate>(packet, Kind::kRsaPrivate, &rest);
  if (!fixed || fixed->key == 0 || fixed->reserved != 0) return std::nullopt;
  if (!is_modulus_length(fixed->modulus_bytes) || fixed->modulus_bytes > rest.size())
    return std::nullopt;
  PrivateRequest request{fixed->key, rest.first(fixed->modulus_bytes), std::nullopt};
  const std::optional<KeyParts> parts = cut(rest.subspan(fixed->modulus_bytes), fixed->part_bytes);
  if (!parts) return std::nullopt;
  const bool has_none =
      std::all_of(parts->begin(), parts->end(), [](const auto &part) { return part.empty(); });
  if (has_none) return request;
  if (!has_all(*parts, kD) || !(*parts)[kD].empty()) return std::nullopt;
  if ((*parts)[kN].size() != fixed->modulus_bytes) return std::nullopt;
  request.parts = *parts;
  return request;
}

std::optional<GenerateRequest> read_generate_request(std::span<const uint8_t> packet) {
  std::span<const uint8_t> rest;
  const auto fixed = fixed_part<RsaGenerate>(packet, Kind::kRsaGenerate, &rest);
  if (!fixed || rest.size() != fixed->exponent_bytes) return std::nullopt;
  if (rest.empty() || rest.size() > kMostExponentBytes) return std::nullopt;
  if (fixed->bits % 2 != 0 || fixed->bits < 8 * kLeastModulusBytes ||
      fixed->bits > 8 * kMostModulusBytes)
    return std::nullopt;
  return GenerateRequest{fixed->bits, rest};
}

std::optional<GeneratedKey> read_generated_key(std::span<const uint8_t> packet) {
  std::span<const uint8_t> rest;
  const auto fixed = fixed_part<RsaKeyMade>(packet, Kind::kRsaKey, &rest);
  if (!fixed || !is_known(fixed->outcome) || fixed->reserved != 0) return std::nullopt;
  const std::optional<KeyParts> parts = cut(rest, fixed->part_bytes);
  if (!parts) return std::nullopt;
  const bool is_done = fixed->outcome == Outcome::kDone;
  if (is_done ? !has_all(*parts, kKeyParts) : !rest.empty()) return std::nullopt;
  return GeneratedKey{fixed->outcome, *parts};
}

}  // namespace lanecrypt::service
