// What became of an operation that a device, several cores or the service was asked to do.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace lanecrypt {

enum class OffloadResult {
  kDone,      // all output was written
  kNotTaken,  // nothing was written, and the caller's core may do it: no fault of anybody's
  // It failed, or the service has stopped answering. conclude() and run_by_service() raise no
  // error: the provider's run_on_service() makes kNotTaken of their kFailed, unless the service is
  // required. When another function of the provider returns kFailed, an error has been raised.
  kFailed,
  kWrongTag,  // decryption: the tag is wrong, and the output was wiped
  kRefused,   // nobody may do it, or a key of SLH-DSA was given away
};

}  // namespace lanecrypt
