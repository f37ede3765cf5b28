// What users of a key attach to it for as long as it lives.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace lanecrypt {

class KeyAttachment {
 public:
  // owner: a number that no other user of keys has.
  explicit KeyAttachment(uint64_t owner) : owner_(owner) {}
  virtual ~KeyAttachment() = default;
  KeyAttachment(const KeyAttachment &) = delete;

 private:
  friend class KeyAttachments;
  const uint64_t owner_;
  KeyAttachment *next_ = nullptr;
};

// All that is attached to one key. Any thread, and a child of fork too: there is no lock.
class KeyAttachments {
 public:
  KeyAttachments() = default;
  ~KeyAttachments();
  KeyAttachments(const KeyAttachments &) = delete;

  // What this owner keeps, or nullptr.
  KeyAttachment *of(uint64_t owner) const;
  // Keeps it, unless its owner keeps something already. Returns what he has then.
  KeyAttachment *keep(std::unique_ptr<KeyAttachment> what);

 private:
  std::atomic<KeyAttachment *> first_{nullptr};
};

}  // namespace lanecrypt
