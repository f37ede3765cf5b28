// The command line as openssl writes it, made into what the parser reads.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/keys/secret_bytes.h"

namespace lanecrypt::cli {

// One option of a subcommand, as its user may write it: with one dash or two,
// its value in the next argument or after '='.
struct OptionName {
  std::string written;  // "kfile", without dashes
  std::string parsed;   // the parser's long name: "kfile"; may be another
  bool takes_value = false;
  bool secret = false;  // the value is moved aside
};

// What the parser is to read, and the secrets that it must not: where a secret
// stood, the parser finds the secret's number in `secrets`.
struct Arguments {
  std::vector<std::string> words;
  std::vector<SecretBytes> secrets;
};

// Translates argv[first..argc): known options of `names` become "--parsed" or
// "--parsed=value"; the name of a cipher with dashes before it becomes
// "--cipher=name"; every other word stays. An option's value is taken as it
// stands, also where it begins with a dash. Secrets are overwritten in argv, as
// far as other processes can see it there, with 'x'.
Arguments translate_arguments(int argc, char **argv, int first,
                              const std::vector<OptionName> &names);

}  // namespace lanecrypt::cli
