// Where a passphrase, or a key itself, comes from.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/keys/secret_bytes.h"

namespace lanecrypt::cli {

// From a source in OpenSSL's notation: "pass:TEXT", "env:NAME", "file:PATH",
// "fd:NUMBER", "stdin". From a file, a descriptor or stdin it is the first
// line without its newline, at most 1023 bytes; what follows is not read from
// a descriptor. Throws Failure.
SecretBytes read_passphrase_source(const SecretBytes &source);

// Whether a source of a key is "prompt": ask_key() then.
bool asks_for_key(const SecretBytes &source);
// A key in hexadecimal from "env:NAME", "file:PATH", "fd:NUMBER" or "stdin" (as
// above, without the carriage returns at the line's end). A line too long is an
// error. Throws Failure.
SecretBytes read_key_source(const SecretBytes &source);

// The first line of a file, as openssl enc -kfile reads it: at most 127 bytes,
// without the carriage returns and newlines at its end. Throws Failure where
// it is empty.
SecretBytes read_passphrase_file(const std::string &path);

// Asks on the terminal with its echo off, twice where `verify`. Throws Failure
// where there is no terminal, and where the two differ; Ctrl-C ends the process.
SecretBytes ask_passphrase(const std::string &prompt, bool verify);
// The same, of a key in hexadecimal.
SecretBytes ask_key(const std::string &prompt, bool verify);

}  // namespace lanecrypt::cli
