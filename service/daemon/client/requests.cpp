// Requests on channels.
//
// SPDX-License-Identifier: Apache-2.0
#include "service/daemon/client/requests.h"

#include <algorithm>
#include <new>

#include "service/daemon/service.h"
#include "service/wire/rsa_packets.h"

namespace lanecrypt::service::daemon {
namespace {

void begin_private(Service &service, Channel &channel, const PrivateRequest &request) {
  channel.begin(Kind::kRsaPrivate);
  service.operations.arrive(channel, uint32_t(8 * request.input.size()));
  Session::FoundKey found;
  if (service.page.status().usable_devices.load(std::memory_order_relaxed) == 0) {
    found.outcome = Outcome::kNoDevice;
  } else if (!channel.keep_input(request.input)) {
    found.outcome = Outcome::kBusy;
  } else {
    try {
      found = channel.session->find_key(channel, request);
    } catch (const std::bad_alloc &) {
      found.outcome = Outcome::kBusy;
    }
  }
  if (found.outcome != Outcome::kDone) return service.operations.finish(channel, found.outcome);
  if (found.to_check != nullptr) return service.key_checks.add(found.to_check);
  if (found.has_key) service.operations.wait(channel);
}

void begin_search(Service &service, Channel &channel, const GenerateRequest &request) {
  channel.begin(Kind::kRsaGenerate);
  channel.request.bits = request.bits;
  channel.request.exponent_bytes = uint32_t(request.exponent.size());
  std::copy(request.exponent.begin(), request.exponent.end(), channel.request.exponent.begin());
  service.searches.add(channel);
}

}  // namespace

bool handle_request(Service &service, Channel &channel, std::span<const uint8_t> packet) {
  if (!channel.is_idle() || packet.size() < sizeof(Header)) return false;
  if (const auto request = read_private_request(packet)) {
    begin_private(service, channel, *request);
    return true;
  }
  if (const auto request = read_generate_request(packet)) {
    begin_search(service, channel, *request);
    return true;
  }
  return false;
}

}  // namespace lanecrypt::service::daemon
