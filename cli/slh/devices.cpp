// SPDX-License-Identifier: Apache-2.0
#include "cli/slh/devices.h"

#include <fmt/format.h>

namespace lanecrypt::cli {

void SlhDevices::add_names(std::vector<OptionName> &names) {
  names.insert(
      names.end(),
      {{"devices", "devices", true}, {"device", "devices", true}, {"require-gpu", "require-gpu"}});
}

void SlhDevices::declare(CLI::App &app) {
  list_option_ =
      app.add_option("--devices,--device", list_,
                     "Uses these devices. The default is LANECRYPT_DEVICES, or every GPU.")
          ->option_text("LIST");
  app.add_flag("--require-gpu", require_,
               "Fails if no device can be used, instead of using the CPU.");
}

void SlhDevices::add_service_name(std::vector<OptionName> &names) {
  // Its value must follow '='.
  names.push_back({"service", "service"});
  names.push_back({"service-owner", "service-owner", true});
}

void SlhDevices::declare_service(CLI::App &app) {
  CLI::Option *const service =
      app.add_flag("--service{auto}", service_,
                   "Uses the service lanecryptd; with --service=PATH, the one at that socket.");
  service->excludes(list_option_);
  app.add_option("--service-owner", service_owner_,
                 "Accepts a socket of this user too, besides those of root and the current user.")
      ->option_text("USER")
      ->needs(service);
}

Context SlhDevices::open() const {
  lc_options options{};
  options.struct_size = sizeof options;
  options.devices = list_ ? list_->c_str() : nullptr;
  options.fallback = require_ ? LC_FALLBACK_NONE : LC_FALLBACK_CPU;
  if (service_) {
    options.service = service_->c_str();
    options.service_owner = service_owner_ ? service_owner_->c_str() : nullptr;
    options.devices = "none";
    // Checks every signature: the service at a path that the user named may not be trustworthy.
    // Verifying takes a core a small part of the time of signing.
    options.verify = LC_VERIFY_FULL;
  }
  Context context(options);
  // A device that the user named must exist. The CPU is not used instead.
  if (!service_) (void)context.device_count();
  return context;
}

std::string who_worked(const Context &context) {
  uint64_t most = 0;
  std::string name = "the CPU";
  for (uint32_t index = 0; index < context.device_count(); index++) {
    const uint64_t operations = context.counters(index).operations;
    if (operations <= most) continue;
    most = operations;
    const lc_device_info info = context.device(index);
    name = fmt::format("{} {}", info.id, info.name);
  }
  return name;
}

}  // namespace lanecrypt::cli
