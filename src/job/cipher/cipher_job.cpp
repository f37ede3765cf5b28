// SPDX-License-Identifier: Apache-2.0
#include "job/cipher/cipher_job.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "job/cipher/ccm_format.h"
#include "job/cipher/cipher_check.h"
#include "job/cipher/cipher_overlap.h"
#include "job/cipher/segments.h"
#include "job/read_struct.h"
#include "job/round_up.h"

namespace lanecrypt {
namespace {

// The size of the struct that the first programs used.
constexpr size_t kLeastJobBytes = offsetof(lc_cipher_job, iv_bytes);

// The most bytes of a job.
constexpr uint64_t kMostBytes = UINT64_MAX / 2;
Status too_many_bytes() { return wrong_argument("too many bytes in one job"); }
Status no_aad_on_device() {
  return Status(LC_ERROR_UNSUPPORTED,
                "segments: additional data in device memory are for GCM and ChaCha20-Poly1305 with "
                "nonces of 12 bytes and texts and tags there, and are at most " +
                    std::to_string(kMostSegmentAadBytes) + " bytes");
}

// `KeySlots` numbers a job's keys by their addresses, in order of appearance. The caller waits
// meanwhile, so the cost of each message counts: std::unordered_map takes longer for a new key than
// all else of a message takes.
class KeySlots {
 public:
  // Returns the number of a key, and whether it is new.
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

  // Returns the slot of a key's number: where it is, or the first free one.
  uint32_t &find(const void *key) {
    // Multiplicative hashing by the golden ratio (Knuth, The Art of Computer Programming, 6.4).
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
  std::vector<uint32_t> table_;  // numbers, at most half full; its size is a power of two
  uint32_t last_ = 0;
};

// Returns whether both keys of XTS are equal.
bool keys_are_alike(const uint8_t *keys, uint32_t one_key_bytes) {
  uint8_t difference = 0;
  for (uint32_t n = 0; n < one_key_bytes; ++n) difference |= keys[n] ^ keys[one_key_bytes + n];
  return difference == 0;
}

// `Part` is some consecutive messages of the caller's array.
struct Part {
  size_t first = 0, count = 0;
  // The messages that are kept, from `first` on: empty ones are left out.
  size_t kept = 0;
  uint64_t bytes = 0, longest_stream_bytes = 0;
  size_t aad_count = 0;
  MessageExtents extents;
  KeySlots slots;
  Status status;
};

// Fewer messages are processed faster than another thread wakes.
constexpr size_t kPartMessages = 4096, kLeastParts = 4;
constexpr size_t kFewKeys = 256;

void run_all(const RunParts &run_parts, size_t count, const std::function<void(size_t)> &part) {
  if (run_parts != nullptr && count > 1) return run_parts(count, part);
  for (size_t n = 0; n < count; ++n) part(n);
}

Status at_message(size_t number, const Status &status) {
  if (status.ok()) return status;
  return Status(status.code(), "message " + std::to_string(number) + ": " + status.text());
}

// `Source` is where the messages of a job come from: an array, or segments.
class Source {
 public:
  Source(const lc_cipher_job &job, const Segments *segments, CipherJob &made)
      : from_(reinterpret_cast<const char *>(job.messages)),
        size_(job.message_size),
        segments_(segments),
        aad_(made.aad.data()) {}
  // `iv` has space for the job's iv_bytes, for an IV that is generated.
  lc_message message(size_t number, uint8_t *iv) const {
    if (segments_ != nullptr) return segments_->message(number, iv, aad_);
    return read_struct<lc_message>(from_ + number * size_, size_);
  }

