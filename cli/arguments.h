// The command line as openssl writes it, translated for the parser.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/keys/secret_bytes.h"

namespace lanecrypt::cli {

// One option of a subcommand. Its user may write it with one dash or two, and its value
// in the next argument or after '='.
struct OptionName {
  std::string written;  // "kfile", without dashes
  std::string parsed;   // the parser's long name: "kfile"; may be another
  bool takes_value = false;
  bool secret = false;  // the value is moved aside
};

// What the parser reads, and the secrets, which it must not read. In the place of a
// secret the parser finds the secret's number in `secrets`.
struct Arguments {
  std::vector<std::string> words;
  std::vector<SecretBytes> secrets;
};

// Translates argv[first..argc). Known options of `names` become "--parsed" or
// "--parsed=value". The name of a cipher with dashes before it becomes "--cipher=name".
// Every other word stays, and so do all words from "--" on. An option's value is taken as it is,
// even if it begins with a dash. Secrets are overwritten with 'x' in argv, as far as other
// processes can see them there.
Arguments translate_arguments(int argc, char **argv, int first,
                              const std::vector<OptionName> &names);

// A word that is the name of a file, as the user wrote it. translate_arguments() puts "./" before a
// name that the parser would take for a list.
std::string word_as_written(const std::string &word);

}  // namespace lanecrypt::cli
