// SPDX-License-Identifier: Apache-2.0
#include "job/key_attachment.h"

namespace lanecrypt {

KeyAttachments::~KeyAttachments() {
  for (KeyAttachment *at = first_.load(), *next; at != nullptr; at = next) {
    next = at->next_;
    delete at;
  }
}

KeyAttachment *KeyAttachments::of(uint64_t owner) const {
  KeyAttachment *at = first_.load(std::memory_order_acquire);
  while (at != nullptr && at->owner_ != owner) at = at->next_;
  return at;
}

KeyAttachment *KeyAttachments::keep(std::unique_ptr<KeyAttachment> what) {
  KeyAttachment *first = first_.load(std::memory_order_acquire);
  do {
    // Another thread may have been faster.
    if (KeyAttachment *const its = of(what->owner_); its != nullptr) return its;
    what->next_ = first;
  } while (!first_.compare_exchange_weak(first, what.get(), std::memory_order_acq_rel));
  return what.release();
}

}  // namespace lanecrypt
