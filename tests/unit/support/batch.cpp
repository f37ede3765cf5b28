// SPDX-License-Identifier: Apache-2.0
#include "batch.h"

#include <algorithm>
#include <stdexcept>

#include "job/cipher/cipher_info.h"

namespace lanecrypt::test {
namespace {

constexpr uint64_t kCanaryBytes = 64;

uint64_t up_to_16(uint64_t offset) { return (offset + 15) / 16 * 16; }

}  // namespace

std::string data_memory_name(DataMemory data_memory) {
  switch (data_memory) {
    case DataMemory::kHost:
      return "host memory";
    case DataMemory::kPinned:
      return "pinned memory";
    default:
      return "device memory";
  }
}

std::string BatchShape::name() const {
  std::string text = cipher_name(cipher, key_bytes) +
                     (direction == LC_ENCRYPT ? " encryption of " : " decryption of ") +
                     std::to_string(messages.size()) + " messages in " +
                     data_memory_name(data_memory);
  if (data_unit_bytes != 0) text += ", data units of " + std::to_string(data_unit_bytes) + " bytes";
  if (messages.size() == 1)
    text += ", " + std::to_string(messages[0].length) + " bytes" +
            (messages[0].in_place ? " in place" : " apart") + ", alignments " +
            std::to_string(messages[0].in_alignment) + ", " +
            std::to_string(messages[0].out_alignment);
  return text;
}

Batch::Batch(lc_context *context, const BatchShape &shape, Random &random)
    : context_(context), shape_(shape) {
  uint64_t at = kCanaryBytes;
  uint32_t keys = 1;
  for (const MessageShape &message : shape.messages) {
    in_offsets_.push_back(at + message.in_alignment);
    at = up_to_16(in_offsets_.back() + message.length) + kCanaryBytes;
    if (message.in_place) {
      out_offsets_.push_back(in_offsets_.back());
    } else {
      out_offsets_.push_back(at + message.out_alignment);
      at = up_to_16(out_offsets_.back() + message.length) + kCanaryBytes;
    }
    keys = std::max(keys, message.key + 1);
  }
  before_.resize(at);
  random.fill(before_.data(), at);
  keys_.resize(64 * keys);
  random.fill(keys_.data(), keys_.size());
  ivs_.resize(16 * shape.messages.size());
  if (!ivs_.empty()) random.fill(ivs_.data(), ivs_.size());
  allocate(at);
  finish();
}

Batch::~Batch() {
  if (shape_.data_memory == DataMemory::kPinned) lc_free_pinned(context_, arena_);
  if (shape_.data_memory == DataMemory::kDevice && arena_) lc_free_device(context_, 0, arena_);
}

void Batch::allocate(uint64_t bytes) {
  void *memory = nullptr;
  if (shape_.data_memory == DataMemory::kHost) {
    host_.resize(bytes + 16);
    memory = host_.data() + (-reinterpret_cast<uintptr_t>(host_.data()) & 15);
  } else if (shape_.data_memory == DataMemory::kPinned
                 ? lc_alloc_pinned(context_, bytes, &memory) != LC_OK
                 : lc_alloc_device(context_, 0, bytes, &memory) != LC_OK) {
    throw std::runtime_error("no " + data_memory_name(shape_.data_memory) + ": " + lc_last_error());
  }
  arena_ = static_cast<uint8_t *>(memory);
}

void Batch::store(const Bytes &image) {
  if (shape_.data_memory != DataMemory::kDevice)
    std::copy(image.begin(), image.end(), arena_);
  else if (lc_copy_to_device(context_, 0, arena_, image.data(), image.size()) != LC_OK)
    throw std::runtime_error(std::string("copy to the device: ") + lc_last_error());
}

Bytes Batch::load() const {
  if (shape_.data_memory != DataMemory::kDevice) return Bytes(arena_, arena_ + before_.size());
  Bytes image(before_.size());
  if (lc_copy_from_device(context_, 0, image.data(), arena_, image.size()) != LC_OK)
    throw std::runtime_error(std::string("copy from the device: ") + lc_last_error());
  return image;
}

void Batch::finish() {
  after_ = before_;
  messages_.clear();
  for (size_t n = 0; n < shape_.messages.size(); n++) {
    const MessageShape &message = shape_.messages[n];
    const uint8_t *key = keys_.data() + 64 * message.key;
    reference_crypt({shape_.cipher, shape_.direction, shape_.key_bytes, shape_.data_unit_bytes},
                    key, iv(n), input(n), after_.data() + out_offsets_[n], message.length);
    messages_.push_back(plain_message(key, shape_.cipher == LC_AES_ECB ? nullptr : iv(n),
                                      address(in_offsets_[n]), address(out_offsets_[n]),
                                      message.length));
  }
  store(before_);
}

lc_cipher_job Batch::job() const {
  lc_cipher_job job{};
  job.struct_size = sizeof job;
  job.cipher = shape_.cipher;
  job.direction = shape_.direction;
  job.key_bytes = shape_.key_bytes;
  job.memory = shape_.data_memory == DataMemory::kDevice ? LC_MEMORY_DEVICE : LC_MEMORY_HOST;
  job.device = LC_ANY_DEVICE;
  job.messages = messages_.data();
  job.message_count = messages_.size();
  job.message_size = sizeof(lc_message);
  job.data_unit_bytes = shape_.data_unit_bytes;
  return job;
}

uint64_t Batch::bytes() const {
  uint64_t bytes = 0;
  for (const MessageShape &message : shape_.messages) bytes += message.length;
  return bytes;
}

std::string Batch::check() {
  const Bytes now = load();
  if (now == after_) return "";
  uint64_t at = std::mismatch(now.begin(), now.end(), after_.begin()).first - now.begin();
  std::string where = "outside every message";
  for (size_t n = 0; n < shape_.messages.size(); n++) {
    uint64_t length = shape_.messages[n].length;
    if (at - in_offsets_[n] < length)
      where = "in the input of message " + std::to_string(n) + ", byte " +
              std::to_string(at - in_offsets_[n]) + " of " + std::to_string(length);
    if (at - out_offsets_[n] < length)
      where = "in the output of message " + std::to_string(n) + ", byte " +
              std::to_string(at - out_offsets_[n]) + " of " + std::to_string(length);
  }
  return "the first wrong byte is " + where;
}

std::string Batch::check_pieces_or_untouched() {
  const Bytes now = load();
  Bytes rest = now;
  for (size_t n = 0; n < shape_.messages.size(); n++) {
    const uint64_t begin = out_offsets_[n], length = shape_.messages[n].length;
    for (uint64_t block = 0; block < length; block += 16) {
      auto at = now.begin() + begin + block, end = at + std::min<uint64_t>(16, length - block);
      if (!std::equal(at, end, before_.begin() + begin + block) &&
          !std::equal(at, end, after_.begin() + begin + block))
        return "block " + std::to_string(block / 16) + " of message " + std::to_string(n) +
               " is neither its answer nor untouched";
    }
    std::copy_n(before_.begin() + begin, length, rest.begin() + begin);
  }
  return rest == before_ ? "" : "bytes outside every output have changed";
}

BatchShape random_shape(Random &random, uint64_t most_messages, uint64_t most_bytes) {
  BatchShape shape;
  const std::vector<lc_cipher> modes = plain_modes();
  shape.cipher = modes[random.below(modes.size())];
  shape.direction = static_cast<lc_direction>(random.below(2));
  const std::vector<uint32_t> sizes = key_sizes(shape.cipher);
  shape.key_bytes = sizes[random.below(sizes.size())];
  if (cipher_info(shape.cipher).has_data_units() && random.below(4) != 0)
    shape.data_unit_bytes = random.below(2) ? 16 + random.below(1000) : 16 * (1 + random.below(64));
  shape.data_memory = static_cast<DataMemory>(random.below(3));
  uint64_t count = 1 + random.below(most_messages);
  uint64_t keys = 1 + random.below(count);
  for (uint64_t n = 0; n < count; n++) {
    MessageShape message;
    message.length =
        allowed_length(shape.cipher, shape.data_unit_bytes, random.below(most_bytes + 1));
    message.in_alignment = static_cast<uint32_t>(random.below(16));
    message.out_alignment = static_cast<uint32_t>(random.below(16));
    message.in_place = random.below(2) == 0;
    message.key = static_cast<uint32_t>(random.below(keys));
    shape.messages.push_back(message);
  }
  return shape;
}

}  // namespace lanecrypt::test
