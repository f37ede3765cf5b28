// Parses the provider's settings, which the core passes as text.
//
// SPDX-License-Identifier: Apache-2.0
#include "provider/settings.h"

#include <openssl/core_dispatch.h>
#include <openssl/params.h>

#include <strings.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>

#include "job/device_list.h"
#include "process/privilege.h"

namespace lanecrypt::provider {
namespace {

// Each parse_... function returns the value of a setting's text, or nothing if the text is invalid.

// parse_bytes() accepts a number such as "65536", "64k" or "1M".
std::optional<uint64_t> parse_bytes(const std::string &text) {
  size_t at = 0;
  uint64_t value = 0;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at)
    if (__builtin_mul_overflow(value, uint64_t{10}, &value) ||
        __builtin_add_overflow(value, uint64_t(text[at] - '0'), &value))
      return std::nullopt;
  if (at == 0) return std::nullopt;
  if (at == text.size()) return value;
  static constexpr char kSuffixes[] = "kKmMgG";
  const char *suffix = std::strchr(kSuffixes, text[at]);
  if (suffix == nullptr || at + 1 != text.size()) return std::nullopt;
  const uint64_t unit = uint64_t{1} << (10 * ((suffix - kSuffixes) / 2 + 1));
  if (__builtin_mul_overflow(value, unit, &value)) return std::nullopt;
  return value;
}

template <uint32_t kLeast, uint32_t kMost>
std::optional<uint32_t> parse_count(const std::string &text) {
  const std::optional<uint64_t> count = parse_bytes(text);
  if (!count || *count < kLeast || *count > kMost) return std::nullopt;
  return uint32_t(*count);
}

std::optional<bool> parse_switch(const std::string &text) {
  for (const char *yes : {"yes", "on", "true", "1"})
    if (strcasecmp(text.c_str(), yes) == 0) return true;
  for (const char *no : {"no", "off", "false", "0"})
    if (strcasecmp(text.c_str(), no) == 0) return false;
  return std::nullopt;
}

std::optional<Settings::Use> parse_use(const std::string &text) {
  if (strcasecmp(text.c_str(), "auto") == 0) return Settings::Use::kAuto;
  if (strcasecmp(text.c_str(), "always") == 0) return Settings::Use::kAlways;
  if (parse_switch(text) == false) return Settings::Use::kOff;
  return std::nullopt;
}

std::optional<lc_verify> parse_verify(const std::string &text) {
  if (strcasecmp(text.c_str(), "sampled") == 0) return LC_VERIFY_SAMPLED;
  if (strcasecmp(text.c_str(), "full") == 0) return LC_VERIFY_FULL;
  if (strcasecmp(text.c_str(), "off") == 0) return LC_VERIFY_OFF;
  return std::nullopt;
}

std::optional<lc_prefer> parse_prefer(const std::string &text) {
  if (strcasecmp(text.c_str(), "speed") == 0) return LC_PREFER_SPEED;
  if (strcasecmp(text.c_str(), "offload") == 0) return LC_PREFER_OFFLOAD;
  return std::nullopt;
}

// parse_path() refuses a relative path, because programs change their working directory.
std::optional<std::string> parse_path(const std::string &text) {
  if (text[0] != '/') return std::nullopt;
  return text;
}

std::optional<std::string> parse_user(const std::string &text) {
  if (text.empty()) return std::nullopt;
  return text;
}

Status wrong(const char *setting, const std::string &value, const char *expected) {
  return Status(LC_ERROR_ARGUMENT, std::string("the setting ") + setting + " = " + value +
                                       " is wrong: it must be " + expected);
}

struct Setting {
  const char *name;
  const char *expected;  // completes the error "it must be ..."
  // Parses the text and stores the value.
  Status (*take)(const Setting &setting, const std::string &text, Settings &settings);
};

// take() parses and stores a setting that is one field with one parser.
template <auto kField, auto kParse>
Status take(const Setting &setting, const std::string &text, Settings &settings) {
  const auto value = kParse(text);
  if (!value) return wrong(setting.name, text, setting.expected);
  settings.*kField = *value;
  return {};
}

Status take_devices(const Setting &, const std::string &text, Settings &settings) {
  LC_TRY(check_device_list(text, "the setting devices ="));
  settings.devices = text;
  return {};
}

Status take_threshold(const Setting &setting, const std::string &text, Settings &settings) {
  settings.threshold_is_set = true;
  return take<&Settings::threshold_bytes, parse_bytes>(setting, text, settings);
}

Status take_service(const Setting &setting, const std::string &text, Settings &settings) {
  settings.service_path.clear();
  if (strcasecmp(text.c_str(), "auto") == 0) {
    settings.service = Settings::Service::kAuto;
  } else if (strcasecmp(text.c_str(), "require") == 0) {
    settings.service = Settings::Service::kRequired;
  } else if (parse_switch(text) == false) {
    settings.service = Settings::Service::kOff;
  } else if (parse_path(text)) {
    settings.service = Settings::Service::kNamed;
    settings.service_path = text;
  } else {
    return wrong(setting.name, text, setting.expected);
  }
  return {};
}

constexpr char kBytes[] = "a number of bytes, such as 1048576, 1024k or 1M";
constexpr char kUse[] = "auto, always or off";
constexpr char kSwitch[] = "yes or no";

// If several settings are invalid, the error names the first in this order.
constexpr Setting kSettings[] = {
    {.name = "devices", .expected = nullptr, .take = take_devices},
    {.name = "threshold_bytes", .expected = kBytes, .take = take_threshold},
    {.name = "pinned_bytes",
     .expected = kBytes,
     .take = take<&Settings::pinned_bytes, parse_bytes>},
    {.name = "rsa", .expected = kUse, .take = take<&Settings::rsa, parse_use>},
    {.name = "ml_dsa", .expected = kUse, .take = take<&Settings::ml_dsa, parse_use>},
    {.name = "slh_dsa", .expected = kUse, .take = take<&Settings::slh_dsa, parse_use>},
    {.name = "require_gpu",
     .expected = kSwitch,
     .take = take<&Settings::require_gpu, parse_switch>},
    {.name = "in_process", .expected = kSwitch, .take = take<&Settings::in_process, parse_switch>},
    {.name = "cores",
     .expected = "a number of cores, from 1 to 1024",
     .take = take<&Settings::cores, parse_count<1, 1024>>},
    {.name = "verify",
     .expected = "off, sampled or full",
     .take = take<&Settings::verify, parse_verify>},
    {.name = "prefer",
     .expected = "speed or offload",
     .take = take<&Settings::prefer, parse_prefer>},
    {.name = "service", .expected = "auto, require, off or an absolute path", .take = take_service},
    {.name = "service_owner",
     .expected = "a user's name or number",
     .take = take<&Settings::service_owner, parse_user>},
    {.name = "prime_pool",
     .expected = "a number of primes, from 0 to 65536",
     .take = take<&Settings::prime_pool, parse_count<0, 65536>>},
    {.name = "stats_file",
     .expected = "an absolute path",
     .take = take<&Settings::stats_file, parse_path>},
};
constexpr size_t kCount = std::size(kSettings);

// Texts has the text of each row of kSettings; nullptr if the setting is absent.
using Texts = std::array<const char *, kCount>;

Result<Texts> ask_core(const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *core) {
  Texts texts{};
  OSSL_FUNC_core_get_params_fn *get_params = nullptr;
  for (; core->function_id != 0; ++core)
    if (core->function_id == OSSL_FUNC_CORE_GET_PARAMS)
      get_params = OSSL_FUNC_core_get_params(core);
  if (get_params == nullptr) return texts;

  std::array<OSSL_PARAM, kCount + 1> params;
  for (size_t n = 0; n < kCount; ++n)
    params[n] = {kSettings[n].name, OSSL_PARAM_UTF8_PTR, &texts[n], 0, OSSL_PARAM_UNMODIFIED};
  params[kCount] = OSSL_PARAM_END;
  if (get_params(handle, params.data()) == 0)
    return Status(LC_ERROR_INTERNAL, "the core does not tell the provider's settings");
  return texts;
}

const char *text_of(const char *name, const Texts &texts) {
  const auto is_it = [name](const Setting &setting) {
    return std::strcmp(setting.name, name) == 0;
  };
  return texts[std::find_if(std::begin(kSettings), std::end(kSettings), is_it) - kSettings];
}

}  // namespace

Result<Settings> read_settings(const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *core) {
  Result<Texts> texts = ask_core(handle, core);
  if (!texts.ok()) return texts.status();
  Settings settings;
  for (size_t n = 0; n < kCount; ++n) {
    const char *text = (*texts)[n];
    if (text != nullptr) LC_TRY(kSettings[n].take(kSettings[n], text, settings));
  }
  if (settings.require_gpu && !settings.in_process)
    return wrong("require_gpu", text_of("require_gpu", *texts),
                 "set together with in_process = yes, which it needs");
  if (process::is_setuid()) settings.leave_all_to_openssl();
  return settings;
}

}  // namespace lanecrypt::provider
