// `lanecrypt slh-dsa keygen` and `public`: generates one SLH-DSA key, or many, each in its own
// file, and writes public keys.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/crypt/device_engine.h"
#include "cli/failure.h"
#include "cli/interrupt.h"
#include "cli/io/output.h"
#include "cli/keys/key_folder.h"
#include "cli/keys/slh_key_file.h"
#include "cli/keys/slh_signer_state.h"
#include "cli/slh/devices.h"
#include "cli/slh/names.h"
#include "cli/slh/slh_dsa.h"

namespace lanecrypt::cli {
namespace {

constexpr char kKeygenHelp[] =
    R"(Makes SLH-DSA keys (FIPS 205, algorithm 21) as PKCS#8 in PEM. Makes one key, on standard output
or in a file, or with --count many, each in its own file: key-00000001.pem and so on. Only the
owner can read the files. Existing keys in the folder are kept, so an interrupted run can be
continued with the same command.

The parameter sets of SP 800-230, whose names end with 24, are a draft: the final standard may
differ. Their keys must be made on a device, one per run. --state gets the signer's state, which
slh-dsa sign needs. Keep the state with the key, on only one machine, and never restore either
from a copy.

Examples:
  lanecrypt slh-dsa keygen --out key.pem SHA2-128s
  lanecrypt slh-dsa keygen --count 1000 --out-dir keys SHAKE-256f
  lanecrypt slh-dsa keygen --out key.pem --state key.state --require-gpu SHA2-128-24
)";

constexpr char kPublicHelp[] =
    R"(Writes the public key of a private key (RFC 9909) as PEM.

Example:
  lanecrypt slh-dsa public --key key.pem --out public.pem
)";

constexpr uint64_t kMostKeys = 99999999;
// The most keys in memory at once.
constexpr uint64_t kKeysAtOnce = 4096;

class Keygen : public Subcommand {
 public:
  std::vector<OptionName> option_names() const override {
    std::vector<OptionName> names = {{"count", "count", true},
                                     {"out", "out", true},
                                     {"out-dir", "out-dir", true},
                                     {"outdir", "out-dir", true},
                                     {"state", "state", true},
                                     {"quiet", "quiet"},
                                     {"help", "help"},
                                     {"h", "help"}};
    SlhDevices::add_names(names);
    return names;
  }

  void declare(CLI::App &app) override {
    app.description(kKeygenHelp);
    app.add_option("set", set_name_, "the parameter set: " + slh_set_names())
        ->option_text("SET")
        ->required();
    CLI::Option *const file =
        app.add_option("--out", file_,
                       "Writes the key to this file. The default is standard output.")
            ->option_text("F");
    CLI::Option *const count =
        app.add_option("--count", count_, "Fills the folder up to this number of keys.")
            ->option_text("N")
            ->excludes(file);
    CLI::Option *const folder =
        app.add_option("--out-dir", folder_,
                       "Writes the keys to this folder, which is created if necessary.")
            ->option_text("D")
            ->excludes(file)
            ->needs(count);
    count->needs(folder);
    app.add_option(
           "--state", state_,
           "Writes the signer's state to this file, for a parameter set of the draft SP 800-230.")
        ->option_text("F")
        ->excludes(count);
    devices_.declare(app);
    app.add_flag("--quiet", quiet_, "Prints no report.");
  }

  void run(std::vector<SecretBytes>) override {
    if (count_ && (*count_ == 0 || *count_ > kMostKeys))
      throw Failure(ExitCode::kUsage, fmt::format("--count must be from 1 to {}", kMostKeys));
    set_ = find_slh_set(set_name_);
    const char *const name = lc_slh_dsa_name(set_);
    if (is_draft_slh_set(set_) && !state_)
      throw Failure(ExitCode::kUsage,
                    fmt::format("a key of {} needs --state, which counts its signatures", name));
    if (!is_draft_slh_set(set_) && state_)
      throw Failure(ExitCode::kUsage, fmt::format("a key of {} has no --state", name));
    try {
      if (state_)
        make_with_state();
      else if (count_)
        fill_folder();
      else
        make_one();
    } catch (const Error &error) {
      throw failure_of(error);
    }
  }

 private:
  using Write = std::function<void(uint64_t number, const SecretBytes &text)>;
  // Generates `count` keys (FIPS 205, Algorithm 21, slh_keygen) and passes the PEM text of each to
  // `write`, in order from number 0.
  void make(const Context &context, uint64_t count, const Write &write) const {
    const size_t key_bytes = 4 * lc_slh_dsa_hash_bytes(set_);
    for (uint64_t first = 0; first < count; first += kKeysAtOnce) {
      const size_t now = std::min(kKeysAtOnce, count - first);
      SecretBytes keys(now * key_bytes);
      lc_slh_dsa_generation generation{};
      generation.struct_size = sizeof generation;
      generation.set = set_;
      generation.device = LC_ANY_DEVICE;
      generation.count = now;
      generation.keys = keys.data();
      context.generate(generation);
      for (size_t n = 0; n < now; n++)
        write(first + n, slh_private_key_pem(set_, {keys.data() + n * key_bytes, key_bytes}));
    }
  }

