// The end of the process while our threads still work. exit() tears down libcrypto and
// the drivers under whoever uses them. So our threads are stopped before, in a bounded
// time, and their work is left as it is then.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

namespace lanecrypt {

// exit() undoes first what was arranged last. From this call on it stops our threads
// before the ends that drivers loaded so far have arranged. Called after each opening of
// a device. It registers a handler only after openings that differ from all before, since a
// driver arranges its end at the first of a kind.
void arrange_process_end();

// Something that has threads. exit() knows it as long as this lives, which should begin
// before its threads and end after them. In a child of fork it is still the parent's, and
// is left alone.
class AtProcessEnd {
 public:
  AtProcessEnd();
  ~AtProcessEnd();
  AtProcessEnd(const AtProcessEnd &) = delete;

  // Until this call exit() waits. From it on exit() ends the threads itself, on threads
  // of its own. stop() returns when they have ended. cancel_pending() makes them leave undone what
  // they have not begun, and may be called often.
  void begin(std::function<void()> stop, std::function<void()> cancel_pending);
  // Call it before another ends the threads. False where exit() is doing that: then all
  // of this must stay for ever.
  bool withdraw();

 private:
  struct Entry;
  friend void arrange_process_end();
  static void stop_all(int status);

  Entry *const entry_;
};

}  // namespace lanecrypt
