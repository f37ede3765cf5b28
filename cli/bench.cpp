// `lanecrypt bench`: the command around the measurements.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>

#include "bench_aes.h"
#include "bench_results.h"
#include "bench_rsa.h"
#include "device_engine.h"
#include "failure.h"
#include "output.h"
#include "subcommand.h"

namespace lanecrypt::cli {
namespace {

constexpr char kHelp[] =
    R"(Measures AES (aes) on each selected device, with the data on the card and with
the copies there and back, or RSA (rsa) in batches of several sizes, beside
OpenSSL on one core and on all. Every output is compared with OpenSSL's.

Examples:
  lanecrypt bench rsa --quick
  lanecrypt bench aes --quick
  lanecrypt bench aes --devices cuda:0 --json --out results.json
)";

class Bench : public Subcommand {
 public:
  std::vector<OptionName> option_names() const override {
    return {{"json", "json"},
            {"out", "out", true},
            {"devices", "devices", true},
            {"device", "devices", true},
            {"quick", "quick"},
            {"quiet", "quiet"},
            {"help", "help"},
            {"h", "help"}};
  }

  void declare(CLI::App &app) override {
    app.description(kHelp);
    app.add_option("what", what_, "what to measure: aes or rsa")
        ->required()
        ->option_text("aes|rsa");
    app.add_flag("--json", json_, "print JSON instead of a table");
    app.add_option("--out", out_, "write the JSON to a file too")->option_text("FILE");
    app.add_option("--devices,--device", devices_,
                   "on which devices; otherwise as LANECRYPT_DEVICES says, or every GPU")
        ->option_text("LIST");
    app.add_flag("--quick", quick_, "fewer ciphers, sizes and runs: under a minute");
    app.add_flag("--quiet", quiet_, "do not say what is being measured");
  }

  void run(std::vector<SecretBytes>) override {
    if (what_ != "aes" && what_ != "rsa")
      throw Failure(ExitCode::kUsage,
                    fmt::format("there is no benchmark '{}': there are aes and rsa", what_));
    std::optional<Output> output;
    if (!out_.empty()) output.emplace(out_, (struct stat){});
    try {
      measure(output);
    } catch (const Error &error) {
      throw failure_of(error);
    }
  }

 private:
  void measure(std::optional<Output> &output) {
    const Context context(devices_ ? devices_->c_str() : nullptr, LC_FALLBACK_NONE);
    const bool tells = !quiet_ && isatty(STDERR_FILENO);
    const auto bench = what_ == "aes" ? bench_aes : bench_rsa;
    const std::vector<BenchResult> results = bench(context, quick_, [&](const auto &text) {
      if (tells) fmt::print(stderr, "\r{}\033[K", text);
    });
    if (tells) fmt::print(stderr, "\r\033[K");

    Machine machine = this_machine();
    const uint32_t count = context.device_count();
    for (uint32_t i = 0; i < count; i++) {
      const lc_device_info info = context.device(i);
      if (!info.selected || info.state != LC_DEVICE_READY) continue;
      machine.gpu += (machine.gpu.empty() ? "" : "; ") + std::string(info.name);
      machine.driver += (machine.driver.empty() ? "" : "; ") + std::string(info.driver);
    }
    if (machine.gpu.empty())
      fmt::print(stderr,
                 "lanecrypt: no device is selected and usable: OpenSSL alone was measured (see "
                 "lanecrypt devices)\n");
    const std::string json =
        results_json(machine, results)
            .dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) +
        "\n";
    if (output) {
      output->create();
      output->write({reinterpret_cast<const uint8_t *>(json.data()), json.size()});
      output->commit(false);
    }
    fmt::print("{}", json_ ? json : results_table(results));
  }

  std::string what_, out_;
  std::optional<std::string> devices_;
  bool json_ = false, quick_ = false, quiet_ = false;
};

}  // namespace

std::unique_ptr<Subcommand> make_bench() { return std::make_unique<Bench>(); }

}  // namespace lanecrypt::cli
