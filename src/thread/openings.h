// Devices that are being opened.
// A driver arranges for the end of the process when it is loaded, and again while a
// device is opened. exit() undoes first what was arranged last. If it came in the middle
// of an opening, the driver would end under the thread that opens.
// So a call that begins an opening returns only when the opening is over, and our
// threads' end is arranged after it. No opening is then under way while the program is
// outside our calls.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace lanecrypt::runtime {

// One opening, from the call that wants it to its end on the device's own thread.
class Opening {
 public:
  // Made on the thread of the caller, whose call will wait for it.
  Opening();
  // The opening is over, whether it succeeded or not.
  ~Opening();
  Opening(const Opening &) = delete;

  // Waits until the openings that this thread has begun are over, and all others under way.
  // False if this thread has begun none since the last call.
  static bool await_own();
};

}  // namespace lanecrypt::runtime
