// SPDX-License-Identifier: Apache-2.0
#include "job/cipher/cipher_check.h"

#include <cstddef>
#include <string>
#include <utility>

#include "job/cipher/cipher_job.h"
#include "job/enum_number.h"
#include "job/read_struct.h"

namespace lanecrypt {
namespace {

// The size of the struct in version 0.1.
constexpr size_t kLeastMessageBytes = offsetof(lc_message, aad);

std::string key_sizes_of(const CipherInfo &info) {
  std::string sizes;
  for (const uint32_t bytes : {16, 24, 32})
    if (info.takes_key(bytes * info.keys))
      sizes += (sizes.empty() ? ""
                : bytes == 32 ? " or "
                              : ", ") +
               std::to_string(bytes * info.keys);
  return sizes;
}

// Checks the lengths of IVs and tags: SP 800-38D, section 5.2.1; SP 800-38C, Appendix A.1; RFC
// 8439, section 2.8.
Status check_aead(const lc_cipher_job &job, const CipherInfo &info) {
  const uint32_t iv_bytes = job.iv_bytes, tag_bytes = job.tag_bytes;
  const bool ccm = info.mode == Mode::kCcm, gcm = info.mode == Mode::kGcm;
  if (iv_bytes != 0 && (ccm ? iv_bytes < 7 || iv_bytes > 13 : !gcm && iv_bytes != 12))
    return wrong_argument("an IV of " + std::string(info.title) + " has " +
                          (ccm ? "7 to 13" : "12") + " bytes, not " + std::to_string(iv_bytes));
  const bool is_tag = ccm ? tag_bytes >= 4 && tag_bytes <= 16 && tag_bytes % 2 == 0
                      : gcm
                          ? tag_bytes == 4 || tag_bytes == 8 || (tag_bytes >= 12 && tag_bytes <= 16)
                          : tag_bytes == 16;
  if (tag_bytes != 0 && !is_tag)
    return wrong_argument("a tag of " + std::string(info.title) + " has " +
                          (ccm   ? "4, 6, 8, 10, 12, 14 or 16"
                           : gcm ? "4, 8 or 12 to 16"
                                 : "16") +
                          " bytes, not " + std::to_string(tag_bytes));
  return Status();
}

Status check_mode(const lc_cipher_job &job) {
  const CipherInfo &info = cipher_info(job.cipher);
  if (!info.takes_key(job.key_bytes))
    return wrong_argument(
        "a key of " +
        (info.block != nullptr ? std::string(info.block->title) + "-" : std::string()) +
        info.title + " has " + key_sizes_of(info) + " bytes, not " + std::to_string(job.key_bytes));
  if (info.is_aead) LC_TRY(check_aead(job, info));
  if (!info.is_aead && job.iv_bytes != 0 && job.iv_bytes != info.iv_bytes)
    return wrong_argument("an IV of " + std::string(info.title) + " has " +
                          std::to_string(info.iv_bytes) + " bytes, not " +
                          std::to_string(job.iv_bytes));
  if (info.has_data_units() && job.data_unit_bytes != 0 &&
      (job.data_unit_bytes < kBlockBytes || job.data_unit_bytes > kMostDataUnitBytes))
    return wrong_argument("a data unit has 16 bytes to 16 MiB, not " +
                          std::to_string(job.data_unit_bytes) + " bytes");
  return Status();
}

// Checks tags and verdicts that the host does not see.
Status check_device_tags(const lc_cipher_job &job, const CipherInfo &info) {
  const lc_memory where = info.is_aead ? tag_memory_of(job) : job.tag_memory;
  const uint32_t memory = enum_number(where);
  if (memory != LC_MEMORY_HOST && memory != LC_MEMORY_DEVICE)
    return wrong_argument("unknown kind of memory " + std::to_string(memory) + " of tags");
  const bool on_device = memory == LC_MEMORY_DEVICE, opens = job.direction == LC_DECRYPT;
  if (!on_device && job.verdicts == nullptr) return Status();
  const std::string what = on_device ? "tags in device memory" : "verdicts";
  if (!info.is_aead) return wrong_argument(std::string(info.title) + " has no tags");
  if (job.memory != LC_MEMORY_DEVICE)
    return wrong_argument(what + " go with messages in device memory only");
  if (!opens && job.verdicts != nullptr) return wrong_argument("verdicts go with decryption only");
  if (opens && job.verdicts == nullptr)
    return wrong_argument("tags in device memory need verdicts");
  if (job.message_status != nullptr)
    return wrong_argument(what + " tell the host no status of a message");
  return Status();
}

// Checks a job whose input the host cannot read: a chunk must need nothing of what precedes it.
Status check_download(const lc_cipher_job &job, const CipherInfo &info) {
  const bool needs_nothing = info.continuation == Continuation::kNothing ||
                             info.continuation == Continuation::kCounter ||
                             info.continuation == Continuation::kDataUnits ||
                             info.continuation == Continuation::kChaChaCounter ||
                             info.continuation == Continuation::kMessage;
  if (needs_nothing && !info.is_chain(job.direction)) return Status();
  return Status(LC_ERROR_UNSUPPORTED,
                std::string(info.title) + " does not go from a device's memory to the host's");
}

Status check_aead_part(const lc_cipher_job &job, const CipherInfo &info,
                       const lc_message &message) {
  if (info.continuation != Continuation::kMessage)
    return wrong_argument(std::string("a message of ") + info.title + " has no parts");
  if (job.memory != LC_MEMORY_HOST)
    return Status(LC_ERROR_UNSUPPORTED, "parts of messages are for host memory only");
  if (message.aad_length != 0) return wrong_argument("a part has no additional data");
  if (message.part->text_before % (info.is_block_cipher() ? kBlockBytes : kChaChaBlockBytes) != 0)
    return wrong_argument("its part does not begin with a block");
  return Status();
}

}  // namespace

lc_memory tag_memory_of(const lc_cipher_job &job) {
  const lc_segments *const segments = job.segments;
  const bool has_tags = segments == nullptr || segments->struct_size < kLeastSegmentsBytes ||
                        segments->tags != nullptr;
  if (has_tags || job.memory != LC_MEMORY_DEVICE_TO_HOST)
    return has_tags ? job.tag_memory : job.memory;
  return job.direction == LC_ENCRYPT ? LC_MEMORY_HOST : LC_MEMORY_DEVICE;
}

Status check_job(const lc_cipher_job &job) {
  if (const uint32_t cipher = enum_number(job.cipher); cipher >= kCipherInfoCount)
    return wrong_argument("unknown cipher " + std::to_string(cipher));
  if (const uint32_t direction = enum_number(job.direction);
      direction != LC_ENCRYPT && direction != LC_DECRYPT)
    return wrong_argument("unknown direction " + std::to_string(direction));
  LC_TRY(check_mode(job));
  if (const uint32_t memory = enum_number(job.memory);
      memory != LC_MEMORY_HOST && memory != LC_MEMORY_DEVICE && memory != LC_MEMORY_DEVICE_TO_HOST)
    return wrong_argument("unknown kind of memory " + std::to_string(memory));
  if (job.memory == LC_MEMORY_DEVICE_TO_HOST) LC_TRY(check_download(job, cipher_info(job.cipher)));
  if (job.stream != nullptr && job.memory == LC_MEMORY_HOST)
    return wrong_argument("a stream goes with device memory only");
  LC_TRY(check_device_tags(job, cipher_info(job.cipher)));
  if (job.message_count != 0 && job.messages == nullptr)
    return wrong_argument("no messages were given");
  if (job.message_count != 0 && job.message_size < kLeastMessageBytes)
    return wrong_argument("lc_cipher_job.message_size is too small");
  if (job.message_count > UINT32_MAX) return wrong_argument("more than 2^32 - 1 messages");
  return Status();
}

MessageRules::MessageRules(const lc_cipher_job &job)
    : job_(&job),
      info_(&cipher_info(job.cipher)),
      has_iv_(info_->iv_bytes != 0),
      suspects_ecb_(job.cipher == LC_AES_ECB && job.struct_size > kSizeInVersion01<lc_cipher_job>),
      granule_bytes_(info_->granule_bytes),
      least_bytes_(info_->least_bytes) {
  if (!info_->has_data_units()) return;
  unit_bytes_ = job.data_unit_bytes;
  if (unit_bytes_ == 0) most_bytes_ = kMostDataUnitBytes;
}

Status MessageRules::say(Fault fault, const lc_message &message) const {
  const auto wrong_length = [&](const std::string &what) {
    return wrong_argument("its length, " + std::to_string(message.length) + " bytes, is " + what);
  };
  switch (fault) {
    case Fault::kNone:
      break;
    case Fault::kNoKey:
      return wrong_argument("no key");
    case Fault::kNoIv:
      return wrong_argument("no IV");
    case Fault::kNoData:
      return wrong_argument("no input or output");
    case Fault::kGranule:
      return wrong_length("no multiple of " + std::to_string(granule_bytes_));
    case Fault::kShort:
      return wrong_length("less than " + std::to_string(least_bytes_));
    case Fault::kLongUnit:
      return wrong_length("more than a data unit may have (16 MiB)");
    case Fault::kShortUnit:
      return wrong_length("such that the last data unit has less than 16");
    case Fault::kPastMemory:
      return wrong_argument("its length reaches past the end of memory");
    case Fault::kOverlap:
      return wrong_argument("input and output overlap in part");
    case Fault::kNotEcb:
      return wrong_argument(
          "AES-ECB has neither a tag nor additional data (0 in lc_cipher_job.cipher is AES-ECB)");
  }
  return Status();
}

// An authenticated message, whose text may be empty. CCM bounds the text by the bytes that the
// nonce leaves for its length.
Status MessageRules::check_aead(const lc_message &message) const {
  const lc_cipher_job &job = *job_;
  const CipherInfo &info = *info_;
  if (message.key == nullptr) return wrong_argument("no key");
  if (message.iv == nullptr) return wrong_argument("no IV");
  if (message.part != nullptr) LC_TRY(check_aead_part(job, info, message));
  if (message.tag == nullptr && message.part == nullptr)
    return wrong_argument("no tag, or no place for it");
  if (message.aad_length != 0 && message.aad == nullptr)
    return wrong_argument("no additional data");
  if (message.aad_length > UINT64_MAX / 16)
    return wrong_argument("its additional data are too long");
  const uint64_t before = message.part == nullptr ? 0 : message.part->text_before;
  if (before > info.most_text_bytes || message.length > info.most_text_bytes - before)
    return wrong_argument("its length is more than the mode allows under one IV");
  if (info.mode == Mode::kCcm) {
    const uint32_t length_bytes = 15 - (job.iv_bytes == 0 ? info.iv_bytes : job.iv_bytes);
    if (length_bytes < 8 && message.length >> (8 * length_bytes) != 0)
      return wrong_argument("its length does not fit in the bytes that its nonce leaves");
  }
  return Status();
}

}  // namespace lanecrypt
