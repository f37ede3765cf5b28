// The command's output. Results go to standard output, where a failed write is an error. Messages
// go to standard error, where a failed write is ignored.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace lanecrypt::cli {

// Opens the descriptors 0, 1 and 2 if they are closed, so that no file that the command opens gets
// one of these numbers. Reading from or writing to them still fails, as it does if they are closed.
// Call this before any file is opened.
void hold_standard_descriptors();

// Writes `text` unchanged to standard error. Ignores errors, such as a closed terminal or a full
// disk, because there is nowhere to report them.
void say(std::string_view text);

// Writes a line to standard error that begins with "lanecrypt: ". `text` may contain untrusted
// text, such as the names of files: process::printable() escapes it.
void complain(std::string_view text);

// Flushes standard output. Throws Failure if that, or an earlier write, failed.
void finish_standard_output();

}  // namespace lanecrypt::cli
