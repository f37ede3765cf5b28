// The end of the process, while threads of ours still work: exit() tears down
// libcrypto and the drivers under whoever uses them. So the threads are stopped
// before, in a bounded time. What they worked for is then left as it is.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

namespace lanecrypt {

// exit() undoes first what was arranged last: from now on it stops our threads before
// what the drivers loaded by now have arranged. Called after each opening of a device.
void arrange_process_end();

// Something that has threads: it is known to exit() as long as this lives, which
// should begin before its threads and end after them. Of a child of fork it is the
// parent's, and left alone.
class AtProcessEnd {
 public:
  AtProcessEnd();
  ~AtProcessEnd();
  AtProcessEnd(const AtProcessEnd &) = delete;

  // Until now exit() waits; from now on it ends the threads itself, on others of its
  // own. stop() returns when they have ended; hurry() has them leave undone what they
  // have not begun, and may be called often.
  void begin(std::function<void()> stop, std::function<void()> hurry);
  // To be called before the threads are ended by another. False where exit() does
  // so: all this must then stay for ever.
  bool withdraw();

 private:
  struct Entry;
  friend void arrange_process_end();
  static void stop_all(int status);

  Entry *const entry_;
};

}  // namespace lanecrypt
