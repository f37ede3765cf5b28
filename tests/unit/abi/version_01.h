// The job structs as the header of version 0.1 defined them. Do not change them: programs that were
// built against that header run with later libraries, and these structs stand for such programs.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lanecrypt/lanecrypt.h"

namespace lanecrypt::test::version_01 {

struct lc_cipher_job {
  size_t struct_size;
  lc_cipher cipher;
  lc_direction direction;
  uint32_t key_bytes;
  lc_memory memory;
  uint32_t device;
  void *stream;
  const lc_message *messages;
  size_t message_count;
  size_t message_size;
  uint32_t iv_bytes;
  uint32_t tag_bytes;
  uint64_t data_unit_bytes;
  lc_status *message_status;
  lc_memory tag_memory;
  void *verdicts;
  const lc_segments *segments;
};

struct lc_rsa_job {
  size_t struct_size;
  lc_rsa_operation operation;
  uint32_t device;
  const lc_rsa_message *messages;
  size_t message_count;
  size_t message_size;
};

struct lc_rsa_generation {
  size_t struct_size;
  uint32_t bits;
  lc_number exponent;
  uint64_t count;
  uint32_t device;
  int (*on_key)(void *argument, uint64_t number, const lc_rsa_parts *key);
  int (*on_progress)(void *argument, const lc_rsa_progress *progress);
  int (*random)(void *argument, void *to, size_t bytes);
  void *argument;
};

struct lc_slh_dsa_job {
  size_t struct_size;
  lc_slh_dsa_operation operation;
  lc_message_encoding encoding;
  lc_pre_hash hash;
  int deterministic;
  uint32_t device;
  const lc_slh_dsa_message *messages;
  size_t message_count;
  size_t message_size;
  uint8_t *verdicts;
};

struct lc_slh_dsa_generation {
  size_t struct_size;
  lc_slh_dsa_set set;
  uint32_t device;
  size_t count;
  const void *seeds;
  void *keys;
  int (*random)(void *argument, void *to, size_t bytes);
  void *argument;
  void *trees;
};

struct lc_ml_dsa_job {
  size_t struct_size;
  lc_ml_dsa_operation operation;
  lc_message_encoding encoding;
  lc_ml_dsa_set set;
  int deterministic;
  uint32_t device;
  const lc_ml_dsa_message *messages;
  size_t message_count;
  size_t message_size;
  uint8_t *verdicts;
  int (*random)(void *argument, void *to, size_t bytes);
  void *argument;
};

struct lc_hash_job {
  size_t struct_size;
  lc_hash hash;
  lc_memory memory;
  uint32_t device;
  void *stream;
  const lc_hash_message *messages;
  size_t message_count;
  size_t message_size;
  uint64_t digest_bytes;
  lc_memory digest_memory;
  uint64_t leaf_bytes;
  const void *key;
  size_t key_bytes;
  const void *text;
  size_t text_bytes;
};

}  // namespace lanecrypt::test::version_01
