// `lanecrypt hash`: prints the digests of files in the formats of sha256sum and b3sum, and checks
// them.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <openssl/crypto.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/arguments.h"
#include "cli/console.h"
#include "cli/failure.h"
#include "cli/hash/check_list.h"
#include "cli/hash/checksum_line.h"
#include "cli/hash/hash_algorithm.h"
#include "cli/hash/hash_files.h"
#include "cli/hash/hashlib_name.h"
#include "cli/keys/hex.h"
#include "cli/keys/passphrase.h"
#include "cli/subcommand.h"

namespace lanecrypt::cli {
namespace {

constexpr char kHashHelp[] =
    R"(Prints the digest of each file, or of standard input, in the format of sha256sum and
b3sum. Many files are hashed at once. Large files are hashed in parts if the hash is a tree:
BLAKE3, Merkle trees and ParallelHash.

Examples:
  lanecrypt hash -sha256 *.iso > SHA256SUMS
  lanecrypt hash -sha256 --check SHA256SUMS
  find / -xdev -type f -print0 | xargs -0 lanecrypt hash -sha256 -z > digests
  lanecrypt hash -blake3 disk.img
  lanecrypt hash -blake3 -key-source file:key.hex message
  lanecrypt hash -merkle-sha256 -leaf-bytes 1048576 weights.safetensors
)";

constexpr size_t kKeyBytes = 32;
constexpr uint64_t kMostDigestBytes = 1 << 30, kMostLeafBytes = INT64_MAX;

class Hash : public Subcommand {
 public:
  std::vector<OptionName> option_names() const override {
    std::vector<OptionName> names = {{"c", "check"},
                                     {"check", "check"},
                                     {"ignore-missing", "ignore-missing"},
                                     {"strict", "strict"},
                                     {"quiet", "quiet"},
                                     {"status", "status"},
                                     {"w", "warn"},
                                     {"warn", "warn"},
                                     {"tag", "tag"},
                                     {"z", "zero"},
                                     {"zero", "zero"},
                                     {"length", "length", true},
                                     {"key-source", "key-source", true, true},
                                     {"derive-key", "derive-key", true},
                                     {"leaf-bytes", "leaf-bytes", true},
                                     {"customization", "customization", true},
                                     {"devices", "devices", true},
                                     {"device", "devices", true},
                                     {"require-gpu", "require-gpu"},
                                     {"v", "verbose"},
                                     {"verbose", "verbose"},
                                     {"help", "help"},
                                     {"h", "help"}};
    for (const HashAlgorithm &algorithm : hash_algorithms()) {
      names.push_back({algorithm.name, algorithm.name});
      names.push_back({hashlib_name(algorithm.name), algorithm.name});
    }
    return names;
  }

  const char *also_options() const override { return "hash"; }

