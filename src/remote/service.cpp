// SPDX-License-Identifier: Apache-2.0
#include "remote/service.h"

#include <atomic>
#include <string_view>

#include "process/thread.h"

namespace lanecrypt::remote {

Result<Service> Service::named(const char *service, const char *owner, lc_fallback fallback,
                               lc_verify verify) {
  static std::atomic<uint64_t> last{0};
  const std::string_view name = service;
  const bool is_usual = name == "auto" || name == "require";
  if (!is_usual && !name.starts_with('/'))
    return Status(LC_ERROR_ARGUMENT,
                  "lc_options.service is none of auto, require, off and an absolute path");
  Service made;
  made.client = std::make_shared<client::Client>(
      is_usual ? client::ServiceAddress::usual(owner)
               : client::ServiceAddress::named(std::string(name), owner));
  made.number = last.fetch_add(1) + 1;
  made.has_cpu = fallback == LC_FALLBACK_CPU && name != "require";
  made.checks_all = verify == LC_VERIFY_FULL;
  return made;
}

std::shared_ptr<client::Session> Service::session() const {
  client::Connection &connection = client->here();
  std::shared_ptr<client::Session> session = connection.session();
  if (session == nullptr && !process::is_sandboxed()) session = connection.connect(true);
  return session;
}

Status Service::why_not(bool has_failed, const std::string &what) const {
  if (has_failed) return Status(LC_ERROR_DEVICE, "the service has failed to " + what);
  client::Connection &connection = client->here();
  if (connection.session() != nullptr)
    return Status(LC_ERROR_NO_DEVICE, "the service has no room or no device to " + what);
  return Status(LC_ERROR_NO_DEVICE, "no service: " + connection.why());
}

}  // namespace lanecrypt::remote
