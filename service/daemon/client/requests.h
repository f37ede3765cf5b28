// Handles the packets that clients send. Nothing here reads from a socket.
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

// Starts the request in a packet on a channel. Returns false if the packet breaks the protocol; the
// session must then end. It does not pass operations that are ready to the library;
// Operations::give() does. Called by one thread at a time for a channel. The caller keeps the
// channel alive.
bool handle_request(Service &service, Channel &channel, std::span<const uint8_t> packet);

// Handles a packet on the control socket and answers it there. Returns false if the session must
// end. report() returns the text for kStatistics, or nullopt if the user asks too often.
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

// Sends kRefused with the reason. Returns false if the packet could not be sent.
bool refuse(int control, Outcome outcome);

}  // namespace lanecrypt::service::daemon
