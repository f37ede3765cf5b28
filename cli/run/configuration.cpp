// SPDX-License-Identifier: Apache-2.0
#include "cli/run/configuration.h"

#include <fmt/format.h>
#include <openssl/conf.h>
#include <openssl/crypto.h>
#include <openssl/err.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>

#include "cli/provider_module.h"

namespace lanecrypt::cli {
namespace {

// A configuration file that OpenSSL has parsed. A missing or unreadable one has no sections.
class File {
 public:
  explicit File(const std::string &path) : conf_(NCONF_new(nullptr), NCONF_free) {
    could_read_ = path.empty() || NCONF_load(conf_.get(), path.c_str(), nullptr) > 0;
    if (!could_read_) conf_.reset(NCONF_new(nullptr));
    ERR_clear_error();
  }
  bool could_read() const { return could_read_; }

  // Returns the value of `name` in `section`. NCONF_get_string() would search the default section
  // too, which the modules of libcrypto do not.
  std::optional<std::string> value(const std::string &section, std::string_view name) const {
    const STACK_OF(CONF_VALUE) *const values = values_of(section);
    for (int n = 0; n < sk_CONF_VALUE_num(values); ++n) {
      const CONF_VALUE *const value = sk_CONF_VALUE_value(values, n);
      if (name == value->name) return value->value;
    }
    return std::nullopt;
  }

  // Returns whether a provider in the section `providers` is activated.
  bool activates_one(const std::string &providers) const {
    const STACK_OF(CONF_VALUE) *const values = values_of(providers);
    for (int n = 0; n < sk_CONF_VALUE_num(values); ++n)
      if (is_activated(sk_CONF_VALUE_value(values, n)->value)) return true;
    return false;
  }

 private:
  const STACK_OF(CONF_VALUE) * values_of(const std::string &section) const {
    const STACK_OF(CONF_VALUE) *const values = NCONF_get_section(conf_.get(), section.c_str());
    ERR_clear_error();
    return values;
  }

  bool is_activated(const std::string &settings) const {
    constexpr std::array<std::string_view, 4> kNo = {"0", "no", "off", "false"};
    const std::optional<std::string> said = value(settings, "activate");
    return said && std::find(kNo.begin(), kNo.end(), *said) == kNo.end();
  }

  std::unique_ptr<CONF, decltype(&NCONF_free)> conf_;
  bool could_read_ = false;
};

// Appends the sections that add the provider gpu for `application`, which is the name by which a
// program finds its first section. Existing sections keep their names and are extended.
void add(const File &file, const std::string &application, const ConfigurationWanted &wanted,
         Configuration &to) {
  const auto name = [&](const std::string &section, const char *entry) {
    return file.value(section, entry).value_or(fmt::format("lanecrypt_{}_{}", application, entry));
  };
  const std::string start = file.value("default", application).value_or("lanecrypt_" + application);
  const std::string providers = name(start, "providers");
  const std::string algorithms = name(start, "alg_section");
  const std::string settings = name(providers, "gpu");
  to.text += fmt::format("[default]\n{} = {}\n[{}]\nproviders = {}\nalg_section = {}\n",
                         application, start, start, providers, algorithms);
  to.text += fmt::format("[{}]\ngpu = {}\n", providers, settings);
  // OpenSSL loads its default provider automatically only if the file activates no other provider.
  if (!file.activates_one(providers)) {
    const std::string openssl = name(providers, "default");
    to.text += fmt::format("default = {}\n[{}]\nactivate = 1\n", openssl, openssl);
  }
  to.text += fmt::format("[{}]\nactivate = 1\nservice = {}\n", settings,
                         quoted_for_openssl(wanted.socket));
  if (!file.value(settings, "module"))
    to.text += fmt::format("module = {}\n", quoted_for_openssl(wanted.module));

  std::string properties = file.value(algorithms, "default_properties").value_or("");
  if (properties.find("provider") == std::string::npos) {
    properties += properties.empty() ? "?provider=gpu" : ",?provider=gpu";
  } else if (properties.find("provider=gpu") == std::string::npos) {
    to.note = fmt::format("the configuration prefers another provider ({}), and so not the GPU",
                          properties);
  }
  to.text += fmt::format("[{}]\ndefault_properties = {}\n", algorithms, properties);
}

}  // namespace

Configuration make_configuration(const std::string &path, const ConfigurationWanted &wanted) {
  const File file(path);
  Configuration configuration;
  if (!file.could_read())
    configuration.note = fmt::format("{} is left out, since OpenSSL cannot read it", path);
  else if (!path.empty())
    configuration.text = fmt::format(".include {}\n", quoted_for_openssl(path));
  // Node.js uses its own first section, nodejs_conf.
  for (const char *application : {"openssl_conf", "nodejs_conf"})
    add(file, application, wanted, configuration);
  return configuration;
}

std::string usual_configuration() {
  const std::unique_ptr<char, void (*)(char *)> file(CONF_get1_default_config_file(),
                                                     [](char *text) { OPENSSL_free(text); });
  std::error_code error;
  if (!file || file.get()[0] == '\0' || !std::filesystem::exists(file.get(), error)) return "";
  const std::filesystem::path path = std::filesystem::absolute(file.get(), error);
  return error ? "" : path.string();
}

}  // namespace lanecrypt::cli
