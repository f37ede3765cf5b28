// A batch: the messages of one job in guarded memory, with the answers that OpenSSL gives.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lanecrypt/lanecrypt.h"
#include "one_message.h"
#include "random_bytes.h"
#include "reference.h"

namespace lanecrypt::test {

enum class DataMemory { kHost, kPinned, kDevice };
std::string data_memory_name(DataMemory data_memory);

// What a test chooses for a message. The key, the IV and the text are random.
struct MessageShape {
  uint64_t length = 0;
  uint32_t in_alignment = 0;   // 0 to 15: address modulo 16
  uint32_t out_alignment = 0;  // ignored if `in_place`
  bool in_place = false;
  uint32_t key = 0;  // messages with the same number share a key by pointer
};

struct BatchShape {
  lc_cipher cipher = LC_AES_ECB;
  lc_direction direction = LC_ENCRYPT;
  uint32_t key_bytes = 16;
  uint64_t data_unit_bytes = 0;  // XTS
  DataMemory data_memory = DataMemory::kHost;
  std::vector<MessageShape> messages;

  std::string name() const;
};

// All inputs and outputs lie in one arena, with canaries between them. One comparison of the arena
// therefore checks every output, every input that must not change, and every byte that must not be
// written.
class Batch {
 public:
  // `context` provides pinned memory and memory of device 0. Throws std::runtime_error if there is
  // no memory or OpenSSL fails.
  Batch(lc_context *context, const BatchShape &shape, Random &random);
  ~Batch();
  Batch(const Batch &) = delete;
  Batch &operator=(const Batch &) = delete;

  const BatchShape &shape() const { return shape_; }
  // iv(), key() and input() point to the IV, key and text of message `n`. A test that wants other
  // than random values writes them there, then calls finish().
  uint8_t *iv(size_t n) { return ivs_.data() + 16 * n; }
  uint8_t *key(uint32_t number) { return keys_.data() + 64 * number; }
  uint8_t *input(size_t n) { return before_.data() + in_offsets_[n]; }
  // finish() computes the answers from the present keys, IVs and texts, and fills the arena as it
  // is before the job. The constructor calls it. Call it again after a change.
  void finish();

  lc_cipher_job job() const;
  uint64_t bytes() const;
  // Returns "" if the arena is as it should be, or a text that says what is wrong.
  std::string check();
  // Returns "" if every message holds whole blocks of its answer, from the start on, and is
  // untouched behind them; otherwise a text that says what is wrong.
  std::string check_pieces_or_untouched();

 private:
  uint8_t *address(uint64_t offset) const { return arena_ + offset; }
  void allocate(uint64_t bytes);
  void store(const Bytes &image);
  Bytes load() const;

  lc_context *context_;
  BatchShape shape_;
  Bytes keys_, ivs_;
  std::vector<uint64_t> in_offsets_, out_offsets_;
  Bytes before_, after_;  // the arena as it is, and as it should become
  Bytes host_;            // kHost: where the arena lies
  uint8_t *arena_ = nullptr;
  std::vector<lc_message> messages_;
};

// Returns a batch of random lengths, alignments, shared keys and kinds of memory.
BatchShape random_shape(Random &random, uint64_t most_messages, uint64_t most_bytes);

}  // namespace lanecrypt::test
