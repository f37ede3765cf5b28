// Translates a command line in the style of openssl into the form that the parser CLI11 reads.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/keys/secret_bytes.h"

namespace lanecrypt::cli {

// One option of a subcommand. The user may write it with one dash or two, and its value in the next
// argument or after '='.
struct OptionName {
  std::string written;  // as the user writes it, without dashes: "kfile"
  std::string parsed;   // the parser's long name, which may differ from `written`
  bool takes_value = false;
  bool secret = false;  // the value goes to Arguments::secrets
};

// The words for the parser, and the secrets, which the parser must not see. In place of a secret,
// `words` has its index in `secrets`.
struct Arguments {
  std::vector<std::string> words;
  std::vector<SecretBytes> secrets;
};

// Translates argv[first..argc). An option in `names` becomes "--parsed" or "--parsed=value". The
// name of a cipher after dashes becomes "--cipher=name". Any other option with one dash gets two.
// Every other word stays unchanged, and so do all words from "--" on; only a file name that begins
// with '[' gets "./" before it. An option's value is taken unchanged, even if it begins with a
// dash. Secrets are overwritten with 'x' in argv, where other processes could read them.
Arguments translate_arguments(int argc, char **argv, int first,
                              const std::vector<OptionName> &names);

// Returns the name of a file as the user wrote it: removes the "./" that translate_arguments() puts
// before a name that the parser would read as a list.
std::string word_as_written(const std::string &word);

}  // namespace lanecrypt::cli
