// `lanecrypt genrsa`: generates one RSA key, as `openssl genrsa` does, or many, each in its own
// file.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <openssl/bn.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>

#include "cli/console.h"
#include "cli/crypt/device_engine.h"
#include "cli/failure.h"
#include "cli/interrupt.h"
#include "cli/io/output.h"
#include "cli/keys/key_folder.h"
#include "cli/keys/private_key_file.h"
#include "cli/progress_line.h"
#include "cli/subcommand.h"

namespace lanecrypt::cli {
namespace {

constexpr char kGenrsaHelp[] =
    R"(Makes RSA keys (FIPS 186-5, A.1.3) as PKCS#8 in PEM. Makes one key, on standard output or
in a file, or with --count many, each in its own file: key-00000001.pem and so on. Only the
owner can read the files. Existing keys in the folder are kept, so an interrupted run can be
continued with the same command.

Examples:
  lanecrypt genrsa 4096
  lanecrypt genrsa -out key.pem 3072
  lanecrypt genrsa --count 1000 --out-dir keys
  lanecrypt genrsa --count 100 --bits 3072 --exponent 0x10001 --out-dir keys
  lanecrypt genrsa --service --count 100 --out-dir keys
)";

constexpr unsigned kDefaultBits = 2048;
constexpr uint64_t kMostKeys = 99999999;
constexpr std::chrono::milliseconds kRedraw{150};

// Returns the exponent as big-endian bytes without leading zeros. Throws Failure (kUsage) if `text`
// is not a number or not allowed.
std::string parse_exponent(const std::string &text) {
  BIGNUM *value = nullptr;
  const bool is_hex = text.starts_with("0x") || text.starts_with("0X");
  const int taken = is_hex ? BN_hex2bn(&value, text.c_str() + 2) : BN_dec2bn(&value, text.c_str());
  const std::unique_ptr<BIGNUM, decltype(&BN_free)> number(value, BN_free);
  if (taken <= 0 || static_cast<size_t>(taken) != text.size() - (is_hex ? 2 : 0) ||
      text.starts_with('-') || text.starts_with("0x-"))
    throw Failure(ExitCode::kUsage, fmt::format("--exponent: '{}' is no number", text));
  if (BN_num_bits(value) > 256 || BN_get_word(value) < 65537 || !BN_is_odd(value))
    throw Failure(ExitCode::kUsage, "--exponent must be odd, from 65537 to 2^256 - 1");
  std::string bytes(static_cast<size_t>(BN_num_bytes(value)), '\0');
  BN_bn2bin(value, reinterpret_cast<unsigned char *>(bytes.data()));
  return bytes;
}

// Generates `count` keys and passes the PEM text of each to `write`, in order from number 0. If
// `draws` is true, it shows the progress on standard error.
class Run {
 public:
  using Write = std::function<void(uint64_t number, const SecretBytes &text)>;
  Run(Write write, uint64_t count, const Context &context, bool is_remote, bool draws)
      : write_(std::move(write)),
        count_(count),
        context_(context),
        is_remote_(is_remote),
        draws_(draws) {}
  ~Run() {
    if (is_drawn_) say("\r\033[K");
  }

  void make(unsigned bits, const std::string &exponent, uint32_t device) {
    lc_rsa_generation generation{};
    generation.struct_size = sizeof generation;
    generation.bits = bits;
    generation.exponent = {exponent.data(), exponent.size()};
    generation.count = count_;
    generation.device = device;
    generation.has_device = 1;
    generation.on_key = [](void *argument, uint64_t number, const lc_rsa_parts *key) {
      return static_cast<Run *>(argument)->take(number, *key);
    };
    generation.on_progress = [](void *argument, const lc_rsa_progress *) {
      try {
        static_cast<Run *>(argument)->draw(false);
      } catch (const std::bad_alloc &) {  // a later progress line may succeed
      }
      return 1;
    };
    generation.argument = this;
    try {
      result_ = context_.generate(generation);
    } catch (const Error &error) {
      if (failure_) std::rethrow_exception(failure_);
      throw failure_of(error);
    }
  }

