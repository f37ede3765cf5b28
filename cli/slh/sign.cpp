// `lanecrypt slh-dsa sign`: writes a signature file next to each file.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cli/crypt/device_engine.h"
#include "cli/failure.h"
#include "cli/interrupt.h"
#include "cli/io/output.h"
#include "cli/slh/devices.h"
#include "cli/slh/messages.h"
#include "cli/slh/slh_dsa.h"

namespace lanecrypt::cli {
namespace {

constexpr char kSignHelp[] =
    R"(Signs files with SLH-DSA (FIPS 205, algorithms 22 and 23), many in one batch. The signature of
FILE goes to FILE.sig, that of standard input to standard output. It is verified before it is
written. Signatures are hedged with fresh random numbers, unless --deterministic is given.

A key of a parameter set of the draft SP 800-230 may make at most 2^24 signatures. It needs
--state, the file that keygen wrote with the key: each signature is counted there before it is
made, and it contains the upper levels of the key's tree. The signature must be made on a device.

Examples:
  lanecrypt slh-dsa sign --key key.pem *.tar
  lanecrypt slh-dsa sign --key key.pem --out image.signature image.bin
  lanecrypt slh-dsa sign --key key.pem --context releases --pre-hash sha512 image.bin
  lanecrypt slh-dsa sign --key key.pem --state key.state --require-gpu image.bin
  lanecrypt slh-dsa sign --key key.pem --service *.tar
)";

// The output that is being written. The thread of InterruptWatch can discard it.
class CurrentOutput {
 public:
  void write(const SignedFile &file) {
    {
      const std::lock_guard lock(mutex_);
      output_.emplace(file.signature_name, file.message->status());
    }
    output_->create();
    output_->write(file.signature);
    output_->commit(false);
  }
  void discard() {
    const std::lock_guard lock(mutex_);
    if (output_) output_->discard();
  }

 private:
  std::mutex mutex_;
  std::optional<Output> output_;
};

class Sign : public Subcommand {
 public:
  std::vector<OptionName> option_names() const override {
    std::vector<OptionName> names = messages_.option_names();
    names.push_back({"deterministic", "deterministic"});
    names.push_back({"state", "state", true});
    SlhDevices::add_names(names);
    SlhDevices::add_service_name(names);
    return names;
  }

  void declare(CLI::App &app) override {
    app.description(kSignHelp);
    messages_.declare(app, "the private key", "Writes the signature of one file to this file.");
    app.add_flag("--deterministic", is_deterministic_, "Makes the same signature each time.");
    app.add_option("--state", state_,
                   "Uses this state, which counts signatures, for a key of the draft SP 800-230.")
        ->option_text("F");
    devices_.declare(app);
    devices_.declare_service(app);
    app.add_flag("--quiet", quiet_, "Prints no report.");
  }

  void run(std::vector<SecretBytes>) override {
    messages_.prepare_to_sign(state_);
    if (devices_.is_remote() && is_draft_slh_set(messages_.set()))
      throw Failure(ExitCode::kUsage,
                    fmt::format("no --service signs with {}, a parameter set of a draft",
                                lc_slh_dsa_name(messages_.set())));
    CurrentOutput output;
    // The watch blocks signals in all later threads, so it is created before them.
    const InterruptWatch watch([&] { output.discard(); });
    try {
      const Context context = devices_.open();
      const auto start = std::chrono::steady_clock::now();
      const lc_result result = messages_.sign(context, is_deterministic_,
                                              [&](const SignedFile &file) { output.write(file); });
      if (quiet_ || messages_.file_count() == 1) return;
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
      fmt::print("{} files signed by {} in {:.2f} s by {}\n", messages_.file_count(),
                 lc_slh_dsa_name(messages_.set()), seconds.count(), who_signed(context, result));
    } catch (const Error &error) {
      throw failure_of(error);
    }
  }

 private:
  static std::string who_signed(const Context &context, const lc_result &result) {
    if (result.service_operations == 0) return who_worked(context);
    return result.cpu_operations == 0 ? "the service" : "the service and the CPU";
  }

  SlhMessages messages_{"out"};
  SlhDevices devices_;
  std::optional<std::string> state_;
  bool is_deterministic_ = false, quiet_ = false;
};

}  // namespace

std::unique_ptr<Subcommand> make_slh_sign() { return std::make_unique<Sign>(); }

}  // namespace lanecrypt::cli
