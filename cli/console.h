// What the command says. Results go to standard output, where a failed write is an error.
// The rest goes to standard error, where it is none.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace lanecrypt::cli {

// Fills the places of standard input, output and error that are closed, so that no file
// of ours gets their numbers. To read from or write to them then fails, as where they are
// closed. Call it before any file is opened.
void hold_standard_descriptors();

// Writes to standard error, unchanged. A terminal that has gone or a full disk is no
// error: nobody can be told.
void say(std::string_view text);

// Writes a line to standard error that begins with "lanecrypt: ". The text may hold what others
// chose, such as the names of files: it is written as process::printable() shows it.
void complain(std::string_view text);

// Ensures that what was printed has arrived at standard output; otherwise throws Failure.
void finish_standard_output();

}  // namespace lanecrypt::cli
