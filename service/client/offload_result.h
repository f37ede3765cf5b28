// What became of an operation that a device, several cores or the service was asked to do.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace lanecrypt {

enum class OffloadResult {
  kDone,      // all output was written
  kNotTaken,  // nothing was written, and the caller's core may do it: no fault of anybody's
  kFailed,    // it failed, or the service has stopped answering; the provider has raised an error
  kWrongTag,  // decryption: the tag is wrong, and the output was wiped
  kRefused,   // nobody may do it, or a key of SLH-DSA was given away
};

}  // namespace lanecrypt