  void make_one() const {
    Output output(file_, Output::Readers::kOwner);
    // The watch blocks signals in all later threads, so it is created before them.
    const InterruptWatch watch([&] { output.discard(); });
    const Context context = devices_.open();
    output.create();
    make(context, 1, [&](uint64_t, const SecretBytes &text) {
      output.write({text.data(), text.size()});
    });
    output.commit(true);
  }

  // Makes a key of a draft parameter set. Writes its state before it, because the key can sign
  // nothing without a state.
  void make_with_state() const {
    // Checks the path before the expensive generation of the key.
    SignerState::check_place(*state_);
    Output output(file_, Output::Readers::kOwner);
    // The watch blocks signals in all later threads, so it is created before them.
    const InterruptWatch watch([&] { output.discard(); });
    const Context context = devices_.open();
    SlhKeyFile key;
    key.set = set_;
    key.private_key = SecretBytes(4 * lc_slh_dsa_hash_bytes(set_));
    std::vector<uint8_t> tree(lc_slh_dsa_tree_bytes(set_));
    lc_slh_dsa_generation generation{};
    generation.struct_size = sizeof generation;
    generation.set = set_;
    generation.device = LC_ANY_DEVICE;
    generation.count = 1;
    generation.keys = key.private_key.data();
    generation.trees = tree.data();
    context.generate(generation);
    output.create();
    SignerState::make(*state_, key, tree);
    const SecretBytes text =
        slh_private_key_pem(set_, {key.private_key.data(), key.private_key.size()});
    output.write({text.data(), text.size()});
    output.commit(true);
  }

  void fill_folder() const {
    KeyFolder folder(folder_);
    const InterruptWatch watch([&] { folder.discard(); });
    const std::vector<uint64_t> missing =
        folder.missing(*count_, [&](const SecretBytes &text) { return look_at(text); });
    const Context context = devices_.open();
    const auto start = std::chrono::steady_clock::now();
    make(context, missing.size(),
         [&](uint64_t number, const SecretBytes &text) { folder.write(missing[number], text); });
    if (!missing.empty()) folder.sync();
    if (quiet_) return;
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    const uint64_t kept = *count_ - missing.size();
    std::string report =
        fmt::format("{} keys of {} in {}", *count_, lc_slh_dsa_name(set_), folder_);
    if (kept > 0) report += fmt::format(", {} of them from before", kept);
    if (!missing.empty())
      report += fmt::format("; {} made in {:.2f} s by {}", missing.size(), seconds.count(),
                            who_worked(context));
    fmt::print("{}\n", report);
  }

  // Returns what is wrong with an existing file, or "".
  std::string look_at(const SecretBytes &text) const {
    SlhKeyFile key;
    if (std::string wrong = parse_slh_key(text, &key); !wrong.empty()) return wrong;
    if (key.private_key.size() == 0) return "its key is a public one";
    if (key.set != set_) return fmt::format("its key is of {}", lc_slh_dsa_name(key.set));
    return "";
  }

  SlhDevices devices_;
  lc_slh_dsa_set set_ = LC_SLH_DSA_SHA2_128S;
  std::string set_name_, folder_, file_ = "-";
  std::optional<std::string> state_;
  std::optional<uint64_t> count_;
  bool quiet_ = false;
};

// Does the same as `openssl pkey -pubout`, for users without OpenSSL 3.5.
class Public : public Subcommand {
 public:
  std::vector<OptionName> option_names() const override {
    return {{"key", "key", true}, {"out", "out", true}, {"help", "help"}, {"h", "help"}};
  }

  void declare(CLI::App &app) override {
    app.description(kPublicHelp);
    app.add_option("--key", key_, "the key")->option_text("F")->required();
    app.add_option("--out", file_,
                   "Writes the public key to this file. The default is standard output.")
        ->option_text("F");
  }

  void run(std::vector<SecretBytes>) override {
    const SlhKeyFile key = read_slh_key(key_);
    const size_t half = 2 * lc_slh_dsa_hash_bytes(key.set);
    const uint8_t *const bytes =
        key.private_key.size() > 0 ? key.private_key.data() + half : key.public_key.data();
    const SecretBytes text = slh_public_key_pem(key.set, {bytes, half});
    Output output(file_, Output::Readers::kByUmask);
    const InterruptWatch watch([&] { output.discard(); });
    output.create();
    output.write({text.data(), text.size()});
    output.commit(true);
  }

 private:
  std::string key_, file_ = "-";
};

}  // namespace

std::unique_ptr<Subcommand> make_slh_keygen() { return std::make_unique<Keygen>(); }
std::unique_ptr<Subcommand> make_slh_public() { return std::make_unique<Public>(); }

}  // namespace lanecrypt::cli
