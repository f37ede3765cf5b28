// Shares what is open of a device within the process: a caller that opens it while others have it
// open gets the same object. The last owner's release destroys it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "job/status.h"
#include "process/of_process.h"

namespace lanecrypt::device {

// Thread-safe. Objects of this class must be static, like the process-wide state they hold. A child
// of fork() shares nothing with its parent.
template <typename Key, typename T>
class OpenOnce {
 public:
  // Returns the object that is open for `key`, or the result of `open`, a
  // Result<std::shared_ptr<T>>. A caller that wants the same key while it is being opened waits for
  // it.
  template <typename Open>
  Result<std::shared_ptr<T>> get(const Key &key, Open open) {
    Entry &entry = all_.get().at(key);
    const std::lock_guard lock(entry.mutex);
    if (std::shared_ptr<T> shared = entry.open.lock()) return shared;
    Result<std::shared_ptr<T>> made = open();
    if (made.ok()) entry.open = *made;
    return made;
  }

 private:
  struct Entry {
    std::mutex mutex;
    std::weak_ptr<T> open;
  };
  struct All {
    Entry &at(const Key &key) {
      const std::lock_guard lock(mutex);
      return entries[key];  // the address of a map's entry does not change
    }
    std::mutex mutex;
    std::map<Key, Entry> entries;
  };

  process::OfProcess<All> all_;
};

}  // namespace lanecrypt::device
