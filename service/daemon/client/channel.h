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
#include "service/daemon/seat.h"
#include "service/daemon/system/descriptor.h"
#include "service/daemon/work/turns.h"
#include "service/wire/packets.h"
#include "service/wire/sort.h"

namespace lanecrypt::service::daemon {

struct Counters;
class Key;
class Session;

// What the client wants. It belongs to whoever has the request, from begin() to end().
struct Request {
  Kind kind = Kind::kRsaPrivate;
  // Of an operation with a key:
  std::shared_ptr<Key> key;
  Sort sort;                // of RSA before the key is found, by the input's length
  uint32_t load = 0;        // such operations in the service when it came, this one included
  size_t cost = 0;          // of the library's window
  Clock::time_point given;  // to the library
  lc_result result = {};
  // kRsaGenerate:
  uint32_t bits = 0;
  uint32_t exponent_bytes = 0;
  std::array<uint8_t, 32> exponent = {};
};

class Channel : public Waiting, public std::enable_shared_from_this<Channel> {
 public:
  Channel(std::shared_ptr<Session> session, Descriptor socket, Seat of_user,
          DescriptorSeats descriptor, Counters &counters);
  ~Channel();
  Channel(const Channel &) = delete;

  const std::shared_ptr<Session> session;
  int socket() const { return socket_.get(); }

  // ---- The thread that receives its packets ----
  // Waits for the end of an answer that is being sent: the client may be as quick.
  bool is_idle();
  // A request has come. The channel stays until end().
  void begin(Kind kind);
  // Keeps the input. False where there is no memory.
  bool keep_input(std::span<const uint8_t> input, size_t output_bytes);
  // Nobody is at the other end any more.
  void note_gone() { is_gone_.store(true, std::memory_order_relaxed); }

  // ---- Whoever has the request ----
  Request request;
  uint8_t *data() { return memory_.data(); }
  // Makes room for the output. A short one goes where the input is. A long one, which is a
  // signature of SLH-DSA and no secret, has memory only while the library has the operation, or
  // channels would hold as much of it as their clients like. False where there is none.
  bool make_room_for_output();
  std::span<uint8_t> output() {
    return {long_output_ == nullptr ? memory_.data() : long_output_.get(), output_bytes_};
  }
  bool is_gone() const { return is_gone_.load(std::memory_order_relaxed); }

  // Sends the answer if its session still wants it, wipes what was secret, and is idle again.
  // If this was the last use of the channel, it goes when the result goes.
  struct Ended {
    std::shared_ptr<Channel> channel;
    // The client reads so little that the answer has no room.
    bool is_full = false;
  };
  Ended end(std::span<const std::span<const uint8_t>> answer);

  // ---- Any thread ----
  // If a search is under way, tells the client so.
  void say_still_at_work();

  // Its place among the channel threads: theirs alone.
  size_t thread = 0, slot = SIZE_MAX;

 private:
  const Seat of_user_;
  const DescriptorSeats descriptor_;
  Counters &counters_;
  const Descriptor socket_;
  std::mutex mutex_;  // of is_busy_, and of sending
  bool is_busy_ = false;
  std::atomic<bool> is_gone_ = false;
  std::shared_ptr<Channel> itself_;  // while it has a request
  secure::KeyMemory memory_;
  size_t used_ = 0;  // bytes of it
  size_t output_bytes_ = 0;
  std::unique_ptr<uint8_t[]> long_output_;
};

}  // namespace lanecrypt::service::daemon
