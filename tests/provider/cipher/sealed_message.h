// A message of an authenticated mode, and the right answer to it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "provider/provider_under_test.h"
#include "provider/random_input.h"

namespace provider_test {

struct Message {
  Bytes key, iv, aad, plain, cipher, tag;
};

bool is_gcm(const std::string &cipher);
// Key, IV, additional data and `bytes` of text, of lengths that the cipher takes.
Message make_message(Random &random, const std::string &cipher, size_t bytes);
// Ciphertext and tag, by OpenSSL at one go. A failure of the test where it refuses.
void seal(Library &library, const char *name, Message *message);

// The length of a piece of what is left: most often short, and nothing at times.
size_t random_piece(Random &random, size_t left);

}  // namespace provider_test
