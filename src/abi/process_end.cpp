// Stops the library's threads when the process calls exit().
//
// SPDX-License-Identifier: Apache-2.0
#include "abi/process_end.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <thread>

#include "device/device_enumeration.h"
#include "libcrypto/forward.h"
#include "process/forks.h"
#include "process/of_process.h"
#include "process/thread.h"
#include "thread/signals.h"

namespace lanecrypt {
namespace {

using std::chrono::milliseconds;

// The maximum time that started work, such as a launch or the closing of a device, gets to finish,
// and the time between two checks.
constexpr milliseconds kMost{10000}, kLook{1};

// Arranged has one more than the number of different device openings at the last registration of
// the exit handler, or 0.
struct Arranged {
  std::atomic<size_t> count{0};
};

process::OfProcess<Arranged> arranged_openings;

}  // namespace

// Entry is never freed but reused. The list is lock-free, because a child of fork() could inherit a
// lock in the locked state.
struct AtProcessEnd::Entry {
  // kBusy: its owner is creating or ending it.
  enum class State { kFree, kBusy, kLive, kStopping, kStopped };
  std::atomic<State> state{State::kBusy};
  // forks() of the process that the entry belongs to.
  std::atomic<uint64_t> born_in{0};
  std::function<void()> stop, cancel_pending;
  Entry *next = nullptr;

  static std::atomic<Entry *> &first() {
    static std::atomic<Entry *> entry{nullptr};
    return entry;
  }

  static Entry *take() {
    for (Entry *entry = first(); entry != nullptr; entry = entry->next)
      if (entry->change(State::kFree, State::kBusy)) return entry;
    auto *made = new Entry();
    made->next = first();
    while (!first().compare_exchange_weak(made->next, made)) {
    }
    return made;
  }

  bool change(State from, State to) { return state.compare_exchange_strong(from, to); }
  bool is_over() const { return state == State::kFree || state == State::kStopped; }

  void end() {
    stop();
    state = State::kStopped;
  }
  // begin_to_end() runs stop() on a separate thread, because it may hang. A sandbox may forbid
  // threads.
  void begin_to_end() {
    if (!change(State::kLive, State::kStopping)) return;
    try {
      const runtime::SignalsBlocked blocked;
      process::start_thread([this] { end(); }).detach();
    } catch (const std::exception &) {  // no thread can be started
      cancel_pending();
      end();
    }
  }
};

AtProcessEnd::AtProcessEnd() : entry_(Entry::take()) {
  entry_->born_in = process::forks();
  arrange_process_end();
}

AtProcessEnd::~AtProcessEnd() {
  entry_->stop = entry_->cancel_pending = nullptr;
  entry_->state = Entry::State::kFree;
}

void AtProcessEnd::begin(std::function<void()> stop, std::function<void()> cancel_pending) {
  entry_->stop = std::move(stop);
  entry_->cancel_pending = std::move(cancel_pending);
  entry_->state = Entry::State::kLive;
}

bool AtProcessEnd::withdraw() { return entry_->change(Entry::State::kLive, Entry::State::kBusy); }

void AtProcessEnd::stop_all(int status) {
  const auto for_each = [born_in = process::forks()](auto what) {
    for (Entry *entry = Entry::first(); entry != nullptr; entry = entry->next)
      if (entry->born_in == born_in) what(*entry);
  };
  const auto end = std::chrono::steady_clock::now() + kMost;
  while (true) {
    bool all_over = true;
    for_each([&](Entry &entry) {
      entry.begin_to_end();
      if (entry.state == Entry::State::kStopping) entry.cancel_pending();
      all_over = all_over && entry.is_over();
    });
    if (all_over) return;
    if (std::chrono::steady_clock::now() >= end) break;
    std::this_thread::sleep_for(kLook);
  }
  // A thread is stuck in a driver. If exit() went on, the driver would be torn down under that
  // thread, and would hang or crash.
  (void)fflush(nullptr);
  _exit(status);
}

void arrange_process_end() {
  // libcrypto registers its exit handler at its first use. That must happen before ours is
  // registered.
  begin_libcrypto();
  // libc keeps every handler until the process ends. So none is registered for another opening of
  // the same kind.
  std::atomic<size_t> &arranged = arranged_openings.get().count;
  const size_t openings = 1 + device::count_different_openings();
  size_t before = arranged;
  if (before >= openings ||
      on_exit([](int status, void *) { AtProcessEnd::stop_all(status); }, nullptr) != 0)
    return;
  while (before < openings && !arranged.compare_exchange_weak(before, openings)) {
  }
}

}  // namespace lanecrypt
