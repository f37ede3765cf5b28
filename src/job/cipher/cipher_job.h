// What can be asked of a block cipher, as plain data: the library's own form
// of lc_cipher_job, checked, with its keys copied.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "job/cipher/cipher_info.h"
#include "job/cipher/counter.h"
#include "job/cipher/segments.h"
#include "job/kept_memory.h"
#include "job/round_up.h"
#include "job/status.h"
#include "secure/key_memory.h"

namespace lanecrypt {

constexpr uint64_t kBlockBytes = 16;
constexpr uint64_t kChaChaBlockBytes = 64;
// A data unit of XTS has at most 2^20 blocks (SP 800-38E).
constexpr uint64_t kMostDataUnitBytes = kBlockBytes << 20;

// Additional data that a device writes out for each of many segments.
constexpr uint64_t kMostSegmentAadBytes = 4096;

// The bytes of as many blocks as `bytes` begin.
constexpr uint64_t whole_blocks(uint64_t bytes) { return round_up(bytes, kBlockBytes); }

// What one launch can do: pieces of jobs of one kind may share it.
struct CipherKind {
  lc_cipher cipher;
  lc_direction direction;  // of a mode that is its own inverse always LC_ENCRYPT
  uint32_t key_bytes;      // of all the mode's keys together

  bool operator==(const CipherKind &) const = default;
  const CipherInfo &info() const { return cipher_info(cipher); }
  // One block waits for the one before it.
  bool is_chain() const { return info().is_chain(direction); }
  // A message is a stream of its header and its text (job/cipher/ccm_format.h).
  bool is_gcm() const { return info().mode == Mode::kGcm; }
  bool is_ccm() const { return info().mode == Mode::kCcm; }
  // The block cipher runs backwards.
  bool is_inverse() const { return direction == LC_DECRYPT && info().inverts; }
  // Another mode of its block cipher.
  CipherKind as(Mode mode, lc_direction other) const {
    return {another_mode(cipher, mode), other, one_key_bytes()};
  }
  uint32_t rounds() const { return info().block->rounds_of(one_key_bytes()); }
  uint32_t one_key_bytes() const { return key_bytes / info().keys; }
  uint32_t key_slot_bytes() const { return 32 * info().keys; }
  // "AES-256-XTS decryption".
  std::string name() const;
};

// A job may have very many, and each byte of them costs all of it time.
struct CipherMessage {
  uint32_t key;     // slot in CipherJob::keys
  uint32_t number;  // in the caller's array
  Iv iv;            // but for authenticated modes
  const uint8_t *in;
  uint8_t *out;
  uint64_t length;
};

// What one of an authenticated mode has beside.
struct AeadMessage {
  const uint8_t *aad;
  uint64_t aad_length;
  uint8_t *tag;
  lc_aead_part *part;  // or nullptr: a whole message

  uint64_t text_before() const { return part == nullptr ? 0 : part->text_before; }
};

struct CipherJob {
  // Set: the messages are these, in the device's memory with all that belongs to them, and none is
  // made: `messages` and what goes with each of them are empty. `ivs` has the nonce that they have
  // in common, or theirs if these are given.
  std::optional<Segments> segments;
  CipherKind kind;
  lc_memory memory;
  uint32_t device;  // or LC_ANY_DEVICE
  void *stream;
  uint64_t data_unit_bytes;  // XTS; 0: a message is one
  // Those of length 0 are left out, but for authenticated modes.
  KeptVector<CipherMessage> messages;
  secure::KeyMemory keys;  // slots of kind.key_slot_bytes()
  uint32_t key_count;
  uint64_t bytes;                     // of all messages
  uint64_t longest_stream_bytes = 0;  // of one message, and of CCM its header
  // Of authenticated modes:
  uint32_t iv_bytes = 0, tag_bytes = 0;  // the first of `segments` too
  std::vector<uint8_t> ivs;              // iv_bytes for each of messages
  bool nonces_follow_rule = false;       // of segments whose nonces have a number: none comes twice
  std::vector<uint8_t> aad;      // of segments in host memory: all, or where it has a number each
  KeptVector<AeadMessage> aead;  // for each of messages
  size_t aad_count = 0;          // of messages that have additional data
  lc_status *message_status = nullptr;
  lc_memory tag_memory = LC_MEMORY_HOST;
  uint8_t *verdicts = nullptr;  // in device memory, for each of the caller's messages

  bool is_empty() const { return messages.empty() && !segments; }
  // The input lies on a device: nobody else can do the job, and the host cannot look at it.
  bool reads_device() const { return memory != LC_MEMORY_HOST; }
  // The device alone writes the tags, or compares them: nobody tells the host.
  bool tags_stay_on_device() const { return tag_memory == LC_MEMORY_DEVICE || verdicts != nullptr; }
  const uint8_t *key(uint32_t slot) const { return keys.data() + slot * kind.key_slot_bytes(); }
};

// Blocks of the hash of an authenticated mode that `bytes` make: additional data
// and text are filled up to whole blocks each.
constexpr uint64_t hash_blocks(uint64_t bytes) { return whole_blocks(bytes) / kBlockBytes; }

// Runs part(0) to part(count - 1), several at once; returns when all are done.
using RunParts = std::function<void(size_t count, const std::function<void(size_t)> &part)>;

// Checks a job of the ABI and copies what must not change under it. The
// sentence of an error names the message that is at fault. Nothing of the job is on its
// way meanwhile: `run_parts`, where it is given, is called where there are very many. With
// `keep_segments` all segments that the device itself can make stay so.
Result<CipherJob> make_cipher_job(const lc_cipher_job *job, const RunParts &run_parts = nullptr,
                                  bool keep_segments = false);

}  // namespace lanecrypt
