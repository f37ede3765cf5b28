// What is open of a device, once in a process: who opens it while others have it open shares
// it with them. It goes with the last of them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "job/status.h"
#include "process/of_process.h"

namespace lanecrypt::device {

// Any thread. Static, as what it has of the process. A child of fork shares nothing with its
// parent.
template <typename Key, typename T>
class OpenOnce {
 public:
  // What is open, or what `open` makes: a Result<std::shared_ptr<T>>. Who wants the same
  // while it is being opened waits for that.
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
      return entries[key];  // stays where it is
    }
    std::mutex mutex;
    std::map<Key, Entry> entries;
  };

  process::OfProcess<All> all_;
};

}  // namespace lanecrypt::device
