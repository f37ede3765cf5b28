// The threads that receive the packets on channels.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "service/daemon/client/channel.h"
#include "service/daemon/system/descriptor.h"

namespace lanecrypt::service::daemon {

struct Service;

// One thread adds channels. Any thread may remove them.
class ChannelThreads {
 public:
  explicit ChannelThreads(Service &service) : service_(service) {}
  ~ChannelThreads() { stop(); }
  // Starts the threads. Throws Failure.
  void start(size_t threads);
  void stop();

  // Assigns the channel to a thread. Returns false if epoll cannot watch one more descriptor.
  bool add(const std::shared_ptr<Channel> &channel);
  // Receives nothing more on the channel, except for a packet that a thread is receiving now.
  void remove(Channel &channel);

 private:
  struct Entry {
    std::shared_ptr<Channel> channel;
    // Incremented when the slot's channel changes. An event that was fetched before has the old
    // number and is ignored.
    uint32_t number = 0;
  };
  struct Thread {
    Descriptor events, wake;
    // Keys and inputs pass through this buffer, so it is locked and wiped.
    secure::KeyMemory buffer{kMostPacketBytes};
    std::mutex mutex;  // protects the members below
    std::vector<Entry> entries;
    std::vector<size_t> free;
    std::thread thread;
  };

  void run(Thread &thread);
  std::shared_ptr<Channel> find(Thread &thread, uint64_t tag);
  void serve(const std::shared_ptr<Channel> &channel, uint32_t events, std::span<uint8_t> buffer);

  Service &service_;
  size_t next_ = 0;  // index of the next client's first thread
  std::atomic<bool> stopping_ = false;
  std::vector<std::unique_ptr<Thread>> threads_;
};

}  // namespace lanecrypt::service::daemon
