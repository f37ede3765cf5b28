// Messages of an authenticated mode with the expected ciphertext and tag.
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
// make_message() returns a random key, IV and additional data, and `bytes` of text, of lengths that
// the cipher accepts.
Message make_message(Random &random, const std::string &cipher, size_t bytes);
// seal() computes the ciphertext and the tag by OpenSSL in one piece. If OpenSSL refuses, the test
// fails.
void seal(Library &library, const char *name, Message *message);

// random_piece() returns a length for the next piece: mostly short, and sometimes 0.
size_t random_piece(Random &random, size_t left);

}  // namespace provider_test
