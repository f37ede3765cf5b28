// The sources of a passphrase, or of a key itself.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/keys/secret_bytes.h"

namespace lanecrypt::cli {

// Reads from a source in OpenSSL's notation: "pass:TEXT", "env:NAME", "file:PATH",
// "fd:NUMBER", "stdin". From a file, a descriptor or stdin it takes the first line
// without its newline, at most 1023 bytes. It does not read what follows from a
// descriptor. Throws Failure.
SecretBytes read_passphrase_source(const SecretBytes &source);

// Whether a source of a key is "prompt", for which there is ask_key().
bool asks_for_key(const SecretBytes &source);
// Reads a key in hexadecimal from "env:NAME", "file:PATH", "fd:NUMBER" or "stdin", as
// above, without the carriage returns at the line's end. A line that is too long is an
// error. Throws Failure.
SecretBytes read_key_source(const SecretBytes &source);

// Reads the first line of a file as openssl enc -kfile does: at most 127 bytes, without
// the carriage returns and newlines at its end. Throws Failure if it is empty.
SecretBytes read_passphrase_file(const std::string &path);

// Asks on the terminal with its echo off, twice if `verify`. Throws Failure if there is
// no terminal, or if the two answers differ. Ctrl-C ends the process.
SecretBytes ask_passphrase(const std::string &prompt, bool verify);
// The same for a key in hexadecimal.
SecretBytes ask_key(const std::string &prompt, bool verify);

}  // namespace lanecrypt::cli