  const lc_result &result() const { return result_; }
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  std::string place() const {
    if (result_.service_operations == 0)
      return result_.device_operations == 0 ? "the CPU" : device_name();
    return result_.cpu_operations == 0 ? "the service" : "the service and the CPU";
  }

 private:
  // Called by the library, through which no exception may pass. make() throws it afterwards.
  int take(uint64_t number, const lc_rsa_parts &key) {
    try {
      write_(number, private_key_pem(key));
      done_ = number + 1;
      draw(false);
      return 1;
    } catch (...) {
      failure_ = std::current_exception();
      return 0;
    }
  }

  // Returns the ID and name of the device with the most operations; "" if no device ran any.
  std::string device_name() const {
    uint64_t most = 0;
    std::string name;
    for (uint32_t index = 0; index < context_.device_count(); index++) {
      const uint64_t operations = context_.counters(index).operations;
      if (operations <= most) continue;
      most = operations;
      const lc_device_info info = context_.device(index);
      name = fmt::format("{} {}", info.id, info.name);
    }
    return name;
  }

  void draw(bool at_once) {
    const auto now = std::chrono::steady_clock::now();
    if (!draws_ || (!at_once && now - last_ < kRedraw)) return;
    last_ = now;
    const double rate = static_cast<double>(done_) / seconds();
    std::string line =
        fmt::format("{} of {} keys  {:.{}f} keys/s", done_, count_, rate, rate < 10 ? 2 : 0);
    if (done_ > 0)
      line += fmt::format("  {} left", format_duration(static_cast<double>(count_ - done_) / rate));
    if (!is_remote_) line += "  " + (device_name().empty() ? "CPU" : device_name());
    struct winsize window {};
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 1)
      line.resize(std::min<size_t>(line.size(), window.ws_col - 1u));
    say(fmt::format("\r{}\033[K", line));
    is_drawn_ = true;
  }

  const Write write_;
  const uint64_t count_;
  const Context &context_;
  const bool is_remote_;  // the service generates the keys; the context has no device
  const bool draws_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last_;
  bool is_drawn_ = false;
  uint64_t done_ = 0;
  lc_result result_{};
  std::exception_ptr failure_;
};

class Genrsa : public Subcommand {
 public:
  std::vector<OptionName> option_names() const override {
    return {{"count", "count", true},
            {"bits", "bits", true},
            {"exponent", "exponent", true},
            {"out", "out", true},
            {"out-dir", "out-dir", true},
            {"outdir", "out-dir", true},
            {"devices", "devices", true},
            {"device", "devices", true},
            // Its value must follow '='.
            {"service", "service"},
            {"service-owner", "service-owner", true},
            {"require-gpu", "require-gpu"},
            {"quiet", "quiet"},
            {"help", "help"},
            {"h", "help"}};
  }

  void declare(CLI::App &app) override {
    app.description(kGenrsaHelp);
    CLI::Option *const plain_bits = app.add_option(
        "numbits", bits_,
        fmt::format("The bits of the modulus: even, from 1024 to 16384. The default is {}.",
                    kDefaultBits));
    plain_bits->option_text("B");
    app.add_option("--bits", bits_, "The same as numbits.")->option_text("B")->excludes(plain_bits);
    app.add_option("--exponent", exponent_,
                   "The public exponent, from 65537 to 2^256-1, decimal or hexadecimal (0x...). "
                   "The default is "
                   "65537.")
        ->option_text("E");
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
    CLI::Option *const devices =
        app.add_option("--devices,--device", devices_,
                       "Uses these devices. The default is LANECRYPT_DEVICES, or every GPU.")
            ->option_text("LIST");
    CLI::Option *const service =
        app.add_flag("--service{auto}", service_,
                     "Uses the service lanecryptd; with --service=PATH, the one at that socket.");
    service->excludes(devices);
    app.add_option("--service-owner", service_owner_,
                   "Accepts a socket of this user too, besides those of root and the current user.")
        ->option_text("USER")
        ->needs(service);
    app.add_flag("--require-gpu", require_device_,
                 "Fails if no device can be used, instead of using the CPU.");
    app.add_flag("--quiet", quiet_, "Prints no progress line and no report.");
  }

