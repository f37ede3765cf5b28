// SPDX-License-Identifier: Apache-2.0
#include "cli/keys/private_key_file.h"

#include <fmt/format.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>

#include <memory>
#include <string_view>
#include <vector>

#include "cli/keys/der.h"
#include "cli/keys/pem.h"
#include "lanecrypt/lanecrypt.hpp"

namespace lanecrypt::cli {
namespace {

// The version and algorithm of PKCS#8: INTEGER 0; SEQUENCE { OBJECT rsaEncryption, NULL }.
constexpr uint8_t kHead[] = {0x02, 0x01, 0x00, 0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86,
                             0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00};
constexpr uint8_t kVersion[] = {0x02, 0x01, 0x00};

// Returns whether the DER encoding of a positive number needs a leading zero byte, because its top
// bit is set.
bool needs_zero(const lc_number &number) {
  return (static_cast<const uint8_t *>(number.bytes)[0] & 0x80) != 0;
}

size_t integer_bytes(const lc_number &number) {
  const size_t length = number.length + (needs_zero(number) ? 1 : 0);
  return der_header_bytes(length) + length;
}

void write_integer(DerWriter &writer, const lc_number &number) {
  constexpr uint8_t kZero = 0;
  writer.header(kDerInteger, number.length + (needs_zero(number) ? 1 : 0));
  if (needs_zero(number)) writer.bytes(&kZero, 1);
  writer.bytes(number.bytes, number.length);
}

using Pkey = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

// Returns a number of the key in memory that is erased at the end; empty if the key does not have
// it.
SecretBytes number_of(const EVP_PKEY *key, const char *name) {
  BIGNUM *value = nullptr;
  if (EVP_PKEY_get_bn_param(key, name, &value) != 1) return SecretBytes(0);
  SecretBytes bytes(static_cast<size_t>(BN_num_bytes(value)));
  BN_bn2bin(value, bytes.data());
  BN_clear_free(value);
  return bytes;
}

}  // namespace

SecretBytes private_key_pem(const lc_rsa_parts &key) {
  const lc_number numbers[] = {key.n, key.e, key.d, key.p, key.q, key.dp, key.dq, key.qinv};
  size_t inner = sizeof kVersion;
  for (const lc_number &number : numbers) inner += integer_bytes(number);
  const size_t octets = der_header_bytes(inner) + inner;
  const size_t whole = sizeof kHead + der_header_bytes(octets) + octets;
  SecretBytes der(der_header_bytes(whole) + whole);
  DerWriter writer(der.data());
  writer.header(kDerSequence, whole);
  writer.bytes(kHead, sizeof kHead);
  writer.header(kDerOctets, octets);
  writer.header(kDerSequence, inner);
  writer.bytes(kVersion, sizeof kVersion);
  for (const lc_number &number : numbers) write_integer(writer, number);
  return pem_of("PRIVATE KEY", der);
}

std::string look_at_private_key(const SecretBytes &pem, unsigned bits,
                                const std::string &exponent) {
  // An encrypted key has another label and is not found, so no passphrase is asked for.
  const PemBlock block = find_pem(pem, {"PRIVATE KEY", "RSA PRIVATE KEY"});
  const unsigned char *der = block.der.data();
  const Pkey pkey(block.label.empty()
                      ? nullptr
                      : d2i_AutoPrivateKey_ex(nullptr, &der, static_cast<long>(block.der.size()),
                                              nullptr, "provider=default"),
                  EVP_PKEY_free);
  ERR_clear_error();
  if (!pkey || !EVP_PKEY_is_a(pkey.get(), "RSA")) return "it holds no private RSA key";
  if (EVP_PKEY_get_bits(pkey.get()) != static_cast<int>(bits))
    return fmt::format("its key has {} bits", EVP_PKEY_get_bits(pkey.get()));
  const struct {
    const char *name;
    lc_number lc_rsa_parts::*part;
  } numbers[] = {{OSSL_PKEY_PARAM_RSA_N, &lc_rsa_parts::n},
                 {OSSL_PKEY_PARAM_RSA_E, &lc_rsa_parts::e},
                 {OSSL_PKEY_PARAM_RSA_D, &lc_rsa_parts::d},
                 {OSSL_PKEY_PARAM_RSA_FACTOR1, &lc_rsa_parts::p},
                 {OSSL_PKEY_PARAM_RSA_FACTOR2, &lc_rsa_parts::q},
                 {OSSL_PKEY_PARAM_RSA_EXPONENT1, &lc_rsa_parts::dp},
                 {OSSL_PKEY_PARAM_RSA_EXPONENT2, &lc_rsa_parts::dq},
                 {OSSL_PKEY_PARAM_RSA_COEFFICIENT1, &lc_rsa_parts::qinv}};
  lc_rsa_parts parts{};
  parts.struct_size = sizeof parts;
  std::vector<SecretBytes> bytes;
  for (const auto &number : numbers) {
    bytes.push_back(number_of(pkey.get(), number.name));
    if (bytes.back().size() == 0) return "its key is incomplete";
    parts.*number.part = {bytes.back().data(), bytes.back().size()};
  }
  if (std::string_view(bytes[1].text(), bytes[1].size()) != exponent)
    return "its key has another public exponent";
  try {
    const RsaKey key(parts);
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

}  // namespace lanecrypt::cli
