// SPDX-License-Identifier: Apache-2.0
#include "cli/slh/messages.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>
#include <utility>

#include "cli/failure.h"
#include "cli/io/input.h"
#include "cli/keys/hex.h"
#include "cli/slh/names.h"

namespace lanecrypt::cli {
namespace {

constexpr size_t kMostContextBytes = 255;
// A batch ends once its messages and signatures have this many bytes in memory.
constexpr uint64_t kBytesAtOnce = 256 << 20;

}  // namespace

std::vector<OptionName> SlhMessages::option_names() const {
  return {{"key", "key", true},
          {"context", "context", true},
          {"context-hex", "context-hex", true},
          {"pre-hash", "pre-hash", true},
          {signature_option_, signature_option_, true},
          {"quiet", "quiet"},
          {"help", "help"},
          {"h", "help"}};
}

void SlhMessages::declare(CLI::App &app, const std::string &key_help,
                          const std::string &signature_help) {
  app.add_option("--key", key_file_, key_help)->option_text("F")->required();
  app.add_option(std::string("--") + signature_option_, signature_, signature_help)
      ->option_text("F");
  CLI::Option *const context =
      app.add_option("--context", context_text_, "Sets the context string, of at most 255 bytes.")
          ->option_text("TEXT");
  app.add_option("--context-hex", context_hex_, "Sets the context string, in hexadecimal.")
      ->option_text("HEX")
      ->excludes(context);
  app.add_option(
         "--pre-hash", hash_name_,
         "Signs or verifies the file's digest with this hash (HashSLH-DSA): " + pre_hash_names())
      ->option_text("HASH");
  app.add_option("file", names_, "The files. The default is standard input.")
      ->option_text("FILE ...");
}

void SlhMessages::look_at_options() {
  if (context_hex_) {
    context_.resize(context_hex_->size() / 2);
    parse_hex(*context_hex_, context_, "context string (--context-hex)");
  } else if (context_text_) {
    context_.assign(context_text_->begin(), context_text_->end());
  }
  if (context_.size() > kMostContextBytes)
    throw Failure(ExitCode::kUsage, "the context string has more than 255 bytes");
  if (hash_name_) hash_ = find_pre_hash(*hash_name_);
  for (std::string &name : names_) name = word_as_written(name);
  if (names_.empty()) names_.emplace_back("-");
  if (names_.size() > 1 && signature_)
    throw Failure(ExitCode::kUsage, fmt::format("--{} is for one file", signature_option_));
  if (names_.size() > 1 && std::find(names_.begin(), names_.end(), "-") != names_.end())
    throw Failure(ExitCode::kUsage, "standard input (-) cannot be one of many files");
}

void SlhMessages::prepare_to_verify() {
  look_at_options();
  if (names_[0] == "-" && !signature_)
    throw Failure(ExitCode::kUsage,
                  fmt::format("--{} must name the signature of standard input", signature_option_));
  take_key(read_slh_key(key_file_));
}

void SlhMessages::prepare_to_sign(const std::optional<std::string> &state) {
  look_at_options();
  const SlhKeyFile file = read_slh_key(key_file_);
  if (file.private_key.size() == 0)
    throw Failure(ExitCode::kBadData,
                  fmt::format("'{}' is not such a key: it is a public one", key_file_));
  const bool is_draft = is_draft_slh_set(file.set);
  if (is_draft && !state)
    throw Failure(ExitCode::kUsage,
                  fmt::format("a key of {} signs with --state alone, which counts its signatures",
                              lc_slh_dsa_name(file.set)));
  if (!is_draft && state)
    throw Failure(ExitCode::kUsage,
                  fmt::format("a key of {} has no --state", lc_slh_dsa_name(file.set)));
  if (is_draft) state_.emplace(*state, file);
  keep_what_is_read(state);
  take_key(file);
}

// Throws Failure if a signature would replace a file that the run reads: the key, which would be
// lost, the state, or a message, including one whose name ends in .sig.
void SlhMessages::keep_what_is_read(const std::optional<std::string> &state) const {
  using FileId = std::pair<dev_t, ino_t>;
  const auto file_id = [](const std::string &path) -> std::optional<FileId> {
    struct stat entry {};
    if (stat(path.c_str(), &entry) != 0 || !S_ISREG(entry.st_mode)) return std::nullopt;
    return FileId(entry.st_dev, entry.st_ino);
  };
  std::vector<std::string> read = names_;
  read.push_back(key_file_);
  if (state) {
    read.push_back(*state);
    for (const char *beside : {".count", ".lock"}) read.push_back(*state + beside);
  }
  std::set<FileId> inputs;
  for (const std::string &path : read)
    if (const std::optional<FileId> id = file_id(path)) inputs.insert(*id);
  for (const std::string &name : names_) {
    const std::string to = file_of(name).signature_name;
    const std::optional<FileId> id = to == "-" ? std::nullopt : file_id(to);
    if (id && inputs.count(*id) != 0)
      throw Failure(ExitCode::kUsage, fmt::format("{} is an input too: it would be destroyed", to));
  }
}

void SlhMessages::take_key(const SlhKeyFile &file) {
  lc_slh_dsa_parts parts{};
  parts.struct_size = sizeof parts;
  parts.set = set_ = file.set;
  parts.private_key = file.private_key.data();
  parts.private_key_bytes = file.private_key.size();
  parts.public_key = file.public_key.data();
  parts.public_key_bytes = file.public_key.size();
  if (state_) {
    parts.tree = state_->tree().data();
    parts.tree_bytes = state_->tree().size();
  }
  try {
    key_ = SlhDsaKey(parts);
  } catch (const Error &error) {
    throw Failure(ExitCode::kBadData,
                  fmt::format("'{}' is not such a key: {}", key_file_, error.what()));
  }
}

SignedFile SlhMessages::file_of(const std::string &name) const {
  SignedFile file;
  file.name = name;
  file.signature_name = signature_ ? *signature_ : name == "-" ? "-" : name + ".sig";
  return file;
}

lc_result SlhMessages::sign(const Context &context, bool is_deterministic, const Done &done) {
  // Counts first. If the run is interrupted, the signatures that it counted are lost and never
  // made.
  if (state_) state_->add(names_.size());
  lc_slh_dsa_job job = slh_dsa_job(LC_SLH_DSA_SIGN, nullptr, 0);
  job.deterministic = is_deterministic ? 1 : 0;
  const size_t bytes = lc_slh_dsa_signature_bytes(set_);
  return run_all(
      context, job, [&](SignedFile &file) { file.signature.resize(bytes); }, done);
}

void SlhMessages::verify(const Context &context, const Done &done) const {
  const auto read_signature = [&](SignedFile &file) {
    Input input(file.signature_name);
    // Reads one byte more than the right length, so that a longer signature is wrong.
    file.signature.resize(lc_slh_dsa_signature_bytes(set_) + 1);
    file.signature.resize(input.read(file.signature));
  };
  run_all(context, slh_dsa_job(LC_SLH_DSA_VERIFY, nullptr, 0), read_signature, done);
}

lc_result SlhMessages::run_all(const Context &context, lc_slh_dsa_job job,
                               const Read &read_signature, const Done &done) const {
  lc_result all{};
  for (auto name = names_.begin(); name != names_.end();) {
    std::vector<SignedFile> files;
    for (uint64_t bytes = 0; name != names_.end() && bytes < kBytesAtOnce; ++name) {
      SignedFile &file = files.emplace_back(file_of(*name));
      file.message.emplace(file.name);
      read_signature(file);
      bytes += file.message->size() + file.signature.size();
    }
    const lc_result some = run_some(context, job, files);
    all.service_operations += some.service_operations;
    all.cpu_operations += some.cpu_operations;
    for (const SignedFile &file : files)
      if (const std::optional<Failure> damage = file.message->damage()) throw *damage;
    for (const SignedFile &file : files) done(file);
  }
  return all;
}

lc_result SlhMessages::run_some(const Context &context, lc_slh_dsa_job job,
                                std::vector<SignedFile> &files) const {
  std::vector<lc_slh_dsa_message> messages;
  for (SignedFile &file : files) {
    lc_slh_dsa_message message{};
    message.key = key_.get();
    message.message = file.message->data();
    message.message_bytes = file.message->size();
    message.context = context_.data();
    message.context_bytes = context_.size();
    message.signature = file.signature.data();
    message.signature_bytes = file.signature.size();
    messages.push_back(message);
  }
  std::vector<uint8_t> verdicts(job.operation == LC_SLH_DSA_VERIFY ? files.size() : 0);
  job.messages = messages.data();
  job.message_count = messages.size();
  job.verdicts = verdicts.empty() ? nullptr : verdicts.data();
  job.encoding = hash_ == LC_PRE_HASH_NONE ? LC_MESSAGE_PURE : LC_MESSAGE_PRE_HASH;
  job.hash = hash_;
  const lc_result result = context.run(job);
  for (size_t n = 0; n < verdicts.size(); n++) files[n].is_right = verdicts[n] == 1;
  return result;
}

}  // namespace lanecrypt::cli
