// SPDX-License-Identifier: Apache-2.0
#include "job/cipher_job.h"

#include <cstring>
#include <string>
#include <unordered_map>

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

Status check_job(const lc_cipher_job *job) {
  if (job == nullptr) return wrong("no job was given");
  if (job->struct_size < sizeof(lc_cipher_job))
    return wrong("lc_cipher_job.struct_size is too small");
  if (const int cipher = number_of(job->cipher); cipher < LC_AES_ECB || cipher > LC_AES_CTR)
    return wrong("unknown cipher " + std::to_string(cipher));
  if (const int direction = number_of(job->direction);
      direction != LC_ENCRYPT && direction != LC_DECRYPT)
    return wrong("unknown direction " + std::to_string(direction));
  if (job->key_bytes != 16 && job->key_bytes != 24 && job->key_bytes != 32)
    return wrong("an AES key has 16, 24 or 32 bytes, not " + std::to_string(job->key_bytes));
  if (const int memory = number_of(job->memory);
      memory != LC_MEMORY_HOST && memory != LC_MEMORY_DEVICE)
    return wrong("unknown kind of memory " + std::to_string(memory));
  if (job->stream != nullptr && job->memory != LC_MEMORY_DEVICE)
    return wrong("a stream goes with device memory only");
  if (job->message_count != 0 && job->messages == nullptr) return wrong("no messages were given");
  if (job->message_count != 0 && job->message_size < sizeof(lc_message))
    return wrong("lc_cipher_job.message_size is too small");
  if (job->message_count > UINT32_MAX) return wrong("more than 2^32 - 1 messages");
  return Status();
}

Status check_message(const lc_cipher_job *job, const lc_message &message, size_t number) {
  const std::string which = "message " + std::to_string(number) + ": ";
  if (message.length == 0) return Status();
  if (message.key == nullptr) return wrong(which + "no key");
  if (job->cipher != LC_AES_ECB && message.iv == nullptr) return wrong(which + "no IV");
  if (message.in == nullptr || message.out == nullptr) return wrong(which + "no input or output");
  if (job->cipher != LC_AES_CTR && message.length % kBlockBytes != 0)
    return wrong(which + "its length, " + std::to_string(message.length) +
                 " bytes, is no multiple of 16");
  const uintptr_t in = reinterpret_cast<uintptr_t>(message.in);
  const uintptr_t out = reinterpret_cast<uintptr_t>(message.out);
  if (message.length > UINTPTR_MAX - in || message.length > UINTPTR_MAX - out)
    return wrong(which + "its length reaches past the end of memory");
  if (in != out && in < out + message.length && out < in + message.length)
    return wrong(which + "input and output overlap in part");
  return Status();
}

}  // namespace

Result<CipherJob> make_cipher_job(const lc_cipher_job *job) {
  LC_TRY(check_job(job));
  const auto message_at = [&](size_t n) {
    lc_message message;
    std::memcpy(&message, reinterpret_cast<const char *>(job->messages) + n * job->message_size,
                sizeof message);
    return message;
  };

  CipherJob result;
  result.kind = {job->cipher, job->cipher == LC_AES_CTR ? LC_ENCRYPT : job->direction,
                 job->key_bytes};
  result.memory = job->memory;
  result.device = job->device;
  result.stream = job->stream;
  result.bytes = 0;
  result.messages.reserve(job->message_count);

  std::unordered_map<const void *, uint32_t> slots;
  for (size_t n = 0; n < job->message_count; ++n) {
    const lc_message message = message_at(n);
    LC_TRY(check_message(job, message, n));
    if (message.length == 0) continue;
    if (message.length > UINT64_MAX / 2 - result.bytes) return wrong("too many bytes in one job");
    const uint32_t slot =
        slots.try_emplace(message.key, static_cast<uint32_t>(slots.size())).first->second;
    CipherMessage copy = {.key = slot,
                          .iv = {},
                          .in = static_cast<const uint8_t *>(message.in),
                          .out = static_cast<uint8_t *>(message.out),
                          .length = message.length};
    if (job->cipher != LC_AES_ECB) std::memcpy(copy.iv.data(), message.iv, copy.iv.size());
    result.messages.push_back(copy);
    result.bytes += message.length;
  }

  result.key_count = static_cast<uint32_t>(slots.size());
  result.keys = secure::KeyMemory(slots.size() * kKeySlotBytes);
  if (!result.keys.ok(slots.size() * kKeySlotBytes))
    return Status(LC_ERROR_MEMORY, "no memory for the keys");
  for (const auto &[key, slot] : slots)
    std::memcpy(result.keys.data() + slot * kKeySlotBytes, key, job->key_bytes);
  return result;
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

}  // namespace lanecrypt
