// Where a passphrase comes from.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "secret_bytes.h"

namespace lanecrypt::cli {

// From a source in OpenSSL's notation: "pass:TEXT", "env:NAME", "file:PATH",
// "fd:NUMBER", "stdin". From a file, a descriptor or stdin it is the first
// line without its newline, at most 1023 bytes; what follows is not read from
// a descriptor. Throws Failure.
SecretBytes read_passphrase_source(const SecretBytes &source);

// The first line of a file, as openssl enc -kfile reads it: at most 127 bytes,
// without the carriage returns and newlines at its end. Throws Failure where
// it is empty.
SecretBytes read_passphrase_file(const std::string &path);

// Asks on the terminal with its echo off, twice where `verify`. Throws Failure
// where there is no terminal, on Ctrl-C, and where the two differ.
SecretBytes ask_passphrase(const std::string &prompt, bool verify);

}  // namespace lanecrypt::cli
