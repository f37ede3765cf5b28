// SPDX-License-Identifier: Apache-2.0
#include "job/cipher_job.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace lanecrypt {
namespace {

Status wrong(std::string text) { return Status(LC_ERROR_ARGUMENT, std::move(text)); }

// An enum as the caller's compiler wrote it: a C program can put any number
// there, and C++ may not look at one that is no value of the type.
template <typename Enum>
int number_of(const Enum &value) {
  static_assert(sizeof(Enum) == sizeof(int));
  int number = 0;
  std::memcpy(&number, &value, sizeof number);
  return number;
}

// The struct as this version knows it, from one that may be older and end
// earlier, or newer.
template <typename T>
T read_struct(const void *from, size_t bytes) {
  T value = {};
  if (bytes >= sizeof value)  // as most are: a copy of a size that is known
    std::memcpy(&value, from, sizeof value);
  else
    std::memcpy(&value, from, bytes);
  return value;
}

// Where the structs of version 0.1 ended.
constexpr size_t kLeastJobBytes = offsetof(lc_cipher_job, iv_bytes);
constexpr size_t kLeastMessageBytes = offsetof(lc_message, aad);

std::string key_sizes_of(const Mode &mode) {
  std::string sizes;
  for (const uint32_t bytes : {16, 24, 32})
    if (mode.takes_key(bytes * mode.keys))
      sizes += (sizes.empty() ? ""
                : bytes == 32 ? " or "
                              : ", ") +
               std::to_string(bytes * mode.keys);
  return sizes;
}

// What the standards allow of IVs and tags: SP 800-38D, 5.2.1; SP 800-38C, A.1;
// RFC 8439, 2.8.
Status check_aead(const lc_cipher_job &job, const Mode &mode) {
  const uint32_t iv_bytes = job.iv_bytes, tag_bytes = job.tag_bytes;
  const bool ccm = mode.cipher == LC_AES_CCM, gcm = mode.cipher == LC_AES_GCM;
  if (iv_bytes != 0 && (ccm ? iv_bytes < 7 || iv_bytes > 13 : !gcm && iv_bytes != 12))
    return wrong("an IV of " + std::string(mode.title) + " has " + (ccm ? "7 to 13" : "12") +
                 " bytes, not " + std::to_string(iv_bytes));
  const bool is_tag = ccm ? tag_bytes >= 4 && tag_bytes <= 16 && tag_bytes % 2 == 0
                      : gcm
                          ? tag_bytes == 4 || tag_bytes == 8 || (tag_bytes >= 12 && tag_bytes <= 16)
                          : tag_bytes == 16;
  if (tag_bytes != 0 && !is_tag)
    return wrong("a tag of " + std::string(mode.title) + " has " +
                 (ccm   ? "4, 6, 8, 10, 12, 14 or 16"
                  : gcm ? "4, 8 or 12 to 16"
                        : "16") +
                 " bytes, not " + std::to_string(tag_bytes));
  return Status();
}

Status check_mode(const lc_cipher_job &job) {
  const Mode &mode = mode_of(job.cipher);
  if (!mode.takes_key(job.key_bytes))
    return wrong("a key of " + std::string(mode.is_aes ? "AES-" : "") + mode.title + " has " +
                 key_sizes_of(mode) + " bytes, not " + std::to_string(job.key_bytes));
  if (mode.is_aead) LC_TRY(check_aead(job, mode));
  if (!mode.is_aead && job.iv_bytes != 0 && job.iv_bytes != mode.iv_bytes)
    return wrong("an IV of " + std::string(mode.title) + " has " + std::to_string(mode.iv_bytes) +
                 " bytes, not " + std::to_string(job.iv_bytes));
  if (mode.continuation == Continuation::kDataUnits && job.data_unit_bytes != 0 &&
      (job.data_unit_bytes < kBlockBytes || job.data_unit_bytes > kMostDataUnitBytes))
    return wrong("a data unit has 16 bytes to 16 MiB, not " + std::to_string(job.data_unit_bytes) +
                 " bytes");
  return Status();
}

Status check_job(const lc_cipher_job &job) {
  if (const int cipher = number_of(job.cipher); cipher < 0 || cipher >= kModeCount)
    return wrong("unknown cipher " + std::to_string(cipher));
  if (const int direction = number_of(job.direction);
      direction != LC_ENCRYPT && direction != LC_DECRYPT)
    return wrong("unknown direction " + std::to_string(direction));
  LC_TRY(check_mode(job));
  if (const int memory = number_of(job.memory);
      memory != LC_MEMORY_HOST && memory != LC_MEMORY_DEVICE)
    return wrong("unknown kind of memory " + std::to_string(memory));
  if (job.stream != nullptr && job.memory != LC_MEMORY_DEVICE)
    return wrong("a stream goes with device memory only");
  if (job.message_count != 0 && job.messages == nullptr) return wrong("no messages were given");
  if (job.message_count != 0 && job.message_size < kLeastMessageBytes)
    return wrong("lc_cipher_job.message_size is too small");
  if (job.message_count > UINT32_MAX) return wrong("more than 2^32 - 1 messages");
  return Status();
}

Status wrong_length(uint64_t length, const std::string &what) {
  return wrong("its length, " + std::to_string(length) + " bytes, is " + what);
}

Status check_length(const lc_cipher_job &job, const Mode &mode, uint64_t length) {
  if (length % mode.granule_bytes != 0)
    return wrong_length(length, "no multiple of " + std::to_string(mode.granule_bytes));
  if (length < mode.least_bytes)
    return wrong_length(length, "less than " + std::to_string(mode.least_bytes));
  if (mode.continuation != Continuation::kDataUnits) return Status();
  if (job.data_unit_bytes == 0 && length > kMostDataUnitBytes)
    return wrong_length(length, "more than a data unit may have (16 MiB)");
  const uint64_t rest = job.data_unit_bytes == 0 ? 0 : length % job.data_unit_bytes;
  if (rest != 0 && rest < kBlockBytes)
    return wrong_length(length, "such that the last data unit has less than 16");
  return Status();
}

Status check_aead_part(const lc_cipher_job &job, const Mode &mode, const lc_message &message) {
  if (mode.continuation != Continuation::kMessage)
    return wrong(std::string("a message of ") + mode.title + " has no parts");
  if (job.memory != LC_MEMORY_HOST)
    return Status(LC_ERROR_UNSUPPORTED, "parts of messages are for host memory only");
  if (message.aad_length != 0) return wrong("a part has no additional data");
  if (message.part->text_before % (mode.is_aes ? kBlockBytes : kChaChaBlockBytes) != 0)
    return wrong("its part does not begin with a block");
  return Status();
}

// What an authenticated message has beside its text, which may be empty. The
// longest text has 2^32 - 2 blocks of 16 or 64 bytes; CCM's is bounded by the
// bytes that its nonce leaves for the length.
Status check_aead_message(const lc_cipher_job &job, const Mode &mode, const lc_message &message) {
  if (message.key == nullptr) return wrong("no key");
  if (message.iv == nullptr) return wrong("no IV");
  if (message.part != nullptr) LC_TRY(check_aead_part(job, mode, message));
  if (message.tag == nullptr && message.part == nullptr) return wrong("no tag, or no place for it");
  if (message.aad_length != 0 && message.aad == nullptr) return wrong("no additional data");
  if (message.aad_length > UINT64_MAX / 16) return wrong("its additional data are too long");
  const uint64_t most = mode.cipher == LC_CHACHA20_POLY1305 ? (uint64_t{1} << 38) - 64
                        : mode.cipher == LC_AES_GCM         ? (uint64_t{1} << 36) - 32
                                                            : UINT64_MAX;
  const uint64_t before = message.part == nullptr ? 0 : message.part->text_before;
  if (before > most || message.length > most - before)
    return wrong("its length is more than the mode allows under one IV");
  if (mode.cipher == LC_AES_CCM) {
    const uint32_t length_bytes = 15 - (job.iv_bytes == 0 ? mode.iv_bytes : job.iv_bytes);
    if (length_bytes < 8 && message.length >> (8 * length_bytes) != 0)
      return wrong("its length does not fit in the bytes that its nonce leaves");
  }
  return Status();
}

Status check_message(const lc_cipher_job &job, const lc_message &message) {
  const Mode &mode = mode_of(job.cipher);
  if (mode.is_aead) LC_TRY(check_aead_message(job, mode, message));
  if (message.length == 0) return Status();
  if (message.key == nullptr) return wrong("no key");
  if (mode.iv_bytes != 0 && message.iv == nullptr) return wrong("no IV");
  if (message.in == nullptr || message.out == nullptr) return wrong("no input or output");
  LC_TRY(check_length(job, mode, message.length));
  const uintptr_t in = reinterpret_cast<uintptr_t>(message.in);
  const uintptr_t out = reinterpret_cast<uintptr_t>(message.out);
  if (message.length > UINTPTR_MAX - in || message.length > UINTPTR_MAX - out)
    return wrong("its length reaches past the end of memory");
  if (in != out && in < out + message.length && out < in + message.length)
    return wrong("input and output overlap in part");
  return Status();
}

// Numbers a job's keys by their addresses, in the order in which they come. Nothing
// of the job is on its way while this goes on, so that each message counts: what
// std::unordered_map takes for a new key is more than all else of a message.
class KeySlots {
 public:
  // The number of a key, and whether it is new.
  std::pair<uint32_t, bool> slot_of(const void *key) {
    if (last_ < keys_.size() && keys_[last_] == key) return {last_, false};
    if (2 * keys_.size() >= table_.size()) grow();
    uint32_t &place = find(key);
    const bool is_new = place == kNone;
    if (is_new) {
      place = static_cast<uint32_t>(keys_.size());
      keys_.push_back(key);
    }
    last_ = place;
    return {place, is_new};
  }
  const std::vector<const void *> &keys() const { return keys_; }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  // Where its number stands, or is to stand: the first place that is free.
  uint32_t &find(const void *key) {
    // By the golden ratio (Knuth, The Art of Computer Programming, 6.4).
    const uint64_t mixed = reinterpret_cast<uintptr_t>(key) * 0x9E3779B97F4A7C15u;
    size_t at = mixed >> 32 & (table_.size() - 1);
    while (table_[at] != kNone && keys_[table_[at]] != key) at = (at + 1) & (table_.size() - 1);
    return table_[at];
  }
  void grow() {
    table_.assign(std::max<size_t>(4 * table_.size(), 16), kNone);
    for (uint32_t slot = 0; slot < keys_.size(); ++slot) find(keys_[slot]) = slot;
  }

