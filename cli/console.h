// What the command says: results on standard output, where a write that fails is an
// error, and the rest on standard error, where it is none.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace lanecrypt::cli {

// Fills the places of standard input, output and error that are closed, so that no
// file of ours comes to lie there: what is read from or written to them then fails as
// it does where they are closed. To be called before any file is opened.
void hold_standard_descriptors();

// Writes to standard error, as it is. A terminal that has gone or a full disk stops
// nothing: whoever it was for cannot be reached.
void say(std::string_view text);

// What was printed on standard output is there now; otherwise throws Failure.
void finish_standard_output();

}  // namespace lanecrypt::cli
