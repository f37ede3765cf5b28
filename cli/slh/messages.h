// Signs or verifies files for `lanecrypt slh-dsa`: the options that both subcommands have, and the
// library's jobs over many files.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "cli/io/message.h"
#include "cli/keys/slh_key_file.h"
#include "cli/keys/slh_signer_state.h"
#include "lanecrypt/lanecrypt.hpp"

namespace lanecrypt::cli {

// A file and its signature.
struct SignedFile {
  std::string name;            // "-" is standard input
  std::string signature_name;  // for signing, "-" is standard output
  std::optional<Message> message;
  std::vector<uint8_t> signature;
  bool is_right = false;  // set by verify()
};

class SlhMessages {
 public:
  // `signature_option` is the name of the option that names the signature of one file.
  explicit SlhMessages(const char *signature_option) : signature_option_(signature_option) {}
  std::vector<OptionName> option_names() const;
  void declare(CLI::App &app, const std::string &key_help, const std::string &signature_help);
  // Check the parsed options and read the key. `state` is the path of the signer's state, which a
  // key of a draft parameter set needs for signing, and no other key has. Throw Failure.
  void prepare_to_verify();
  void prepare_to_sign(const std::optional<std::string> &state);

  lc_slh_dsa_set set() const { return set_; }
  size_t file_count() const { return names_.size(); }
  // Read the files in batches that fit into memory, sign or verify each batch, and pass each file
  // to `done`, in order. sign() returns how many signatures the service and the CPU made. Throw
  // Failure, Error, and what `done` throws.
  lc_result sign(const Context &context, bool is_deterministic,
                 const std::function<void(const SignedFile &)> &done);
  void verify(const Context &context, const std::function<void(const SignedFile &)> &done) const;

 private:
  using Read = std::function<void(SignedFile &)>;
  using Done = std::function<void(const SignedFile &)>;
  void look_at_options();
  void keep_what_is_read(const std::optional<std::string> &state) const;
  void take_key(const SlhKeyFile &file);
  SignedFile file_of(const std::string &name) const;
  lc_result run_all(const Context &context, lc_slh_dsa_job job, const Read &read_signature,
                    const Done &done) const;
  lc_result run_some(const Context &context, lc_slh_dsa_job job,
                     std::vector<SignedFile> &files) const;

  const char *const signature_option_;
  std::string key_file_;
  std::optional<std::string> context_text_, context_hex_, hash_name_, signature_;
  std::vector<std::string> names_;
  std::vector<uint8_t> context_;
  lc_pre_hash hash_ = LC_PRE_HASH_NONE;
  lc_slh_dsa_set set_ = LC_SLH_DSA_SHA2_128S;
  SlhDsaKey key_;
  std::optional<SignerState> state_;
};

}  // namespace lanecrypt::cli