  void run(std::vector<SecretBytes>) override {
    if (count_ && (*count_ == 0 || *count_ > kMostKeys))
      throw Failure(ExitCode::kUsage, fmt::format("--count must be from 1 to {}", kMostKeys));
    if (bits_ < 1024 || bits_ > 16384 || bits_ % 2 != 0)
      throw Failure(ExitCode::kUsage,
                    "the bits of the modulus (--bits) must be an even number from 1024 to 16384");
    const std::string exponent = parse_exponent(exponent_);
    try {
      if (count_)
        fill_folder(exponent);
      else
        make_one(exponent);
    } catch (const Error &error) {
      throw failure_of(error);
    }
  }

 private:
  Context open_devices() const {
    lc_options options{};
    options.struct_size = sizeof options;
    options.devices = devices_ ? devices_->c_str() : nullptr;
    options.fallback = require_device_ ? LC_FALLBACK_NONE : LC_FALLBACK_CPU;
    if (service_) {
      options.service = service_->c_str();
      options.service_owner = service_owner_ ? service_owner_->c_str() : nullptr;
      options.devices = "none";
    }
    Context context(options);
    // A device that the user named must exist. The CPU is not used instead.
    if (!service_) (void)context.device_count();
    return context;
  }

  bool draws() const { return !quiet_ && isatty(STDERR_FILENO); }

  void make_one(const std::string &exponent) {
    Output output(file_, Output::Readers::kOwner);
    // The watch blocks signals in all later threads, so it is created before them.
    const InterruptWatch watch([&] { output.discard(); });
    const Context context = open_devices();
    output.create();
    const auto write = [&](uint64_t, const SecretBytes &text) {
      output.write({text.data(), text.size()});
    };
    Run(write, 1, context, service_.has_value(), draws()).make(bits_, exponent, LC_ANY_DEVICE);
    output.commit(true);
  }

  void fill_folder(const std::string &exponent) {
    KeyFolder folder(folder_);
    const InterruptWatch watch([&] { folder.discard(); });
    const std::vector<uint64_t> missing = folder.missing(*count_, [&](const SecretBytes &text) {
      return look_at_private_key(text, bits_, exponent);
    });
    const Context context = open_devices();
    const auto write = [&](uint64_t number, const SecretBytes &text) {
      folder.write(missing[number], text);
    };
    Run run(write, missing.size(), context, service_.has_value(), draws());
    if (!missing.empty()) {
      run.make(bits_, exponent, LC_ANY_DEVICE);
      folder.sync();
    }
    if (quiet_) return;
    const uint64_t kept = *count_ - missing.size();
    std::string report = fmt::format("{} keys of {} bits in {}", *count_, bits_, folder_);
    if (kept > 0) report += fmt::format(", {} of them from before", kept);
    if (!missing.empty())
      report +=
          fmt::format("; {} made in {:.2f} s by {}", missing.size(), run.seconds(), run.place());
    fmt::print("{}\n", report);
  }

  std::optional<uint64_t> count_;
  unsigned bits_ = kDefaultBits;
  std::string exponent_ = "65537", folder_, file_ = "-";
  std::optional<std::string> devices_, service_, service_owner_;
  bool require_device_ = false, quiet_ = false;
};

}  // namespace

std::unique_ptr<Subcommand> make_genrsa() { return std::make_unique<Genrsa>(); }

}  // namespace lanecrypt::cli
