// What becomes of a packet that a client has sent. No socket is read here.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "service/daemon/client/channel.h"
#include "service/daemon/client/session.h"

namespace lanecrypt::service::daemon {

struct Service;

// A packet on a channel: begins what it asks for. False where it breaks the protocol; the
// session must end then. Operations that are ready are not given to the library yet
// (Operations::give()). One thread at a time for a channel, which holds it.
bool handle_request(Service &service, Channel &channel, std::span<const uint8_t> packet);

// A packet on the control socket, answered there. False where the session must end.
// report: the text that kStatistics asks for; nullopt where this user asks too often.
class ControlPackets {
 public:
  virtual ~ControlPackets() = default;
  bool handle(Service &service, Session &session, std::span<const uint8_t> packet);

 protected:
  virtual std::optional<std::string> report(const Session &session) = 0;
  virtual void look_again() = 0;

 private:
  bool welcome(Service &service, Session &session);
  bool open_channels(Service &service, Session &session, uint32_t count);
  bool send_report(Session &session);
};

// Tells a client why it gets nothing. False where it does not read.
bool refuse(int control, Outcome outcome);

}  // namespace lanecrypt::service::daemon
