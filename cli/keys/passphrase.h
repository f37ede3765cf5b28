// Reads a passphrase or a key from its source.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/keys/secret_bytes.h"

namespace lanecrypt::cli {

// Reads a passphrase from a source in OpenSSL's notation: "pass:TEXT", "env:NAME", "file:PATH",
// "fd:NUMBER" or "stdin". From a file, a descriptor or stdin it takes the first line without its
// newline, at most 1023 bytes, and reads nothing after that line. Throws Failure.
SecretBytes read_passphrase_source(const SecretBytes &source);

// Returns whether the source is "prompt", for which the caller uses ask_key().
bool asks_for_key(const SecretBytes &source);
// Reads a key in hexadecimal from "env:NAME", "file:PATH", "fd:NUMBER" or "stdin", as above,
// without carriage returns at the end of the line. A line that is too long is an error. Throws
// Failure.
SecretBytes read_key_source(const SecretBytes &source);

// Reads the first line of a file as openssl enc -kfile does: at most 127 bytes, without
// the carriage returns and newlines at its end. Throws Failure if it is empty.
SecretBytes read_passphrase_file(const std::string &path);

// Asks on the terminal without echo, twice if `verify` is true. Throws Failure if there is no
// terminal or the two answers differ. Ctrl-C ends the process.
SecretBytes ask_passphrase(const std::string &prompt, bool verify);
// Does the same for a key in hexadecimal.
SecretBytes ask_key(const std::string &prompt, bool verify);

}  // namespace lanecrypt::cli
