// lanecrypt-bench, the program that `lanecrypt bench` runs: options, contexts and results around
// the measurements.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/aes/aes.h"
#include "bench/aes/timing.h"
#include "bench/hash/hash.h"
#include "bench/host/host.h"
#include "bench/load/provider_library.h"
#include "bench/papers/papers.h"
#include "bench/pq/pq.h"
#include "bench/report/log.h"
#include "bench/report/results.h"
#include "bench/rsa/rsa.h"
#include "cli/console.h"
#include "cli/crypt/device_engine.h"
#include "cli/failure.h"
#include "cli/io/output.h"
#include "cli/program.h"
#include "cli/provider_module.h"
#include "cli/subcommand.h"
#include "process/diagnostics.h"

namespace lanecrypt::bench {
namespace {

constexpr char kHelp[] =
    R"(aes: measures AES on each selected device, in device memory and with the copies
to and from the host, and OpenSSL on one core and on all. Every output is compared
with OpenSSL's.
rsa: measures RSA in batches of several sizes, signatures through EVP by the provider
gpu, and key generation, and OpenSSL on one core and on all.
pq: measures signatures, keys and verifications of ML-DSA and SLH-DSA in batches, the
time of one signature and of one key, and OpenSSL 3.5 or later on one core and on all,
also by other libcryptos (--libcrypto).
hash: measures SHA-2, SHA-3 and SHAKE of many messages, and BLAKE3, SHA-256 trees and
ParallelHash of one large message, in device memory and from pinned memory, and
OpenSSL on one core and on all. Every digest is compared with the CPU's.
host: measures AES from host memory to host memory, pinned and through EVP, with the
CPU time, in turn with OpenSSL; the cost of checking the output; and the share of a
core that a concurrent task keeps.
kernels: measures AES in device memory by each form of the kernels that the device can
run, and GHASH and Poly1305 by matrices and by integers. Outputs are compared with
OpenSSL's.
timing: tests whether the time of a kernel depends on keys or data: Welch's t of
100,000 launches (--launches), half of them with one key, and half with equal blocks.
A t between -4.5 and 4.5 means that no difference was found. --quick leaves out keys
of 192 and 256 bits.
papers: repeats the measurements of five papers and shows their figures: of 2007 (R
files, H OpenGL, M sizes), 2010 (W packets) and 2013 (S sizes, loaded CPUs and RSA).
--out names a folder for papers.json and the table, the current folder by default; R
also needs 2.7 GB there for temporary files. R needs a RAM disk at /dev/shm and, for
power, NVIDIA's NVML. H needs EGL with OpenGL. What is missing is named and left out.
kernels, and the parts of papers that use fragment shaders of OpenGL, need a build with
LANECRYPT_DIAGNOSTICS, as dev/bench makes. S loads the CPU by stress-ng if that is on
the PATH, and otherwise by its own threads.

Examples:
  lanecrypt bench rsa --quick
  lanecrypt bench aes --quick
  lanecrypt bench host --devices cuda:0 --json --out results.json
  lanecrypt bench kernels --devices cuda:0 --only ctr,gcm
  lanecrypt bench papers S --devices cuda:0 --out results
  lanecrypt bench aes --devices cuda:0 --json --out results.json
)";

class Bench : public cli::Subcommand {
 public:
  std::vector<cli::OptionName> option_names() const override {
    return {{"json", "json"},
            {"out", "out", true},
            {"devices", "devices", true},
            {"device", "devices", true},
            {"only", "only", true},
            {"module", "module", true},
            {"libcrypto", "libcrypto", true},
            {"dir", "dir", true},
            {"launches", "launches", true},
            {"quick", "quick"},
            {"quiet", "quiet"},
            {"help", "help"},
            {"h", "help"}};
  }

