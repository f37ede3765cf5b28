// The service's end of a channel, and the request that is under way on it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

#include "lanecrypt/lanecrypt.h"
#include "secure/key_memory.h"
#include "service/daemon/quota.h"
#include "service/daemon/system/descriptor.h"
#include "service/daemon/work/fair_queue.h"
#include "service/wire/operation_kind.h"
#include "service/wire/packets.h"

namespace lanecrypt::service::daemon {

struct Counters;
class Key;
class Session;

// A request of the client. From begin() to end() it belongs to the thread that processes it.
struct Request {
  Kind kind = Kind::kRsaPrivate;
  // For an operation with a key:
  std::shared_ptr<Key> key;
  OperationKind operation_kind;  // RSA: until the key is found, the size is that of the input
  uint32_t load = 0;             // operations in the service at its arrival, with this one
  size_t cost = 0;               // its share of kWindow
  Clock::time_point given;       // when the library got it
  lc_result result = {};
  // For kRsaGenerate:
  uint32_t bits = 0;
  uint32_t exponent_bytes = 0;
  std::array<uint8_t, 32> exponent = {};
};

class Channel : public Waiting, public std::enable_shared_from_this<Channel> {
 public:
  Channel(std::shared_ptr<Session> session, Descriptor socket, Quota of_user,
          DescriptorQuota descriptor, Counters &counters);
  ~Channel();
  Channel(const Channel &) = delete;

  const std::shared_ptr<Session> session;
  int socket() const { return socket_.get(); }

  // ---- The thread that receives its packets ----
  // Returns whether no request is under way. If another thread is sending an answer, waits until
  // that is over: a fast client may send its next request before end() returns.
  bool is_idle();
  // Starts a request. The channel keeps itself alive until end().
  void begin(Kind kind);
  // Copies the input, and reserves room for a short output. Returns false if there is no memory.
  bool keep_input(std::span<const uint8_t> input, size_t output_bytes);
  // Notes that the client has closed its end.
  void note_gone() { is_gone_.store(true, std::memory_order_relaxed); }

  // ---- The thread that processes the request ----
  Request request;
  uint8_t *data() { return memory_.data(); }
  // Makes room for the output. Returns false if there is no memory. A short output overwrites the
  // input. A long one is a signature of SLH-DSA, which is not secret, and has memory only while the
  // library has the operation: otherwise clients could make channels hold any amount of it.
  bool make_room_for_output();
  std::span<uint8_t> output() {
    return {long_output_ == nullptr ? memory_.data() : long_output_.get(), output_bytes_};
  }
  bool is_gone() const { return is_gone_.load(std::memory_order_relaxed); }

  // Sends the answer unless the session or the client has ended, wipes the secrets, and makes the
  // channel idle. If nothing else uses the channel, it is destroyed with the result.
  struct Ended {
    std::shared_ptr<Channel> channel;
    // The answer had no room, since the client has not read earlier ones.
    bool is_full = false;
  };
  Ended end(std::span<const std::span<const uint8_t>> answer);

  // ---- Any thread ----
  // Sends kStillAtWork if a search for a key is under way.
  void say_still_at_work();

  // The channel's thread and its slot there. Only ChannelThreads uses them.
  size_t thread = 0, slot = SIZE_MAX;

 private:
  const Quota of_user_;
  const DescriptorQuota descriptor_;
  Counters &counters_;
  const Descriptor socket_;
  std::mutex mutex_;  // protects is_busy_ and the order of sent packets
  bool is_busy_ = false;
  std::atomic<bool> is_gone_ = false;
  std::shared_ptr<Channel> itself_;  // set while a request is under way
  secure::KeyMemory memory_;
  size_t used_ = 0;  // bytes of memory_ to wipe
  size_t output_bytes_ = 0;
  std::unique_ptr<uint8_t[]> long_output_;
};

}  // namespace lanecrypt::service::daemon
