// The names of ciphers in Python.
//
// SPDX-License-Identifier: Apache-2.0
#include "ciphers.h"

#include "lanecrypt/lanecrypt.h"

namespace lanecrypt::python {
namespace {

constexpr struct {
  const char *name;
  lc_cipher cipher;
} kCiphers[] = {
    {"aes-ecb", LC_AES_ECB},
    {"aes-cbc", LC_AES_CBC},
    {"aes-ctr", LC_AES_CTR},
    {"aes-xts", LC_AES_XTS},
    {"aes-cfb", LC_AES_CFB128},
    {"aes-cfb8", LC_AES_CFB8},
    {"aes-cfb1", LC_AES_CFB1},
    {"aes-ofb", LC_AES_OFB},
    {"aes-cbc-cs1", LC_AES_CBC_CS1},
    {"aes-cbc-cs2", LC_AES_CBC_CS2},
    {"aes-cbc-cs3", LC_AES_CBC_CS3},
    {"aes-gcm", LC_AES_GCM},
    {"aes-ccm", LC_AES_CCM},
    {"chacha20", LC_CHACHA20},
    {"chacha20-poly1305", LC_CHACHA20_POLY1305},
    {"sm4-ecb", LC_SM4_ECB},
    {"sm4-cbc", LC_SM4_CBC},
    {"sm4-ctr", LC_SM4_CTR},
    {"sm4-cfb", LC_SM4_CFB128},
    {"sm4-ofb", LC_SM4_OFB},
    {"sm4-gcm", LC_SM4_GCM},
    {"sm4-ccm", LC_SM4_CCM},
    {"sm4-xts", LC_SM4_XTS},
    {"sm4-xts-gb", LC_SM4_XTS_GB},
    {"camellia-ecb", LC_CAMELLIA_ECB},
    {"camellia-cbc", LC_CAMELLIA_CBC},
    {"camellia-ctr", LC_CAMELLIA_CTR},
    {"camellia-cfb", LC_CAMELLIA_CFB128},
    {"camellia-ofb", LC_CAMELLIA_OFB},
    {"aria-ecb", LC_ARIA_ECB},
    {"aria-cbc", LC_ARIA_CBC},
    {"aria-ctr", LC_ARIA_CTR},
    {"aria-cfb", LC_ARIA_CFB128},
    {"aria-ofb", LC_ARIA_OFB},
    {"aria-gcm", LC_ARIA_GCM},
    {"aria-ccm", LC_ARIA_CCM},
};

}  // namespace

nb::dict ciphers() {
  nb::dict numbers;
  for (const auto &row : kCiphers) numbers[row.name] = int(row.cipher);
  return numbers;
}

}  // namespace lanecrypt::python
