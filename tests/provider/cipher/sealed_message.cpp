// Makes messages, and seals them by OpenSSL.
//
// SPDX-License-Identifier: Apache-2.0
#include "provider/cipher/sealed_message.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace provider_test {

bool is_gcm(const std::string &cipher) { return cipher.ends_with("GCM"); }

void seal(Library &library, const char *name, Message *message) {
  EVP_CIPHER_CTX *context = O(EVP_CIPHER_CTX_new)();
  int bytes = 0;
  uint8_t nothing[16];
  message->cipher.assign(message->plain.size(), 0);
  message->tag.assign(16, 0);
  bool ok =
      O(EVP_CipherInit_ex2)(context, library.cipher(name, "default"), nullptr, nullptr, 1,
                            nullptr) &&
      O(EVP_CIPHER_CTX_ctrl)(context, EVP_CTRL_AEAD_SET_IVLEN, int(message->iv.size()), nullptr) &&
      O(EVP_CipherInit_ex2)(context, nullptr, message->key.data(), message->iv.data(), 1, nullptr);
  if (!message->aad.empty())
    ok = ok && O(EVP_CipherUpdate)(context, nullptr, &bytes, message->aad.data(),
                                   int(message->aad.size()));
  if (!message->plain.empty())
    ok = ok && O(EVP_CipherUpdate)(context, message->cipher.data(), &bytes, message->plain.data(),
                                   int(message->plain.size()));
  ok = ok && O(EVP_CipherFinal_ex)(context, nothing, &bytes) &&
       O(EVP_CIPHER_CTX_ctrl)(context, EVP_CTRL_AEAD_GET_TAG, 16, message->tag.data());
  O(EVP_CIPHER_CTX_free)(context);
  ASSERT_TRUE(ok) << take_error_texts();
}

Message make_message(Random &random, const std::string &cipher, size_t bytes) {
  const size_t ivs[] = {12, 12, 12, 1, 8, 13, 16, 17, 60, 128};
  Message message;
  message.key = random_bytes(random, 32);
  message.iv = random_bytes(random, is_gcm(cipher) ? ivs[below(random, 10)] : 12);
  message.aad = random_bytes(random, below(random, 3) == 0 ? 0 : below(random, 90));
  message.plain = random_bytes(random, bytes);
  return message;
}

size_t random_piece(Random &random, size_t left) {
  const size_t most[] = {3, 17, 64, 100, 300, 1000, 2000};
  return std::min(left, below(random, most[below(random, 7)] + 1));
}

}  // namespace provider_test
