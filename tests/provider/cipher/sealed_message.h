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
// A key, an IV, additional data and `bytes` of text, of lengths that the cipher takes.
Message make_message(Random &random, const std::string &cipher, size_t bytes);
// Makes the ciphertext and the tag by OpenSSL in one piece. If it refuses, the test
// fails.
void seal(Library &library, const char *name, Message *message);

// A length for the next piece: mostly short, and sometimes 0.
size_t random_piece(Random &random, size_t left);

}  // namespace provider_test
