// SPDX-License-Identifier: Apache-2.0
#include "abi/process_end.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <thread>

#include "libcrypto/forward.h"
#include "schedule/signals.h"

namespace lanecrypt {
namespace {

using std::chrono::milliseconds;

// For all work to be done, and then for what was begun of it to end, the opening of a
// device above all.
constexpr milliseconds kFinish{1000}, kHurry{20000}, kLook{1};

// kBusy: its owner begins or ends it.
enum class State { kFree, kBusy, kLive, kStopping, kStopped };

// The first time in this process. A child of fork arranges its end anew: drivers that
// its parent had loaded then wait for threads of the parent's, whose places in memory
// threads of ours may have by now.
bool is_first(std::atomic<pid_t> &process) {
  const pid_t self = getpid();
  return process != self && process.exchange(self) != self;
}

}  // namespace

// Never freed, but used anew. No lock guards it: a child of fork could inherit that
// locked.
struct AtProcessEnd::Entry {
  std::atomic<State> state{State::kBusy};
  std::atomic<pid_t> pid{0};
  std::function<void()> stop, hurry;
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
  // On a thread of its own, since it may hang.
  void begin_to_end() {
    if (!change(State::kLive, State::kStopping)) return;
    try {
      const schedule::SignalsBlocked blocked;
      std::thread([this] { end(); }).detach();
    } catch (const std::exception &) {  // no thread is to be had
      hurry();
      end();
    }
  }
};

AtProcessEnd::AtProcessEnd() : entry_(Entry::take()) {
  entry_->pid = getpid();
  static std::atomic<pid_t> arranged_in{0};
  if (!is_first(arranged_in)) return;
  // libcrypto arranges its end when it is first used: that comes before this.
  begin_libcrypto();
  (void)std::atexit(stop_all);
}

AtProcessEnd::~AtProcessEnd() {
  entry_->pid = 0;
  entry_->stop = entry_->hurry = nullptr;
  entry_->state = State::kFree;
}

void AtProcessEnd::begin(std::function<void()> stop, std::function<void()> hurry) {
  entry_->stop = std::move(stop);
  entry_->hurry = std::move(hurry);
  entry_->state = State::kLive;
}

bool AtProcessEnd::withdraw() { return entry_->change(State::kLive, State::kBusy); }

void AtProcessEnd::stop_all() {
  const auto for_each = [pid = getpid()](auto what) {
    for (Entry *entry = Entry::first(); entry != nullptr; entry = entry->next)
      if (entry->pid == pid) what(*entry);
  };
  const auto await = [&](milliseconds limit) {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (true) {
      bool all_over = true;
      for_each([&](Entry &entry) {
        entry.begin_to_end();
        all_over = all_over && entry.is_over();
      });
      if (all_over || std::chrono::steady_clock::now() >= end) return all_over;
      std::this_thread::sleep_for(kLook);
    }
  };
  if (await(kFinish)) return;
  for_each([](Entry &entry) {
    if (entry.state == State::kStopping) entry.hurry();
  });
  (void)await(kHurry);
}

void note_loaded_drivers() {
  static std::atomic<pid_t> noted_in{0};
  if (is_first(noted_in)) (void)std::atexit(AtProcessEnd::stop_all);
}

}  // namespace lanecrypt
