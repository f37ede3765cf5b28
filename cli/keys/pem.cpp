// SPDX-License-Identifier: Apache-2.0
#include "cli/keys/pem.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

namespace lanecrypt::cli {
namespace {

// So many bytes make a line of Base64, of 64 characters.
constexpr size_t kLineBytes = 48;

}  // namespace

SecretBytes pem_of(std::string_view label, const SecretBytes &der) {
  const std::string begin = fmt::format("-----BEGIN {}-----\n", label),
                    end = fmt::format("-----END {}-----\n", label);
  const size_t bytes = der.size(), lines = (bytes + kLineBytes - 1) / kLineBytes;
  // EVP_EncodeBlock() ends each line with a zero, which the newline replaces.
  SecretBytes pem(begin.size() + 4 * ((bytes + 2) / 3) + lines + end.size());
  uint8_t *to = pem.data();
  std::memcpy(to, begin.data(), begin.size());
  to += begin.size();
  for (size_t at = 0; at < bytes; at += kLineBytes) {
    to += EVP_EncodeBlock(to, der.data() + at, static_cast<int>(std::min(kLineBytes, bytes - at)));
    *to++ = '\n';
  }
  std::memcpy(to, end.data(), end.size());
  return pem;
}

PemBlock find_pem(const SecretBytes &text, const std::vector<std::string_view> &labels) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> bio(
      BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), BIO_free);
  if (!bio) throw std::bad_alloc();
  PemBlock block;
  char *label = nullptr, *header = nullptr;
  unsigned char *data = nullptr;
  long bytes = 0;
  // By this flag OpenSSL wipes what it used meanwhile.
  while (block.label.empty() &&
         PEM_read_bio_ex(bio.get(), &label, &header, &data, &bytes, PEM_FLAG_SECURE) == 1) {
    if (std::find(labels.begin(), labels.end(), label) != labels.end()) {
      block.label = label;
      block.der = SecretBytes::copy_of({reinterpret_cast<char *>(data), size_t(bytes)});
    }
    OPENSSL_secure_free(label);
    OPENSSL_secure_free(header);
    OPENSSL_secure_clear_free(data, static_cast<size_t>(bytes));
  }
  ERR_clear_error();
  return block;
}

}  // namespace lanecrypt::cli