  void declare(CLI::App &app) override {
    app_ = &app;
    app.description(kHashHelp);
    app.add_option("FILE", paths_,
                   "The files to hash, or with --check the lists to check. - is standard input.")
        ->option_text(" ");
    for (const HashAlgorithm &algorithm : hash_algorithms())
      app.add_flag_callback(std::string("--") + algorithm.name,
                            [this, &algorithm] { choose(algorithm); })
          ->group("Hash");
    const std::string form = "Form";
    app.add_option("--length", length_,
                   "Sets the bytes of a digest, for SHAKE, BLAKE3 and ParallelHash.")
        ->option_text("N")
        ->group(form);
    CLI::Option *const key =
        app.add_option(
               "--key-source", key_,
               "Reads the BLAKE3 key of 32 bytes, in hexadecimal, from file:PATH (first line), "
               "env:NAME, fd:NUMBER, stdin or prompt, which asks on the terminal.")
            ->option_text("SOURCE")
            ->group(form);
    app.add_option("--derive-key", context_,
                   "Derives a key from each file with BLAKE3, for the purpose that TEXT names.")
        ->option_text("TEXT")
        ->group(form)
        ->excludes(key);
    app.add_option("--leaf-bytes", leaf_bytes_,
                   "Sets the bytes of a leaf or block, for Merkle trees and ParallelHash.")
        ->option_text("N")
        ->group(form);
    app.add_option("--customization", customization_,
                   "Sets the customization string of ParallelHash.")
        ->option_text("TEXT")
        ->group(form);
    const std::string checking = "Check";
    CLI::Option *const check =
        app.add_flag(
               "-c,--check", is_check_,
               "Checks the files of lists in this format. The exit status is 1 if one is wrong.")
            ->group(checking);
    const std::pair<const char *, std::string> prints[] = {
        {"--quiet", "Prints nothing for files that are right."},
        {"--status", "Prints nothing. Only the exit status tells the result."},
        {"-w,--warn",
         "Reports malformed lines of a list, which is the default without --quiet and --status. "
         "The last of these three options takes effect."}};
    for (const auto &[names, help] : prints)
      app.add_flag(names, help)->group(checking)->needs(check);
    app.add_flag("--ignore-missing", check_.ignores_missing, "Ignores files that do not exist.")
        ->group(checking)
        ->needs(check);
    app.add_flag("--strict", check_.is_strict, "Fails if a line of a list is malformed.")
        ->group(checking)
        ->needs(check);
    app.add_flag("--tag", has_tag_, "Prints lines in the BSD format: SHA256 (FILE) = DIGEST.")
        ->group(form)
        ->excludes(check);
    app.add_flag("-z,--zero", ends_by_zero_,
                 "Ends each line with a null byte instead of a newline, and does not escape names.")
        ->group(form)
        ->excludes(check);
    const std::string running = "Running";
    app.add_option(
           "--devices,--device", settings_.devices,
           "Uses these devices, as for enc. The default is LANECRYPT_DEVICES, or every GPU, "
           "if that is faster.")
        ->option_text("LIST")
        ->group(running);
    app.add_flag("--require-gpu", settings_.require_device,
                 "Fails if no device can be used, instead of using the CPU.")
        ->group(running);
    app.add_flag("-v,--verbose", is_verbose_,
                 "Prints a report as a line of text on standard error.")
        ->group(running);
  }

  void run(std::vector<SecretBytes> secrets) override {
    const auto begin = std::chrono::steady_clock::now();
    read_settings(secrets);
    choose_prints();
    for (std::string &path : paths_) path = word_as_written(path);
    if (paths_.empty()) paths_ = {"-"};
    HashFiles files(settings_);
    const std::optional<Failure> failure = is_check_ ? check(files) : print(files);
    if (is_verbose_) {
      Report report = files.report();
      report.seconds =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      say(to_text(report) + "\n");
    }
    if (failure) throw *failure;
  }

 private:
  void choose(const HashAlgorithm &algorithm) {
    if (algorithm_ != nullptr && algorithm_ != &algorithm)
      throw Failure(ExitCode::kUsage, fmt::format("-{} and -{} exclude each other",
                                                  algorithm_->name, algorithm.name));
    algorithm_ = &algorithm;
  }

  void read_settings(const std::vector<SecretBytes> &secrets) {
    if (algorithm_ == nullptr)
      throw Failure(ExitCode::kUsage, "no hash was given: add one such as -sha256 or -blake3");
    const auto refuse = [&](bool is_given, bool is_possible, const char *option) {
      if (is_given && !is_possible)
        throw Failure(ExitCode::kUsage, fmt::format("-{} has no {}", algorithm_->name, option));
    };
    const bool is_blake3 = algorithm_->hash == LC_BLAKE3;
    const bool is_parallel = algorithm_->has_leaf_bytes && algorithm_->any_digest_bytes;
    refuse(length_.has_value(), algorithm_->any_digest_bytes, "--length");
    refuse(key_.has_value(), is_blake3, "-key-source");
    refuse(context_.has_value(), is_blake3, "-derive-key");
    refuse(leaf_bytes_.has_value(), algorithm_->has_leaf_bytes, "-leaf-bytes");
    refuse(customization_.has_value(), is_parallel, "-customization");
    if (algorithm_->has_leaf_bytes && leaf_bytes_.value_or(0) == 0)
      throw Failure(ExitCode::kUsage,
                    fmt::format("-{} needs -leaf-bytes, of 1 at least", algorithm_->name));
    // CLI11 before 2.4 converts -1 and numbers above the range into the highest number.
    if (leaf_bytes_.value_or(0) > kMostLeafBytes)
      throw Failure(ExitCode::kUsage, "-leaf-bytes must be from 1 to 2^63 - 1");
    if (length_ && (*length_ == 0 || *length_ > kMostDigestBytes))
      throw Failure(ExitCode::kUsage, "--length must be from 1 to 2^30");
    settings_.hash = algorithm_->hash;
    settings_.digest_bytes = length_.value_or(algorithm_->digest_bytes);
    settings_.leaf_bytes = leaf_bytes_.value_or(0);
    if (customization_) settings_.text = *customization_;
    if (context_) {
      settings_.hash = LC_BLAKE3_DERIVE_KEY;
      settings_.text = *context_;
    }
    if (!key_) return;
    settings_.hash = LC_BLAKE3_KEYED;
    const SecretBytes &source = secrets.at(*key_);
    const SecretBytes text = asks_for_key(source)
                                 ? ask_key("enter BLAKE3 key in hexadecimal:", false)
                                 : read_key_source(source);
    settings_.key.emplace(kKeyBytes);
    parse_hex({text.text(), text.size()}, {settings_.key->data(), settings_.key->size()},
              "key (-key-source)");
  }