  void declare(CLI::App &app) override {
    app.description(kHelp);
    app.add_option("what", what_,
                   "what to measure: aes, rsa, pq, hash, host, kernels, timing or papers")
        ->required()
        ->option_text("aes|rsa|pq|hash|host|kernels|timing|papers");
    app.add_option("paper", paper_, "Runs only this paper, with papers.")->option_text("R|H|M|W|S");
    app.add_flag("--json", json_, "Prints JSON instead of a table.");
    app.add_option("--out", out_, "Also writes the JSON to a file; with papers, into a folder.")
        ->option_text("FILE|DIR");
    app.add_option("--devices,--device", devices_,
                   "Measures these devices. The default is LANECRYPT_DEVICES, or every GPU.")
        ->option_text("LIST");
    app.add_option("--only", only_, "Measures only results whose names contain one of these texts.")
        ->delimiter(',')
        ->option_text("TEXT,...");
    app.add_option(
           "--module", module_,
           "Uses this provider, with rsa, pq and host. The default is the one built or installed "
           "with this command.")
        ->option_text("GPU.SO");
    app.add_option("--libcrypto", libcrypto_,
                   "Measures these versions of OpenSSL too, with pq, besides this command's own.")
        ->delimiter(',')
        ->option_text("FILE,...");
    app.add_option("--dir", dir_, "Measures files in this folder (a RAM disk) too, with host.")
        ->option_text("DIR");
    app.add_option("--launches", launches_,
                   "Makes this number of launches of each case, with timing.")
        ->check(CLI::Range(10u, 100000000u))
        ->option_text("N");
    app.add_flag("--quick", quick_,
                 "Measures fewer ciphers and sizes in fewer runs, in less than a minute.");
    app.add_flag("--quiet", quiet_, "Does not print what is being measured.");
  }

  void run(std::vector<cli::SecretBytes>) override {
    static constexpr std::string_view kKnown[] = {"aes",  "rsa",     "pq",     "hash",
                                                  "host", "kernels", "timing", "papers"};
    if (std::find(std::begin(kKnown), std::end(kKnown), what_) == std::end(kKnown))
      throw cli::Failure(
          cli::ExitCode::kUsage,
          fmt::format("there is no benchmark '{}': there are aes, rsa, pq, hash, host, kernels, "
                      "timing and papers",
                      what_));
    if (!paper_.empty() && what_ != "papers")
      throw cli::Failure(cli::ExitCode::kUsage,
                         fmt::format("'{}' has no part '{}'", what_, paper_));
    if (!paper_.empty() && !is_paper(paper_))
      throw cli::Failure(cli::ExitCode::kUsage, fmt::format("there is no paper '{}': there are {}",
                                                            paper_, paper_letters()));
    if (what_ == "papers" && !only_.empty())
      throw cli::Failure(cli::ExitCode::kUsage, "bench papers takes no --only");
    if (!module_.empty() && what_ != "rsa" && what_ != "pq" && what_ != "host")
      throw cli::Failure(cli::ExitCode::kUsage, fmt::format("bench {} takes no --module", what_));
    if (!module_.empty() && access(module_.c_str(), R_OK) != 0)
      cli::throw_errno("cannot read the provider " + module_, errno);
    if (!libcrypto_.empty() && what_ != "pq")
      throw cli::Failure(cli::ExitCode::kUsage,
                         fmt::format("bench {} takes no --libcrypto", what_));
    if (!dir_.empty() && what_ != "host")
      throw cli::Failure(cli::ExitCode::kUsage, fmt::format("bench {} takes no --dir", what_));
    if (launches_ && what_ != "timing")
      throw cli::Failure(cli::ExitCode::kUsage, fmt::format("bench {} takes no --launches", what_));
    // For the papers, `out_` is a folder.
    if (!out_.empty() && what_ == "papers") {
      std::error_code error;
      std::filesystem::create_directories(out_, error);
      if (error)
        throw cli::Failure(cli::ExitCode::kUsage,
                           fmt::format("cannot make the folder {}: {}", out_, error.message()));
      folder_ = out_;
      out_ = fmt::format("{}/papers{}.json", out_, paper_.empty() ? "" : "-" + paper_);
    }
    // Checks before anything is measured that the file can be written.
    if (!out_.empty()) cli::Output(out_, cli::Output::Readers::kByUmask);
    try {
      measure();
    } catch (const Error &error) {
      throw cli::failure_of(error);
    }
  }

