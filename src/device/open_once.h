// What is open of a device, once in a process: who opens it while others have it open shares
// it with them. It goes with the last of them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>

#include "job/status.h"
#include "process/forks.h"

namespace lanecrypt::device {

// Any thread. It must never be destroyed: threads may outlive the process's static objects. A
// child of fork shares nothing with its parent.
template <typename Key, typename T>
class OpenOnce {
 public:
  // What is open, or what `open` makes: a Result<std::shared_ptr<T>>. Who wants the same
  // while it is being opened waits for that.
  template <typename Open>
  Result<std::shared_ptr<T>> get(const Key &key, Open open) {
    Entry &entry = of_process().at(key);
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
    const uint64_t born_in = process::forks();
    std::mutex mutex;
    std::map<Key, Entry> entries;
  };

  All &of_process() {
    All *known = all_.load();
    if (known != nullptr && known->born_in == process::forks()) return *known;
    auto made = std::make_unique<All>();
    // What a child inherits it leaves as it is: it may be locked.
    if (all_.compare_exchange_strong(known, made.get())) return *made.release();
    return *known;
  }

  std::atomic<All *> all_{nullptr};
};

}  // namespace lanecrypt::device