  // The last of --quiet, --status and --warn takes effect, as in sha256sum.
  void choose_prints() {
    using Prints = CheckOptions::Prints;
    for (const CLI::Option *option : app_->parse_order()) {
      if (option->check_lname("quiet"))
        check_.prints = Prints::kWrong;
      else if (option->check_lname("status"))
        check_.prints = Prints::kNothing;
      else if (option->check_lname("warn"))
        check_.prints = Prints::kAll;
    }
    check_.warns = check_.prints == Prints::kAll;
  }

  std::optional<Failure> print(HashFiles &files) const {
    const std::string tag = has_tag_ ? tag_of(*algorithm_) : "";
    uint64_t unread = 0;
    std::optional<Failure> last;
    files.run(paths_, [&](const HashFiles::Outcome &outcome) {
      if (outcome.failure == nullptr) {
        std::string line = to_line(outcome.digest, paths_[outcome.number], {tag, ends_by_zero_});
        (void)std::fwrite(line.data(), 1, line.size(), stdout);
        OPENSSL_cleanse(line.data(), line.size());  // with -derive-key, the digest is a secret key
        return;
      }
      ++unread;
      if (paths_.size() > 1) complain(outcome.failure->what());
      last.emplace(*outcome.failure);
    });
    if (unread == 0) return std::nullopt;
    if (paths_.size() == 1) return last;
    return Failure(ExitCode::kFailed,
                   fmt::format("{} of {} files could not be read", unread, paths_.size()));
  }

  std::optional<Failure> check(HashFiles &files) const {
    const bool is_silent = check_.prints == CheckOptions::Prints::kNothing;
    ChecksumParser parser(tag_of(*algorithm_), settings_.digest_bytes);
    CheckCounts sum;
    std::optional<Failure> bad_list;
    for (const std::string &path : paths_) {
      try {
        const CheckCounts counts = check_list(path, parser, files, check_);
        sum.right += counts.right;
        sum.wrong += counts.wrong;
        sum.unread += counts.unread;
        sum.malformed += counts.malformed;
      } catch (const Failure &failure) {
        if (failure.code() != ExitCode::kFailed || paths_.size() == 1) throw;
        complain(failure.what());
        bad_list.emplace(failure);
      }
    }
    const bool is_malformed = sum.malformed != 0;
    const bool is_bad = sum.wrong != 0 || sum.unread != 0 || (check_.is_strict && is_malformed);
    std::string text = fmt::format("digests: {} right, {} wrong", sum.right, sum.wrong);
    if (sum.unread != 0) text += fmt::format("; files that could not be read: {}", sum.unread);
    if (is_malformed) text += fmt::format("; lines of another form: {}", sum.malformed);
    if (is_bad) return Failure(ExitCode::kFailed, is_silent ? "" : text);
    if (is_malformed && !check_.warns && !is_silent) complain("warning: " + text);
    if (bad_list) return Failure(ExitCode::kFailed, "");
    return std::nullopt;
  }

  HashSettings settings_;
  CheckOptions check_;
  const HashAlgorithm *algorithm_ = nullptr;
  std::vector<std::string> paths_;
  std::optional<uint64_t> length_, leaf_bytes_;
  std::optional<size_t> key_;  // index into `secrets`
  std::optional<std::string> context_, customization_;
  bool is_check_ = false, is_verbose_ = false, has_tag_ = false, ends_by_zero_ = false;
  const CLI::App *app_ = nullptr;
};

}  // namespace

std::unique_ptr<Subcommand> make_hash() { return std::make_unique<Hash>(); }

}  // namespace lanecrypt::cli
