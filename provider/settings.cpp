// SPDX-License-Identifier: Apache-2.0
#include "provider/settings.h"

#include <openssl/core_dispatch.h>
#include <openssl/params.h>

#include <cstring>

#include "job/device_list.h"
#include "process/privilege.h"

namespace lanecrypt::provider {
namespace {

// The number that a text such as "65536", "64k" or "1M" means.
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

Status wrong(const char *setting, const std::string &value, const char *expected) {
  return Status(LC_ERROR_ARGUMENT, std::string("the setting ") + setting + " = " + value +
                                       " is wrong: it must be " + expected);
}

}  // namespace

Result<Settings> read_settings(const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *core) {
  OSSL_FUNC_core_get_params_fn *get_params = nullptr;
  for (; core->function_id != 0; ++core)
    if (core->function_id == OSSL_FUNC_CORE_GET_PARAMS)
      get_params = OSSL_FUNC_core_get_params(core);
  Settings settings;
  if (get_params == nullptr) return settings;

  const char *devices = nullptr, *threshold = nullptr, *require = nullptr, *stats = nullptr,
             *rsa = nullptr, *verify = nullptr, *prefer = nullptr, *pool = nullptr,
             *keystream = nullptr, *after = nullptr, *memory = nullptr, *pinned = nullptr,
             *in_process = nullptr, *cores = nullptr;
  const auto text = [](const char *key, const char **value) {
    return OSSL_PARAM{key, OSSL_PARAM_UTF8_PTR, value, 0, OSSL_PARAM_UNMODIFIED};
  };
  OSSL_PARAM params[] = {text("devices", &devices),
                         text("threshold_bytes", &threshold),
                         text("require_gpu", &require),
                         text("stats_file", &stats),
                         text("rsa", &rsa),
                         text("verify", &verify),
                         text("prefer", &prefer),
                         text("prime_pool", &pool),
                         text("keystream", &keystream),
                         text("keystream_after", &after),
                         text("keystream_memory", &memory),
                         text("pinned_bytes", &pinned),
                         text("in_process", &in_process),
                         text("cores", &cores),
                         OSSL_PARAM_END};
  if (get_params(handle, params) == 0)
    return Status(LC_ERROR_INTERNAL, "the core does not tell the provider's settings");

  if (devices != nullptr) {
    if (const Status list = check_device_list(devices); !list.ok()) return list;
    settings.devices = devices;
  }
  settings.threshold_is_set = threshold != nullptr;
  const struct {
    const char *name, *value;
    uint64_t *bytes;
  } sizes[] = {{"threshold_bytes", threshold, &settings.threshold_bytes},
               {"keystream_after", after, &settings.keystream_after_bytes},
               {"keystream_memory", memory, &settings.keystream_memory_bytes},
               {"pinned_bytes", pinned, &settings.pinned_bytes}};
  for (const auto &size : sizes) {
    if (size.value == nullptr) continue;
    const std::optional<uint64_t> bytes = parse_bytes(size.value);
    if (!bytes)
      return wrong(size.name, size.value, "a number of bytes, such as 1048576, 1024k or 1M");
    *size.bytes = *bytes;
  }
  const struct {
    const char *name, *value;
    Settings::Use *use;
  } uses[] = {{"keystream", keystream, &settings.keystream}, {"rsa", rsa, &settings.rsa}};
  for (const auto &use : uses) {
    if (use.value == nullptr) continue;
    const std::optional<Settings::Use> value = parse_use(use.value);
    if (!value) return wrong(use.name, use.value, "auto, always or off");
    *use.use = *value;
  }
  const struct {
    const char *name, *value;
    bool *is_on;
  } switches[] = {{"require_gpu", require, &settings.require_gpu},
                  {"in_process", in_process, &settings.in_process}};
  for (const auto &one : switches) {
    if (one.value == nullptr) continue;
    const std::optional<bool> value = parse_switch(one.value);
    if (!value) return wrong(one.name, one.value, "yes or no");
    *one.is_on = *value;
  }
  if (settings.require_gpu && !settings.in_process)
    return wrong("require_gpu", require, "set together with in_process = yes, which it needs");
  if (cores != nullptr) {
    constexpr uint64_t kMostCores = 1024;
    const std::optional<uint64_t> value = parse_bytes(cores);
    if (!value || *value == 0 || *value > kMostCores)
      return wrong("cores", cores, "a number of cores, from 1 to 1024");
    settings.cores = uint32_t(*value);
  }
  if (verify != nullptr) {
    if (strcasecmp(verify, "sampled") == 0)
      settings.verify = LC_VERIFY_SAMPLED;
    else if (strcasecmp(verify, "full") == 0)
      settings.verify = LC_VERIFY_FULL;
    else if (strcasecmp(verify, "off") == 0)
      settings.verify = LC_VERIFY_OFF;
    else
      return wrong("verify", verify, "off, sampled or full");
  }
  if (prefer != nullptr) {
    if (strcasecmp(prefer, "speed") == 0)
      settings.prefer = LC_PREFER_SPEED;
    else if (strcasecmp(prefer, "offload") == 0)
      settings.prefer = LC_PREFER_OFFLOAD;
    else
      return wrong("prefer", prefer, "speed or offload");
  }
  if (pool != nullptr) {
    constexpr uint64_t kMostPrimes = 65536;
    const std::optional<uint64_t> primes = parse_bytes(pool);
    if (!primes || *primes > kMostPrimes)
      return wrong("prime_pool", pool, "a number of primes, from 0 to 65536");
    settings.prime_pool = uint32_t(*primes);
  }
  if (stats != nullptr) {
    // Programs change their folder, so a relative path would say nothing.
    if (stats[0] != '/') return wrong("stats_file", stats, "an absolute path");
    settings.stats_file = stats;
  }
  if (process::serves_a_stranger()) settings.leave_all_to_openssl();
  return settings;
}

}  // namespace lanecrypt::provider
