// `lanecrypt devices`: which devices there are, and why one cannot be used.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/crypt/device_engine.h"
#include "cli/subcommand.h"
#include "lanecrypt/lanecrypt.hpp"

namespace lanecrypt::cli {
namespace {

constexpr char kDevicesHelp[] =
    R"(Lists the devices that were found, in order of preference. Says why a device
cannot be used.

Examples:
  lanecrypt devices
  lanecrypt devices --test --json     runs the known-answer tests on each device
)";

std::string self_test_text(const lc_device_info &info) {
  switch (info.state) {
    case LC_DEVICE_READY:
      return "passed";
    case LC_DEVICE_UNTRIED:
      return "not run";
    case LC_DEVICE_LOST:
      return "lost";
    case LC_DEVICE_UNUSABLE:
      break;
  }
  return "unusable";
}

// An API that has no device on this machine, with the reason.
struct Missing {
  std::string api, why;
};

std::vector<Missing> missing_apis(const std::vector<lc_device_info> &devices) {
  std::vector<Missing> missing;
  for (const char *api : {"cuda", "opencl", "gl"}) {
    if (std::any_of(devices.begin(), devices.end(),
                    [&](const lc_device_info &info) { return info.api == std::string_view(api); }))
      continue;
    try {
      (void)Context(api).device_count();
    } catch (const Error &error) {
      // The library's message says that there is no device, and then why.
      constexpr std::string_view kNone = " here. ";
      const std::string text = error.what();
      if (const size_t at = text.find(kNone); at != std::string::npos)
        missing.push_back({api, text.substr(at + kNone.size())});
    }
  }
  return missing;
}

void print_json(const std::vector<lc_device_info> &devices, const std::vector<Missing> &missing) {
  auto list = nlohmann::ordered_json::array();
  for (size_t i = 0; i < devices.size(); i++) {
    const lc_device_info &info = devices[i];
    list.push_back({{"index", i},
                    {"id", info.id},
                    {"api", info.api},
                    {"name", info.name},
                    {"driver", info.driver},
                    {"memory_bytes", info.memory_bytes},
                    {"compute_units", info.compute_units},
                    {"is_gpu", info.is_gpu != 0},
                    {"selected", info.selected != 0},
                    {"self_test", self_test_text(info)},
                    {"reason", info.reason}});
  }
  auto others = nlohmann::ordered_json::array();
  for (const Missing &one : missing) others.push_back({{"api", one.api}, {"reason", one.why}});
  const nlohmann::ordered_json json = {{"devices", list}, {"missing", others}};
  fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

void print_table(const std::vector<lc_device_info> &devices, const std::vector<Missing> &missing) {
  constexpr size_t kColumns = 7;
  std::vector<std::array<std::string, kColumns>> rows = {
      {"INDEX", "ID", "NAME", "MEMORY", "DRIVER", "SELF-TEST", "SELECTED"}};
  for (size_t i = 0; i < devices.size(); i++) {
    const lc_device_info &info = devices[i];
    rows.push_back(
        {std::to_string(i), info.id, info.name,
         info.memory_bytes == 0
             ? "unknown"
             : fmt::format("{:.1f} GiB", static_cast<double>(info.memory_bytes) / (1 << 30)),
         info.driver, self_test_text(info), info.selected ? "yes" : "no"});
  }
  std::array<size_t, kColumns> widths{};
  for (const auto &row : rows)
    for (size_t column = 0; column < kColumns; column++)
      widths[column] = std::max(widths[column], row[column].size());
  for (size_t i = 0; i < rows.size(); i++) {
    std::string line;
    for (size_t column = 0; column < kColumns; column++)
      line += fmt::format("{:<{}}", rows[i][column], widths[column] + 2);
    line.erase(line.find_last_not_of(' ') + 1);
    fmt::print("{}\n", line);
    if (i > 0 && devices[i - 1].reason[0] != '\0') fmt::print("       {}\n", devices[i - 1].reason);
  }
  if (devices.empty()) fmt::print("No device was found. Everything runs on the CPU.\n");
  for (const Missing &one : missing) fmt::print("{}: {}\n", one.api, one.why);
}

class Devices : public Subcommand {
 public:
  std::vector<OptionName> option_names() const override {
    return {{"json", "json"},
            {"test", "test"},
            {"devices", "devices", true},
            {"device", "devices", true},
            {"help", "help"},
            {"h", "help"}};
  }

  void declare(CLI::App &app) override {
    app.description(kDevicesHelp);
    app.add_flag("--json", json_, "Prints JSON.");
    app.add_flag("--test", test_, "Runs the self-test of each device now.");
    app.add_option("--devices,--device", devices_,
                   "Selects these devices, as for enc. The default is LANECRYPT_DEVICES, or every "
                   "GPU.")
        ->option_text("LIST");
  }

  void run(std::vector<SecretBytes>) override {
    try {
      const Context context(devices_ ? devices_->c_str() : nullptr);
      std::vector<lc_device_info> list;
      bool selected_failed = false;
      const uint32_t count = context.device_count();
      for (uint32_t i = 0; i < count; i++) {
        // The device's `state` and `reason` hold the details.
        const bool failed = test_ && lc_device_test(context.get(), i) != LC_OK;
        list.push_back(context.device(i));
        selected_failed |= failed && list.back().selected;
      }
      // A user who named devices is interested only in their APIs.
      std::vector<Missing> missing;
      if (!devices_ && secure_getenv("LANECRYPT_DEVICES") == nullptr) missing = missing_apis(list);
      json_ ? print_json(list, missing) : print_table(list, missing);
      if (selected_failed)
        throw Failure(ExitCode::kNoDevice, "a selected device did not pass its self-test");
    } catch (const Error &error) {
      throw failure_of(error);
    }
  }

 private:
  bool json_ = false, test_ = false;
  std::optional<std::string> devices_;
};

}  // namespace

std::unique_ptr<Subcommand> make_devices() { return std::make_unique<Devices>(); }

}  // namespace lanecrypt::cli
