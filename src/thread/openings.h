// Keeps exit() from interrupting the opening of a device.
//
// A driver registers exit handlers when it is loaded, and again while a device is opened. exit()
// runs the handlers in reverse order. If exit() ran in the middle of an opening, the driver would
// be torn down under the thread that opens. So a call that begins an opening returns only when the
// opening is over, and our threads' exit handler is registered after it. No opening is then in
// flight while the program is outside our calls.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace lanecrypt::runtime {

// `Opening` is one opening, from the call that needs it to its end on the device's own thread.
class Opening {
 public:
  // Made on the caller's thread, whose call will wait for the opening.
  Opening();
  // The opening is over, whether it succeeded or not.
  ~Opening();
  Opening(const Opening &) = delete;

  // Waits until the openings that this thread has begun, and all others in flight, are over.
  // Returns false if this thread has begun none since the last call.
  static bool await_own();
};

}  // namespace lanecrypt::runtime