  std::vector<const void *> keys_;
  std::vector<uint32_t> table_;  // numbers, at most half of it; its size is a power of two
  uint32_t last_ = 0;
};

// Of XTS, for encryption, as SP 800-38E's guidance and OpenSSL have it.
bool keys_are_alike(const uint8_t *keys, uint32_t one_key_bytes) {
  uint8_t difference = 0;
  for (uint32_t n = 0; n < one_key_bytes; ++n) difference |= keys[n] ^ keys[one_key_bytes + n];
  return difference == 0;
}

}  // namespace

std::string CipherKind::name() const {
  return (mode().is_aes ? "AES-" + std::to_string(8 * one_key_bytes()) + "-" : std::string()) +
         mode().title + (direction == LC_ENCRYPT ? " encryption" : " decryption");
}

Result<CipherJob> make_cipher_job(const lc_cipher_job *given) {
  if (given == nullptr) return wrong("no job was given");
  if (given->struct_size < kLeastJobBytes) return wrong("lc_cipher_job.struct_size is too small");
  const lc_cipher_job job = read_struct<lc_cipher_job>(given, given->struct_size);
  LC_TRY(check_job(job));
  const Mode &mode = mode_of(job.cipher);

  CipherJob result;
  result.kind = {job.cipher, mode.is_own_inverse ? LC_ENCRYPT : job.direction, job.key_bytes};
  result.memory = job.memory;
  result.device = job.device;
  result.stream = job.stream;
  result.data_unit_bytes = job.data_unit_bytes;
  result.bytes = 0;
  if (mode.is_aead) {
    result.iv_bytes = job.iv_bytes != 0 ? job.iv_bytes : mode.iv_bytes;
    result.tag_bytes = job.tag_bytes != 0 ? job.tag_bytes : kBlockBytes;
    result.message_status = job.message_status;
  }
  result.messages.reserve(job.message_count);

  KeySlots slots;
  for (size_t n = 0; n < job.message_count; ++n) {
    const lc_message message = read_struct<lc_message>(
        reinterpret_cast<const char *>(job.messages) + n * job.message_size, job.message_size);
    if (const Status status = check_message(job, message); !status.ok())
      return Status(status.code(), "message " + std::to_string(n) + ": " + status.text());
    if (message.length == 0 && !mode.is_aead) continue;
    if (message.length > UINT64_MAX / 2 - result.bytes) return wrong("too many bytes in one job");
    const auto [slot, is_new] = slots.slot_of(message.key);
    if (is_new && mode.keys == 2 && result.kind.direction == LC_ENCRYPT &&
        keys_are_alike(static_cast<const uint8_t *>(message.key), result.kind.one_key_bytes()))
      return wrong("message " + std::to_string(n) + ": the two halves of its key are the same");
    CipherMessage copy = {.key = slot,
                          .iv = {},
                          .in = static_cast<const uint8_t *>(message.in),
                          .out = static_cast<uint8_t *>(message.out),
                          .length = message.length,
                          .number = static_cast<uint32_t>(n),
                          .aad = static_cast<const uint8_t *>(message.aad),
                          .aad_length = message.aad_length,
                          .tag = static_cast<uint8_t *>(message.tag),
                          .part = mode.is_aead ? message.part : nullptr};
    if (mode.is_aead) {
      const uint8_t *iv = static_cast<const uint8_t *>(message.iv);
      result.ivs.insert(result.ivs.end(), iv, iv + result.iv_bytes);
    } else if (mode.iv_bytes != 0) {
      std::memcpy(copy.iv.data(), message.iv, mode.iv_bytes);
    }
    result.messages.push_back(copy);
    result.bytes += message.length;
    if (mode.is_aead) result.bytes += message.aad_length;
  }

  const size_t slot_bytes = result.kind.key_slot_bytes(), keys = slots.keys().size();
  result.key_count = static_cast<uint32_t>(keys);
  result.keys = secure::KeyMemory(keys * slot_bytes);
  if (!result.keys.ok(keys * slot_bytes)) return Status(LC_ERROR_MEMORY, "no memory for the keys");
  for (size_t slot = 0; slot < keys; ++slot)
    std::memcpy(result.keys.data() + slot * slot_bytes, slots.keys()[slot], job.key_bytes);
  return result;
}