 private:
  const char *from_;
  size_t size_;
  const Segments *segments_;
  uint8_t *aad_;
};

// Checks the messages of a part and copies them to their place in the job.
template <bool kIsAead>
Status copy_messages(const Source &source, const MessageRules &rules, CipherJob &made, Part &part) {
  const CipherKind kind = made.kind;
  const bool has_iv = kind.info().iv_bytes != 0;
  const bool keys_must_differ =
      kind.info().keys == 2 && kind.info().block->xts_keys_differ && kind.direction == LC_ENCRYPT;
  CipherMessage *const begin = made.messages.data() + part.first, *to = begin;
  uint64_t bytes = 0, longest = 0;
  MessageExtents extents;
  for (size_t n = part.first; n < part.first + part.count; ++n) {
    Iv room;
    uint8_t *const iv = kIsAead ? made.ivs.data() + n * made.iv_bytes : room.data();
    const lc_message message = source.message(n, iv);
    if constexpr (kIsAead) {
      if (const Status status = rules.check_aead(message); !status.ok())
        return at_message(n, status);
    }
    if (const Fault fault = rules.find_fault(message); fault != Fault::kNone)
      return at_message(n, rules.say(fault, message));
    if (!kIsAead && message.length == 0) continue;
    const uint64_t aad_bytes = kIsAead ? message.aad_length : 0;
    if (message.length > kMostBytes - bytes || aad_bytes > kMostBytes - bytes - message.length)
      return too_many_bytes();
    const auto [slot, is_new] = part.slots.slot_of(message.key);
    if (is_new && keys_must_differ &&
        keys_are_alike(static_cast<const uint8_t *>(message.key), kind.one_key_bytes()))
      return at_message(n, wrong_argument("the two halves of its key are the same"));
    to->key = slot;
    to->number = static_cast<uint32_t>(n);
    to->in = static_cast<const uint8_t *>(message.in);
    to->out = static_cast<uint8_t *>(message.out);
    to->length = message.length;
    uint64_t stream_bytes = message.length;
    if constexpr (kIsAead) {
      to->iv = {};
      if (message.iv != iv) std::memcpy(iv, message.iv, made.iv_bytes);
      made.aead[n] = {.aad = static_cast<const uint8_t *>(message.aad),
                      .aad_length = message.aad_length,
                      .tag = static_cast<uint8_t *>(message.tag),
                      .part = message.part};
      part.aad_count += message.aad_length != 0 ? 1 : 0;
      if (kind.is_ccm()) stream_bytes += ccm_header_bytes(message.aad_length);
      extents.add(places_of(*to, made.aead[n], made.tag_bytes, kind.direction == LC_ENCRYPT, true));
    } else {
      to->iv = {};
      if (has_iv) std::memcpy(to->iv.data(), message.iv, sizeof to->iv);
      extents.add(places_of(*to));
    }
    ++to;
    bytes += message.length + aad_bytes;
    longest = std::max(longest, stream_bytes);
  }
  part.kept = static_cast<size_t>(to - begin);
  part.bytes = bytes;
  part.longest_stream_bytes = longest;
  part.extents = extents;
  return Status();
}

// Called on any thread; does not throw.
void copy_part(const Source &source, const MessageRules &rules, CipherJob &made, Part &part) {
  part.status = guarded([&] {
    return made.kind.info().is_aead ? copy_messages<true>(source, rules, made, part)
                                    : copy_messages<false>(source, rules, made, part);
  });
}

// Joins what was checked and copied in parts: removes the gaps between messages, and maps the key
// numbers of each part to those of the job. Returns the keys by their numbers.
std::vector<const void *> join_parts(std::vector<Part> &parts, const RunParts &run_parts,
                                     CipherJob &made) {
  if (parts.size() == 1) {
    made.messages.resize(parts[0].kept);
    return parts[0].slots.keys();
  }
  // A key of several parts gets one number only if the parts have few keys: to look up very many
  // would take this thread longer than a device needs to expand them once for each part.
  std::vector<const void *> keys;
  KeySlots few;
  std::vector<uint32_t> numbers_of_few;
  std::vector<std::vector<uint32_t>> numbers(parts.size());
  for (size_t n = 0; n < parts.size(); ++n) {
    const std::vector<const void *> &its = parts[n].slots.keys();
    bool is_as_before = true;
    for (const void *key : its) {
      auto number = static_cast<uint32_t>(keys.size());
      if (its.size() <= kFewKeys) {
        const auto [slot, is_new] = few.slot_of(key);
        if (is_new) numbers_of_few.push_back(number);
        number = numbers_of_few[slot];
      }
      if (number == keys.size()) keys.push_back(key);
      is_as_before = is_as_before && number == numbers[n].size();
      numbers[n].push_back(number);
    }
    if (is_as_before) numbers[n].clear();
  }
  const auto has_others = [](const std::vector<uint32_t> &of_part) { return !of_part.empty(); };
  if (std::any_of(numbers.begin(), numbers.end(), has_others))
    run_all(run_parts, parts.size(), [&](size_t n) {
      if (numbers[n].empty()) return;
      CipherMessage *const message = made.messages.data() + parts[n].first;
      for (size_t at = 0; at < parts[n].kept; ++at) message[at].key = numbers[n][message[at].key];
    });
  size_t kept = 0;
  for (const Part &part : parts) {
    CipherMessage *const message = made.messages.data();
    if (kept != part.first)
      std::memmove(message + kept, message + part.first, part.kept * sizeof *message);
    kept += part.kept;
  }
  made.messages.resize(kept);
  return keys;
}

// Returns whether the device itself can generate each of a job's segments. It can in GCM,
// ChaCha20-Poly1305, CTR and ChaCha20, if texts and tags are in its memory.
bool can_stay_segments(const lc_cipher_job &job, const Segments &segments, const CipherJob &made) {
  if (job.memory != LC_MEMORY_DEVICE) return false;
  if (!made.kind.info().is_aead) return true;
  return made.tag_memory == LC_MEMORY_DEVICE &&
         made.kind.info().continuation == Continuation::kMessage && made.iv_bytes == 12 &&
         segments.given().aad_length <= kMostSegmentAadBytes;
}

// Returns whether it should. To generate very many takes the host longer than all of the device's
// work. For few with additional data in host memory, a launch for short messages is faster. Pieces
// of CTR that the host makes may be split, and their key may be in the device's key slot.
bool should_stay_segments(const Segments &segments, const CipherJob &made) {
  return made.kind.info().is_aead && segments.given().aad_length == 0 && segments.count() > 1;
}

// Takes segments that remain segments. The first two and the last one have all faults that any can
// have.
Status take_segments(const Segments &segments, const MessageRules &rules, CipherJob &made) {
  const uint64_t count = segments.count();
  uint8_t iv[16];
  for (const uint64_t n : {uint64_t{0}, std::min<uint64_t>(1, count - 1), count - 1}) {
    const lc_message message = segments.message(n, iv, nullptr);
    if (made.kind.info().is_aead) LC_TRY(at_message(n, rules.check_aead(message)));
    if (const Fault fault = rules.find_fault(message); fault != Fault::kNone)
      return at_message(n, rules.say(fault, message));
  }
  const lc_segments &given = segments.given();
  if (given.text_bytes > kMostBytes) return too_many_bytes();
  if (!made.kind.info().is_aead) made.iv_bytes = made.kind.info().iv_bytes;
  const uint64_t nonces = given.nonce_stride != 0 ? count : 1;
  made.ivs.resize(nonces * made.iv_bytes);
  for (uint64_t n = 0; n < nonces; ++n)
    std::memcpy(made.ivs.data() + n * made.iv_bytes,
                static_cast<const uint8_t *>(given.nonce) + n * given.nonce_stride, made.iv_bytes);
  if (given.aad_memory == LC_MEMORY_HOST && given.aad_length != 0) {
    const auto *aad = static_cast<const uint8_t *>(given.aad);
    made.aad.assign(aad, aad + given.aad_length);
  }
  made.bytes = given.text_bytes;
  made.longest_stream_bytes = std::min(given.segment_bytes, given.text_bytes);
  made.segments = segments;
  return Status();
}

Status copy_keys(const std::vector<const void *> &keys, const RunParts &run_parts,
                 CipherJob &made) {
  const size_t slot_bytes = made.kind.key_slot_bytes();
  made.key_count = static_cast<uint32_t>(keys.size());
  made.keys = secure::KeyMemory(keys.size() * slot_bytes);
  if (!made.keys.ok(keys.size() * slot_bytes))
    return Status(LC_ERROR_MEMORY, "no memory for the keys");
  const size_t parts = divide_up(keys.size(), kPartMessages);
  run_all(parts < kLeastParts ? nullptr : run_parts, parts, [&](size_t part) {
    const size_t end = std::min(keys.size(), (part + 1) * kPartMessages);
    for (size_t slot = part * kPartMessages; slot < end; ++slot)
      std::memcpy(made.keys.data() + slot * slot_bytes, keys[slot], made.kind.key_bytes);
  });
  return Status();
}

}  // namespace

std::string CipherKind::name() const {
  return info().full_title(key_bytes) + (direction == LC_ENCRYPT ? " encryption" : " decryption");
}

Result<CipherJob> make_cipher_job(const lc_cipher_job *given, const RunParts &run_parts,
                                  bool keep_segments) {
  if (given == nullptr) return wrong_argument("no job was given");
  if (given->struct_size < kLeastJobBytes)
    return wrong_argument("lc_cipher_job.struct_size is too small");
  const lc_cipher_job job = read_struct<lc_cipher_job>(given, given->struct_size);
  LC_TRY(check_job(job));
  const CipherInfo &info = cipher_info(job.cipher);

  CipherJob result;
  result.kind = {job.cipher, info.is_own_inverse ? LC_ENCRYPT : job.direction, job.key_bytes};
  result.memory = job.memory;
  result.device = device_of(job);
  result.stream = job.stream;
  result.data_unit_bytes = job.data_unit_bytes;
  result.bytes = 0;
  if (info.is_aead) {
    result.iv_bytes = job.iv_bytes != 0 ? job.iv_bytes : info.iv_bytes;
    result.tag_bytes = job.tag_bytes != 0 ? job.tag_bytes : kBlockBytes;
    result.message_status = job.message_status;
    result.tag_memory = tag_memory_of(job);
    result.verdicts = static_cast<uint8_t *>(job.verdicts);
  }

  const MessageRules rules(job);
  size_t count = job.message_count;
  std::optional<Segments> segments;
  if (job.segments != nullptr) {
    Result<Segments> read = Segments::read(job);
    if (!read.ok()) return read.status();
    segments = *read;
    result.nonces_follow_rule = segments->given().nonce_stride == 0;
    // The host cannot make messages from data that it cannot read.
    const bool aad_is_there = info.is_aead && segments->given().aad_length != 0 &&
                              segments->given().aad_memory == LC_MEMORY_DEVICE;
    const bool can_stay = can_stay_segments(job, *segments, result);
    if (aad_is_there && !can_stay) return no_aad_on_device();
    if (job.outputs_are_apart == 0) LC_TRY(segments->check_overlaps(result));
    if (can_stay && (keep_segments || aad_is_there || should_stay_segments(*segments, result))) {
      LC_TRY(take_segments(*segments, rules, result));
      LC_TRY(copy_keys({segments->given().key}, nullptr, result));
      return result;
    }
    count = segments->count();
    result.aad.resize(segments->aad_bytes());
  }
  result.messages.resize(count);
  if (info.is_aead) {
    result.ivs.resize(count * result.iv_bytes);
    result.aead.resize(count);
  }
  const bool is_long = run_parts != nullptr && count >= kLeastParts * kPartMessages;
  const size_t most = is_long ? kPartMessages : count;
  std::vector<Part> parts(is_long ? divide_up(count, most) : 1);
  for (size_t n = 0; n < parts.size(); ++n) {
    parts[n].first = n * most;
    parts[n].count = std::min(most, count - n * most);
  }
  const Source source(job, segments ? &*segments : nullptr, result);
  run_all(run_parts, parts.size(), [&](size_t n) { copy_part(source, rules, result, parts[n]); });
  MessageExtents extents;
  for (const Part &part : parts) {
    LC_TRY(part.status);
    if (part.bytes > kMostBytes - result.bytes) return too_many_bytes();
    result.bytes += part.bytes;
    result.aad_count += part.aad_count;
    extents.add(part.extents);
    result.longest_stream_bytes = std::max(result.longest_stream_bytes, part.longest_stream_bytes);
  }
  const std::vector<const void *> keys = join_parts(parts, run_parts, result);
  if (!segments && job.outputs_are_apart == 0)
    LC_TRY(check_overlaps(result, job.message_count, extents));
  LC_TRY(copy_keys(keys, run_parts, result));
  return result;
}

}  // namespace lanecrypt
