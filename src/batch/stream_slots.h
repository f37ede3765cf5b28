// Where the batches of one device run: each has streams of its own, so that small ones share
// the device, their events, and its family's memory.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "device/device.h"
#include "thread/stuck.h"

namespace lanecrypt::runtime {

// One thread: that of the device. A `Workspace` is what a family keeps for the launches of one
// batch after the other.
template <class Workspace>
class StreamSlots {
 public:
  struct Slot {
    // What comes before and after kernels that take long has a stream that goes first:
    // else it would wait for those of all batches. None where streams are all alike.
    std::unique_ptr<device::Stream> long_stream, urgent_stream;
    std::unique_ptr<device::Event> turn;  // by which the two wait for each other
    std::unique_ptr<device::Event> sent;  // what the batch sends
    std::unique_ptr<device::Event> done;  // the batch
    Workspace workspace;

    device::Stream &last() { return urgent_stream != nullptr ? *urgent_stream : *long_stream; }
  };
  using SlotPointer = std::unique_ptr<Slot>;
  // Zeroes all of a workspace's memory on the device, in a stream. Not waited for.
  using WipeDevice = std::function<void(device::Stream &, Workspace &)>;

  StreamSlots(device::Device &device, std::chrono::milliseconds time_limit, WipeDevice wipe)
      : device_(device), time_limit_(time_limit), wipe_(std::move(wipe)) {}
  // Nothing may be under way.
  ~StreamSlots() {
    // A launch that failed has left there what others zero themselves.
    for (const SlotPointer &slot : free_) {
      try {
        wipe_(slot->last(), slot->workspace);
        (void)slot->last().finish();
      } catch (const std::exception &) {
        // Want of memory, which must not end the process.
      }
    }
  }

  // A free one, for a batch. It comes back by give_back().
  Result<SlotPointer> take() {
    if (free_.empty()) {
      Result<SlotPointer> made = make();
      if (!made.ok()) return made;
      // So that give_back() wants no memory.
      const size_t all = free_.size() + stuck_.size() + under_way_ + 1;
      free_.reserve(all);
      stuck_.reserve(all);
      free_.push_back(std::move(*made));
    }
    SlotPointer slot = std::move(free_.back());
    free_.pop_back();
    ++under_way_;
    return slot;
  }
  // is_over: nothing uses it any more. Otherwise it stays, as does what it was made of:
  // see is_stuck().
  void give_back(SlotPointer slot, bool is_over) noexcept {
    --under_way_;
    (is_over ? free_ : stuck_).push_back(std::move(slot));
  }

  // A slot in which a batch is being started. Unless the batch takes it, it goes back: even if
  // memory is wanting, what was begun must not use the workspace any more, nor leave secrets there.
  class Starting {
   public:
    // Wipes what a workspace has on the host. It keeps at most a reference, which needs no memory.
    using WipeHost = std::function<void(Workspace &)>;
    Starting(StreamSlots &slots, SlotPointer slot, WipeHost wipe_host)
        : slots_(slots), slot_(std::move(slot)), wipe_host_(std::move(wipe_host)) {}
    ~Starting() { (void)give_up(); }
    Starting(const Starting &) = delete;
    Slot *operator->() { return slot_.get(); }
    SlotPointer take() { return std::move(slot_); }
    // False if what was begun does not end.
    bool give_up() noexcept {
      if (slot_ == nullptr) return true;
      bool is_idle = false;
      try {
        is_idle = slots_.settle(*slot_);
        wipe_host_(slot_->workspace);
      } catch (const std::exception &) {
        // Want of memory. What was begun may still use the workspace, which must stay as it is.
      }
      slots_.give_back(std::move(slot_), is_idle);
      return is_idle;
    }

   private:
    StreamSlots &slots_;
    SlotPointer slot_;
    const WipeHost wipe_host_;
  };

  size_t under_way() const { return under_way_; }
  bool is_stuck() const { return !stuck_.empty(); }
  std::chrono::milliseconds time_limit() const { return time_limit_; }

 private:
  Result<SlotPointer> make() {
    auto slot = std::make_unique<Slot>();
    Result<std::unique_ptr<device::Stream>> long_stream = device_.make_stream(),
                                            urgent_stream = device_.make_urgent_stream();
    if (!long_stream.ok()) return long_stream.status();
    if (!urgent_stream.ok()) return urgent_stream.status();
    slot->long_stream = std::move(*long_stream);
    slot->urgent_stream = std::move(*urgent_stream);
    for (std::unique_ptr<device::Event> *event : {&slot->turn, &slot->sent, &slot->done}) {
      Result<std::unique_ptr<device::Event>> made = device_.make_event();
      if (!made.ok()) return made.status();
      *event = std::move(*made);
    }
    return slot;
  }

  // Waits until what was begun is over, and wipes the workspace on the device. False where that
  // does not end.
  bool settle(Slot &slot) {
    if (!finish(slot)) return false;
    wipe_(slot.last(), slot.workspace);
    return finish(slot);
  }

  // Waits until the streams have done what they were given.
  bool finish(Slot &slot) {
    for (device::Stream *stream : {slot.long_stream.get(), slot.urgent_stream.get()}) {
      if (stream == nullptr) continue;
      if (!stream->mark(*slot.done).ok())
        (void)stream->finish();
      else if (!await_within(*slot.done, time_limit_))
        return false;
    }
    return true;
  }

  device::Device &device_;
  const std::chrono::milliseconds time_limit_;
  const WipeDevice wipe_;
  std::vector<SlotPointer> free_, stuck_;
  size_t under_way_ = 0;
};

}  // namespace lanecrypt::runtime
