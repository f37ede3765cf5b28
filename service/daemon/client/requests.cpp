// Handles the requests on channels.
//
// SPDX-License-Identifier: Apache-2.0
#include "service/daemon/client/requests.h"

#include <algorithm>
#include <new>

#include "service/daemon/service.h"
#include "service/wire/rsa_packets.h"
#include "service/wire/sign_packets.h"

namespace lanecrypt::service::daemon {
namespace {

void begin_with_key(Service &service, Channel &channel, std::span<const uint8_t> input,
                    const KeyUse &use) {
  service.operations.arrive(channel, use.operation_kind);
  Session::FoundKey found;
  if (service.page.status().devices_for(use.operation_kind.family) == 0) {
    found.outcome = Outcome::kNoDevice;
  } else if (!channel.keep_input(input, use.output_bytes)) {
    found.outcome = Outcome::kBusy;
  } else {
    try {
      found = channel.session->find_key(channel, use);
    } catch (const std::bad_alloc &) {
      found.outcome = Outcome::kBusy;
    }
  }
  if (found.outcome != Outcome::kDone) return service.operations.finish(channel, found.outcome);
  if (found.to_check != nullptr)
    return service.checks_of(use.operation_kind.family).add(found.to_check);
  if (found.has_key) service.operations.wait(channel);
}

void begin_private(Service &service, Channel &channel, const PrivateRequest &request) {
  channel.begin(Kind::kRsaPrivate);
  const size_t bytes = request.input.size();
  begin_with_key(service, channel, request.input,
                 {request.key, {Family::kRsa, uint32_t(8 * bytes)}, bytes, request.parts});
}

void begin_signature(Service &service, Channel &channel, const SignRequest &request) {
  channel.begin(kind_of_signature(request.set->family));
  KeyUse use{request.key, request.set->operation_kind(), request.set->signature_bytes, {}};
  if (!request.private_key.empty()) use.parts.emplace()[kWholeKey] = request.private_key;
  begin_with_key(service, channel, request.input, use);
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
  if (const auto request = read_sign_request(packet)) {
    begin_signature(service, channel, *request);
    return true;
  }
  if (const auto request = read_generate_request(packet)) {
    begin_search(service, channel, *request);
    return true;
  }
  return false;
}

}  // namespace lanecrypt::service::daemon
