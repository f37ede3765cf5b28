// `lanecrypt tune`: measures the devices and the CPU, and shows from which size on each is chosen.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/crypt/device_engine.h"
#include "cli/subcommand.h"
#include "job/cipher/cipher_info.h"
#include "lanecrypt/lanecrypt.hpp"

namespace lanecrypt::cli {
namespace {

constexpr char kTuneHelp[] =
    R"(Measures how long devices and the CPU take for requests of all kinds and sizes, and
stores the results. Programs use them to choose where a request runs. Nothing else should
run on the machine meanwhile.

Examples:
  lanecrypt tune                measures every selected device
  lanecrypt tune --quick        measures only the most common requests, in a second
  lanecrypt tune --show         prints the stored results
)";

// Returns OpenSSL's name of the cipher in lower case. For ciphertext stealing, for which OpenSSL
// has one name for three variants, it is this project's name.
std::string cipher_name(const lc_tune_point &point) {
  const CipherInfo &info = cipher_info(point.cipher);
  std::string name = info.family(point.key_bytes) + (info.steals() ? info.name : info.openssl);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

const char *direction_name(const lc_tune_point &point) {
  return point.direction == LC_ENCRYPT ? "encrypt" : "decrypt";
}

std::string size_text(uint64_t bytes) {
  if (bytes >= 1 << 20) return fmt::format("{} MiB", bytes >> 20);
  return bytes >= 1 << 10 ? fmt::format("{} KiB", bytes >> 10) : fmt::format("{} B", bytes);
}

struct Measured {
  lc_device_info info;
  std::vector<lc_tune_point> points;
};

nlohmann::ordered_json to_json(const Measured &measured) {
  auto points = nlohmann::ordered_json::array();
  for (const lc_tune_point &point : measured.points)
    points.push_back({{"cipher", cipher_name(point)},
                      {"direction", direction_name(point)},
                      {"memory", point.pinned ? "pinned" : "ordinary"},
                      {"streams", point.streams},
                      {"bytes", point.bytes},
                      {"device_ns", point.device_ns},
                      {"device_cpu_ns", point.device_cpu_ns},
                      {"cpu_ns", point.cpu_ns},
                      {"cores_ns", point.cores_ns}});
  return {{"id", measured.info.id}, {"name", measured.info.name}, {"points", points}};
}

// Returns bytes per nanosecond, which is GB/s.
double rate(uint64_t bytes, uint64_t ns) {
  return ns == 0 ? 0.0 : static_cast<double>(bytes) / static_cast<double>(ns);
}

// Prints, for each kind of request, the rates at the largest size, and the smallest size from which
// on the device is faster than the CPU's fastest method and from which on it costs less CPU time.
void print_table(const Measured &measured) {
  fmt::print("{}, {}\n", measured.info.id, measured.info.name);
  fmt::print("  {:<22} {:<8} {:<9} {:>7} {:>10} {:>10} {:>10} {:>12} {:>12}\n", "CIPHER", "",
             "MEMORY", "STREAMS", "DEVICE", "ONE CORE", "CORES", "SOONER FROM", "LIGHTER FROM");
  const std::vector<lc_tune_point> &points = measured.points;
  for (size_t first = 0; first < points.size();) {
    const auto is_same = [&](const lc_tune_point &point) {
      const lc_tune_point &one = points[first];
      return point.cipher == one.cipher && point.direction == one.direction &&
             point.key_bytes == one.key_bytes && point.pinned == one.pinned &&
             point.streams == one.streams;
    };
    size_t end = first;
    std::string sooner = "-", lighter = "-";
    for (; end < points.size() && is_same(points[end]); ++end) {
      const lc_tune_point &point = points[end];
      const uint64_t cores_ns = point.cores_ns == 0 ? point.cpu_ns : point.cores_ns;
      if (point.device_ns >= std::min(point.cpu_ns, cores_ns))
        sooner = "-";
      else if (sooner == "-")
        sooner = size_text(point.bytes);
      if (point.device_cpu_ns >= point.cpu_ns)
        lighter = "-";
      else if (lighter == "-")
        lighter = size_text(point.bytes);
    }
    const lc_tune_point &last = points[end - 1];
    const std::string cores =
        last.cores_ns == 0 ? "-" : fmt::format("{:.2f} GB/s", rate(last.bytes, last.cores_ns));
    fmt::print("  {:<22} {:<8} {:<9} {:>7} {:>5.2f} GB/s {:>5.2f} GB/s {:>10} {:>12} {:>12}\n",
               cipher_name(last), direction_name(last), last.pinned ? "pinned" : "ordinary",
               last.streams, rate(last.bytes, last.device_ns), rate(last.bytes, last.cpu_ns), cores,
               sooner, lighter);
    first = end;
  }
}

class Tune : public Subcommand {
 public:
  std::vector<OptionName> option_names() const override {
    return {{"json", "json"},
            {"show", "show"},
            {"quick", "quick"},
            {"devices", "devices", true},
            {"device", "devices", true},
            {"help", "help"},
            {"h", "help"}};
  }

  void declare(CLI::App &app) override {
    app.description(kTuneHelp);
    app.add_flag("--json", json_, "Prints JSON with every measured point.");
    CLI::Option *show =
        app.add_flag("--show", show_, "Prints the stored results and measures nothing.");
    app.add_flag("--quick", quick_, "Measures only the most common requests.")->excludes(show);
    app.add_option(
           "--devices,--device", devices_,
           "Measures these devices, as for enc. The default is LANECRYPT_DEVICES, or every GPU.")
        ->option_text("LIST");
  }

  void run(std::vector<SecretBytes>) override {
    try {
      const Context context(devices_ ? devices_->c_str() : nullptr);
      std::vector<Measured> all;
      const uint32_t count = context.device_count();
      for (uint32_t index = 0; index < count; index++) {
        Measured measured = {context.device(index), {}};
        if (!measured.info.selected) continue;
        const lc_status status = lc_tune(context.get(), index, depth(), take, &measured);
        if (status == LC_ERROR_UNSUPPORTED && show_) continue;
        check(status);
        all.push_back(std::move(measured));
      }
      if (all.empty())
        throw Failure(ExitCode::kNoDevice, show_ ? "no device was measured yet: run lanecrypt tune"
                                                 : "there is no device to measure");
      print(all);
    } catch (const Error &error) {
      throw failure_of(error);
    }
  }

 private:
  lc_tune_depth depth() const {
    if (show_) return LC_TUNE_STORED;
    return quick_ ? LC_TUNE_QUICK : LC_TUNE_FULL;
  }
  static int take(void *measured, const lc_tune_point *point) {
    static_cast<Measured *>(measured)->points.push_back(*point);
    return 0;
  }
  void print(const std::vector<Measured> &all) const {
    if (!json_) {
      for (const Measured &measured : all) print_table(measured);
      return;
    }
    auto devices = nlohmann::ordered_json::array();
    for (const Measured &measured : all) devices.push_back(to_json(measured));
    const nlohmann::ordered_json json = {{"devices", devices}};
    fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  }

  bool json_ = false, show_ = false, quick_ = false;
  std::optional<std::string> devices_;
};

}  // namespace

std::unique_ptr<Subcommand> make_tune() { return std::make_unique<Tune>(); }

}  // namespace lanecrypt::cli
