// SPDX-License-Identifier: Apache-2.0
#include "cli/arguments.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <cstring>

#include "cli/crypt/block_cipher_mode.h"

namespace lanecrypt::cli {
namespace {

// Returns the text after one or two dashes, or an empty text if `word` is not an option.
std::string_view without_dashes(std::string_view word) {
  if (word.size() < 2 || word[0] != '-') return {};
  word.remove_prefix(word[1] == '-' ? 2 : 1);
  return word;
}

// Returns whether `word` is the name of a file that begins with '[', after any number of "./".
bool is_bracketed(std::string_view word) {
  while (word.starts_with("./")) word.remove_prefix(2);
  return word.starts_with('[');
}

// The parser reads "[a,b]" as a list of two words. Only the names of files have this form, so this
// puts "./" before the name, which names the same file. word_as_written() removes it again.
std::string no_list(std::string_view word) {
  return (is_bracketed(word) ? "./" : "") + std::string(word);
}

// Copies the secret into `secrets`, and overwrites it in argv, where `ps` would show it. Returns
// its index in `secrets`.
std::string take_secret(char *value, std::vector<SecretBytes> &secrets) {
  const size_t bytes = std::strlen(value);
  secrets.push_back(SecretBytes::copy_of({value, bytes}));
  OPENSSL_cleanse(value, bytes);
  std::memset(value, 'x', bytes);
  return std::to_string(secrets.size() - 1);
}

}  // namespace

std::string word_as_written(const std::string &word) {
  return word.starts_with("./") && is_bracketed(word) ? word.substr(2) : word;
}

Arguments translate_arguments(int argc, char **argv, int first,
                              const std::vector<OptionName> &names) {
  Arguments out;
  for (int i = first; i < argc; i++) {
    const std::string_view word = argv[i];
    if (word == "--") {
      out.words.emplace_back(word);
      while (++i < argc) out.words.push_back(no_list(argv[i]));
      break;
    }
    const std::string_view body = without_dashes(word);
    const std::string_view name = body.substr(0, body.find('='));
    const auto known = std::find_if(names.begin(), names.end(), [&](const OptionName &option) {
      return !name.empty() && option.written == name;
    });
    if (known == names.end()) {
      if (!body.empty() && find_cipher(body))
        out.words.push_back("--cipher=" + std::string(body));
      else if (!body.empty() && word[1] != '-')
        // Turns one dash into two. Otherwise the parser would read "-k0" as the one-letter option k
        // with the value 0, and the values of that option are indices of secrets.
        out.words.push_back("-" + std::string(word));
      else
        out.words.push_back(no_list(word));
      continue;
    }
    const std::string parsed = "--" + known->parsed;
    char *value = nullptr;
    if (name.size() != body.size())
      value = argv[i] + (word.size() - body.size()) + name.size() + 1;
    else if (known->takes_value && i + 1 < argc)
      value = argv[++i];
    if (!value) {
      out.words.push_back(parsed);
      continue;
    }
    const std::string text = known->secret ? take_secret(value, out.secrets) : value;
    // The parser reads "--name=" as a name without a value. Two words give it the value.
    if (text.empty()) {
      out.words.push_back(parsed);
      out.words.emplace_back();
    } else {
      out.words.push_back(parsed + "=" + text);
    }
  }
  return out;
}

}  // namespace lanecrypt::cli
