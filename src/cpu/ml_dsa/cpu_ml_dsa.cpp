// SPDX-License-Identifier: Apache-2.0
#include "cpu/ml_dsa/cpu_ml_dsa.h"

#include <algorithm>
#include <cstring>

#include "cpu/ml_dsa/host_ml_dsa.h"
#include "cpu/ml_dsa/openssl_ml_dsa.h"

namespace lanecrypt::cpu {
namespace {

Status no_memory() { return Status(LC_ERROR_MEMORY, "no memory for the key"); }

// Compares in constant time, because private keys are compared too.
bool are_equal(Bytes a, Bytes b) {
  uint8_t differs = 0;
  for (size_t n = 0; n < a.size(); ++n) differs |= a[n] ^ b[n];
  return differs == 0;
}

}  // namespace

Result<std::shared_ptr<MlDsaKey>> make_ml_dsa_key(const MlDsaParts &parts) {
  const MlDsaSizes &sizes = *parts.sizes;
  auto key = std::make_shared<MlDsaKey>(sizes);
  key->is_private = !parts.seed.empty() || !parts.private_key.empty();
  key->random = parts.random;
  const size_t bytes = sizes.public_bytes + (key->is_private ? sizes.private_bytes : 0);
  key->memory = secure::KeyMemory(bytes, secure::KeyMemory::Fork::kKept);
  if (!key->memory.ok(bytes)) return no_memory();
  const std::span<uint8_t> whole(key->memory.data(), bytes);
  if (!parts.seed.empty()) {
    LC_TRY(host_ml_dsa_key(sizes, parts.seed, whole));
    if (!parts.private_key.empty() && !are_equal(parts.private_key, key->private_key()))
      return Status(LC_ERROR_ARGUMENT, "the private key is not that of the seed");
  } else if (key->is_private) {
    std::memcpy(&whole[sizes.public_bytes], parts.private_key.data(), sizes.private_bytes);
    LC_TRY(host_ml_dsa_public(sizes, whole));
  } else {
    std::memcpy(whole.data(), parts.public_key.data(), sizes.public_bytes);
  }
  if (!parts.public_key.empty() && !are_equal(parts.public_key, key->public_key()))
    return Status(LC_ERROR_ARGUMENT, "the public key is not that of the private key");
  ml_dsa_tr(key->public_key(), key->tr);
  key->on_cpu = openssl_ml_dsa_key(*key);
  return key;
}

Status ml_dsa_sign(const MlDsaKey &key, Bytes mu, Bytes random, std::span<uint8_t> signature) {
  if (key.on_cpu != nullptr) return openssl_ml_dsa_sign(*key.on_cpu, mu, random, signature);
  return host_ml_dsa_sign(key.sizes, key.whole(), mu, random, signature);
}

Result<uint8_t> ml_dsa_verify(const MlDsaKey &key, Bytes mu, Bytes signature) {
  if (key.on_cpu != nullptr) return openssl_ml_dsa_verify(*key.on_cpu, mu, signature);
  return host_ml_dsa_verify(key.sizes, key.public_key(), mu, signature);
}

}  // namespace lanecrypt::cpu
