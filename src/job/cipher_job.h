// What can be asked of a block cipher, as plain data: the library's own form
// of lc_cipher_job, checked, with its keys copied.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "job/status.h"
#include "secure/key_memory.h"

namespace lanecrypt {

using Iv = std::array<uint8_t, 16>;
constexpr uint64_t kBlockBytes = 16;
constexpr size_t kKeySlotBytes = 32;

// The bytes of as many blocks as `bytes` begin.
constexpr uint64_t whole_blocks(uint64_t bytes) {
  return (bytes + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
}

// What one launch can do: pieces of jobs of one kind may share it.
struct CipherKind {
  lc_cipher cipher;
  lc_direction direction;  // CTR is its own inverse, and always LC_ENCRYPT
  uint32_t key_bytes;

  bool operator==(const CipherKind &) const = default;
  // One block waits for the one before it.
  bool is_chain() const { return cipher == LC_AES_CBC && direction == LC_ENCRYPT; }
};

struct CipherMessage {
  uint32_t key;  // slot in CipherJob::keys
  Iv iv;
  const uint8_t *in;
  uint8_t *out;
  uint64_t length;
};

struct CipherJob {
  CipherKind kind;
  lc_memory memory;
  uint32_t device;  // or LC_ANY_DEVICE
  void *stream;
  std::vector<CipherMessage> messages;  // those of length 0 are left out
  secure::KeyMemory keys;               // slots of kKeySlotBytes
  uint32_t key_count;
  uint64_t bytes;  // of all messages

  const uint8_t *key(uint32_t slot) const { return keys.data() + slot * kKeySlotBytes; }
};

// Checks a job of the ABI and copies what must not change under it. The
// sentence of an error names the message that is at fault.
Result<CipherJob> make_cipher_job(const lc_cipher_job *job);

// The IV of a piece that begins `blocks` blocks after `iv`, for CTR: 128-bit
// big-endian addition.
Iv advance_counter(const Iv &iv, uint64_t blocks);

}  // namespace lanecrypt
