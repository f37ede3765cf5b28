// The end of the process while our threads still work. exit() tears down libcrypto and the drivers
// while threads may use them. So our threads are stopped before that, in a bounded time, and their
// work is left as it is then.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

namespace lanecrypt {

// arrange_process_end() registers an exit handler. exit() runs handlers in reverse order of
// registration. So the handler stops our threads before the handlers of the drivers that are loaded
// so far. It must be called after each opening of a device. It registers a handler only after
// openings that differ from all earlier ones, because a driver registers its own handler at the
// first opening of a kind.
void arrange_process_end();

// AtProcessEnd makes exit() aware of an object with threads, as long as it lives. It should be
// created before the threads and destroyed after them. In a child of fork() it still belongs to the
// parent, and is ignored.
class AtProcessEnd {
 public:
  AtProcessEnd();
  ~AtProcessEnd();
  AtProcessEnd(const AtProcessEnd &) = delete;

  // begin() passes the functions that end the threads. Before this call, exit() waits. After it,
  // exit() ends the threads itself, on separate threads. `stop` returns when the threads have
  // ended. `cancel_pending` makes them drop work that they have not begun, and may be called
  // repeatedly.
  void begin(std::function<void()> stop, std::function<void()> cancel_pending);
  // withdraw() must be called before the owner ends the threads. It returns false if exit() is
  // ending them. Then the whole object must never be destroyed.
  bool withdraw();

 private:
  struct Entry;
  friend void arrange_process_end();
  static void stop_all(int status);

  Entry *const entry_;
};

}  // namespace lanecrypt
