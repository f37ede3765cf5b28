// The threads that receive what clients send on their channels.
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

// One thread adds channels, and any may remove them.
class ChannelThreads {
 public:
  explicit ChannelThreads(Service &service) : service_(service) {}
  ~ChannelThreads() { stop(); }
  // Throws Failure.
  void start(size_t threads);
  void stop();

  // False where the system cannot watch one more.
  bool add(const std::shared_ptr<Channel> &channel);
  // Nothing of it is received any more, but what is just being received.
  void remove(Channel &channel);

 private:
  struct Place {
    std::shared_ptr<Channel> channel;
    // Of the channel in it. An event that was taken before a channel went names another one.
    uint32_t number = 0;
  };
  struct Thread {
    Descriptor events, wake;
    // Keys and inputs pass through it.
    secure::KeyMemory buffer{kMostPacketBytes};
    std::mutex mutex;  // of what is below
    std::vector<Place> places;
    std::vector<size_t> free;
    std::thread thread;
  };

  void run(Thread &thread);
  std::shared_ptr<Channel> find(Thread &thread, uint64_t tag);
  void serve(const std::shared_ptr<Channel> &channel, uint32_t events, std::span<uint8_t> buffer);

  Service &service_;
  size_t next_ = 0;  // where the next client's channels begin
  std::atomic<bool> stopping_ = false;
  std::vector<std::unique_ptr<Thread>> threads_;
};

}  // namespace lanecrypt::service::daemon