std::array<uint32_t, 4> aead_lengths(const CipherKind &kind, uint64_t aad_length, uint64_t length) {
  const bool is_gcm = kind.cipher == LC_AES_GCM;
  uint8_t bytes[16];
  for (int i = 0; i < 8; ++i) {
    bytes[i] =
        static_cast<uint8_t>(is_gcm ? 8 * aad_length >> (56 - 8 * i) : aad_length >> (8 * i));
    bytes[8 + i] = static_cast<uint8_t>(is_gcm ? 8 * length >> (56 - 8 * i) : length >> (8 * i));
  }
  std::array<uint32_t, 4> words;
  std::memcpy(words.data(), bytes, sizeof bytes);
  return words;
}

Iv advance_counter(const Iv &iv, uint64_t blocks) {
  Iv next = iv;
  unsigned carry = 0;
  for (int i = 15; i >= 0; --i) {
    const unsigned sum = next[i] + static_cast<unsigned>(blocks & 0xff) + carry;
    next[i] = static_cast<uint8_t>(sum);
    carry = sum >> 8;
    blocks >>= 8;
  }
  return next;
}

Iv advance_chacha20(const Iv &iv, uint64_t blocks) {
  Iv next = iv;
  uint64_t counter = 0;
  for (int i = 7; i >= 0; --i) counter = counter << 8 | iv[i];
  counter += blocks;
  for (int i = 0; i < 8; ++i) next[i] = static_cast<uint8_t>(counter >> (8 * i));
  return next;
}

Iv advance_tweak(const Iv &iv, uint64_t units) {
  Iv reversed;
  std::reverse_copy(iv.begin(), iv.end(), reversed.begin());
  reversed = advance_counter(reversed, units);
  std::reverse(reversed.begin(), reversed.end());
  return reversed;
}

}  // namespace lanecrypt