 private:
  void measure() {
    const char *devices = devices_ ? devices_->c_str() : nullptr;
    const Context context(devices, LC_FALLBACK_NONE);
    // Results are written as they arrive, because all measurements take minutes.
    BenchLog log(only_, !quiet_ && isatty(STDERR_FILENO), [&](const auto &so_far) {
      if (!out_.empty()) write(json_of(machine_of(context), so_far));
    });
    // OpenSSL would look for a relative name in its own folder of modules.
    const std::string module =
        module_.empty() ? cli::find_provider_module() : std::filesystem::absolute(module_).string();
    if (what_ == "aes") bench_aes(context, quick_, log);
    if (what_ == "rsa") bench_rsa(context, module, quick_, log);
    if (what_ == "pq") {
      const std::vector<OpensslPq> openssls = open_openssls(libcrypto_);
      bench_ml_dsa(context, openssls, quick_, log);
      bench_slh_dsa(context, openssls, quick_, log);
      bench_slh_dsa_evp(context, module, quick_, log);
    }
    if (what_ == "hash") bench_hash(context, quick_, log);
    if (what_ == "host") bench_host(context, module, dir_, quick_, log);
    if (what_ == "kernels") measure_kernels(devices, log);
    if (what_ == "timing") bench_timing(context, quick_, launches_, log);
    if (what_ == "papers") bench_papers(context, paper_, quick_, folder_, log);
    log.tell("");
    report(machine_of(context), log.results());
  }

  // A context chooses the form of its kernels when it opens a device, so each form gets a
  // context.
  void measure_kernels(const char *devices, BenchLog &log) const {
    if (!process::kHasDiagnostics)
      throw cli::Failure(
          cli::ExitCode::kUsage,
          "bench kernels chooses forms of kernels, which this build does not: dev/bench "
          "builds with LANECRYPT_DIAGNOSTICS");
    for (const char *form : {"table4", "table1", "bitslice"}) {
      setenv("LANECRYPT_AES_FORM", form, 1);
      bench_kernels(Context(devices, LC_FALLBACK_NONE), form, quick_, log);
      unsetenv("LANECRYPT_AES_FORM");
    }
    for (const char *form : {"matrix", "integer"}) {
      setenv("LANECRYPT_HASH_FORM", form, 1);
      bench_hashes(Context(devices, LC_FALLBACK_NONE), form, quick_, log);
      unsetenv("LANECRYPT_HASH_FORM");
    }
  }

  void report(const Machine &machine, const std::vector<BenchResult> &results) const {
    if (results.empty() && !only_.empty())
      throw cli::Failure(cli::ExitCode::kUsage,
                         fmt::format("bench {} measures nothing here that has {} in its name",
                                     what_, fmt::join(only_, " or ")));
    if (machine.gpu.empty())
      cli::complain(
          "no device is selected and usable: OpenSSL alone was measured (see lanecrypt devices)");
    const std::string json = json_of(machine, results);
    write(json);
    const std::string table =
        (what_ == "papers" ? results_heading(machine) : "") + results_table(results);
    if (what_ == "papers" && !out_.empty())
      write_to(std::filesystem::path(out_).replace_extension(".txt"), table);
    fmt::print("{}", json_ ? json : table);
  }

  static Machine machine_of(const Context &context) {
    Machine machine = this_machine();
    const uint32_t count = context.device_count();
    for (uint32_t i = 0; i < count; i++) {
      // Not every benchmark prepares a device of this context: RSA opens devices itself, and the
      // forms of AES were measured in other contexts.
      if (!context.device(i).selected || lc_device_test(context.get(), i) != LC_OK) continue;
      const lc_device_info info = context.device(i);
      machine.gpu += (machine.gpu.empty() ? "" : "; ") + std::string(info.name);
      machine.driver += (machine.driver.empty() ? "" : "; ") + std::string(info.driver);
    }
    return machine;
  }

  static std::string json_of(const Machine &machine, const std::vector<BenchResult> &results) {
    return results_json(machine, results)
               .dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) +
           "\n";
  }

  void write(const std::string &json) const {
    if (!out_.empty()) write_to(out_, json);
  }

  static void write_to(const std::string &path, const std::string &text) {
    cli::Output output(path, (struct stat){});
    output.create();
    output.write({reinterpret_cast<const uint8_t *>(text.data()), text.size()});
    output.commit(false);
  }

  std::string folder_ = ".";  // for temporary files of a benchmark
  std::string what_, paper_, out_, module_, dir_;
  std::optional<std::string> devices_;
  std::vector<std::string> only_, libcrypto_;
  std::optional<unsigned> launches_;
  bool json_ = false, quick_ = false, quiet_ = false;
};

}  // namespace
}  // namespace lanecrypt::bench

int main(int argc, char **argv) {
  return lanecrypt::cli::run_program([&] {
    lanecrypt::bench::Bench bench;
    return lanecrypt::cli::run_subcommand("bench", bench, argc, argv, 1);
  });
}
