// Cipher jobs as plain data: the library's own, checked form of lc_cipher_job, with copied keys.
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

// The most additional data that a device generates for each of many segments, in bytes.
constexpr uint64_t kMostSegmentAadBytes = 4096;

// Returns `bytes` rounded up to whole blocks.
constexpr uint64_t whole_blocks(uint64_t bytes) { return round_up(bytes, kBlockBytes); }

// `CipherKind` is what one launch can do: pieces of jobs of the same kind may share a launch.
struct CipherKind {
  lc_cipher cipher;
  lc_direction direction;  // always LC_ENCRYPT for a mode that is its own inverse
  uint32_t key_bytes;      // of all keys of the mode together

  bool operator==(const CipherKind &) const = default;
  const CipherInfo &info() const { return cipher_info(cipher); }
  // Whether each block depends on the one before it.
  bool is_chain() const { return info().is_chain(direction); }
  // With CCM a message is a stream of its header and its text (job/cipher/ccm_format.h).
  bool is_gcm() const { return info().mode == Mode::kGcm; }
  bool is_ccm() const { return info().mode == Mode::kCcm; }
  // Whether the inverse block cipher is used.
  bool is_inverse() const { return direction == LC_DECRYPT && info().inverts; }
  // Returns the kind of another mode of the block cipher.
  CipherKind as(Mode mode, lc_direction other) const {
    return {another_mode(cipher, mode), other, one_key_bytes()};
  }
  uint32_t rounds() const { return info().block->rounds_of(one_key_bytes()); }
  uint32_t one_key_bytes() const { return key_bytes / info().keys; }
  uint32_t key_slot_bytes() const { return 32 * info().keys; }
  // "AES-256-XTS decryption".
  std::string name() const;
};

// `CipherMessage` is a message. A job may have very many, and each byte here costs time.
struct CipherMessage {
  uint32_t key;     // slot in CipherJob::keys
  uint32_t number;  // in the caller's array
  Iv iv;            // not used in authenticated modes
  const uint8_t *in;
  uint8_t *out;
  uint64_t length;
};

// `AeadMessage` is what a message of an authenticated mode has in addition.
struct AeadMessage {
  const uint8_t *aad;
  uint64_t aad_length;
  uint8_t *tag;
  lc_aead_part *part;  // or nullptr: a complete message

  uint64_t text_before() const { return part == nullptr ? 0 : part->text_before; }
};

struct CipherJob {
  // If set, the messages are these segments. They and all that belongs to them are in the device's
  // memory. `messages` and the lists that go with it are empty. `ivs` has the common nonce, or
  // those of the segments if they are given.
  std::optional<Segments> segments;
  CipherKind kind;
  lc_memory memory;
  uint32_t device;  // or LC_ANY_DEVICE
  void *stream;
  uint64_t data_unit_bytes;  // for XTS; 0: each message is one data unit
  // Messages of length 0 are left out, except in authenticated modes.
  KeptVector<CipherMessage> messages;
  secure::KeyMemory keys;  // slots of kind.key_slot_bytes()
  uint32_t key_count;
  uint64_t bytes;                     // of all messages
  uint64_t longest_stream_bytes = 0;  // of the longest message, for CCM with its header
  // For authenticated modes:
  uint32_t iv_bytes = 0, tag_bytes = 0;  // iv_bytes also for `segments`
  std::vector<uint8_t> ivs;              // iv_bytes bytes for each message
  bool nonces_follow_rule = false;       // segments with numbered nonces: none repeats
  std::vector<uint8_t> aad;              // of segments in host memory: all of it, if it is numbered
  KeptVector<AeadMessage> aead;          // one for each message
  size_t aad_count = 0;                  // the number of messages with additional data
  lc_status *message_status = nullptr;
  lc_memory tag_memory = LC_MEMORY_HOST;
  uint8_t *verdicts = nullptr;  // in device memory, one for each of the caller's messages

  bool is_empty() const { return messages.empty() && !segments; }
  // Whether the input is on a device: no other device can do the job, and the host cannot read it.
  bool reads_device() const { return memory != LC_MEMORY_HOST; }
  // Whether the device writes or compares the tags and the host does not learn the result.
  bool tags_stay_on_device() const { return tag_memory == LC_MEMORY_DEVICE || verdicts != nullptr; }
  const uint8_t *key(uint32_t slot) const { return keys.data() + slot * kind.key_slot_bytes(); }
};

// Returns the blocks of `bytes` bytes in the hash of an authenticated mode: additional data and
// text are each padded to whole blocks.
constexpr uint64_t hash_blocks(uint64_t bytes) { return whole_blocks(bytes) / kBlockBytes; }

// Runs part(0) to part(count - 1) concurrently; returns when all are done.
using RunParts = std::function<void(size_t count, const std::function<void(size_t)> &part)>;

// Checks a job of the ABI and copies what must not change while it runs. The text of an error names
// the message that is at fault. `run_parts`, if given, is called if there are very many messages,
// because the caller waits meanwhile. With `keep_segments`, all segments that the device itself can
// generate remain segments.
Result<CipherJob> make_cipher_job(const lc_cipher_job *job, const RunParts &run_parts = nullptr,
                                  bool keep_segments = false);

}  // namespace lanecrypt
