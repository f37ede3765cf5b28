// Devices that are being opened. A driver arranges for the end of the process when it is
// loaded, and again while a device is opened. exit() undoes first what was arranged last,
// so it must not come in between: then the driver would end under the thread that opens.
// So a call that begins an opening returns when that is over, and what ends our threads
// is arranged after it. Then no opening is under way while the program is not in a call.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace lanecrypt::schedule {

// One opening, from the call that wants it to its end on the device's own thread.
class Opening {
 public:
  // On the thread of the caller, whose call is to wait for it.
  Opening();
  // Over, well or not.
  ~Opening();
  Opening(const Opening &) = delete;

  // Waits until those that this thread has begun are over, with all others that are
  // under way. False where it has begun none since it was last asked.
  static bool await_own();
};

}  // namespace lanecrypt::schedule
