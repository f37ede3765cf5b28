// Objects that users of a key attach to it for its lifetime.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace lanecrypt {

class KeyAttachment {
 public:
  // `owner` is a number that is unique among users of keys.
  explicit KeyAttachment(uint64_t owner) : owner_(owner) {}
  virtual ~KeyAttachment() = default;
  KeyAttachment(const KeyAttachment &) = delete;

 private:
  friend class KeyAttachments;
  const uint64_t owner_;
  KeyAttachment *next_ = nullptr;
};

// `KeyAttachments` is all objects attached to one key. Thread-safe, and safe in a child of fork():
// there is no lock.
class KeyAttachments {
 public:
  KeyAttachments() = default;
  ~KeyAttachments();
  KeyAttachments(const KeyAttachments &) = delete;

  // Returns the owner's object, or nullptr.
  KeyAttachment *of(uint64_t owner) const;
  // Attaches an object, unless its owner has attached one already. Returns the attached object.
  KeyAttachment *keep(std::unique_ptr<KeyAttachment> what);

 private:
  std::atomic<KeyAttachment *> first_{nullptr};
};

}  // namespace lanecrypt
