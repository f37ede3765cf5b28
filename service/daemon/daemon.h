// The service's main thread: accepts connections, handles control packets, and does periodic work.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "service/daemon/client/control_queue.h"
#include "service/daemon/client/refusals.h"
#include "service/daemon/client/requests.h"
#include "service/daemon/service.h"
#include "service/daemon/system/listener.h"
#include "service/daemon/system/runnable.h"

namespace lanecrypt::service::daemon {

class Daemon : private ControlPackets {
 public:
  struct Settings {
    Admitted admitted;
    // Gets a line and is closed once the devices have been tried; -1: none.
    int ready = -1;
    // Ends the service when the other end of this pipe is closed; -1: none.
    int until_closed = -1;
    // Ends the service once no device works any more because one was lost.
    bool end_if_lost = false;
  };
  // Blocks the signals that end the service, which it reads from a signalfd. Must be called before
  // the first thread is started, since threads inherit the mask.
  static void block_signals();

  // Throws Failure.
  Daemon(Service &service, Listener &listener, Settings settings);
  ~Daemon() override;
  Daemon(const Daemon &) = delete;

  // Runs until the service must end. On return it accepts no connections, the operations under way
  // are done, and all sessions have ended. Returns false if a device hangs: the process must then
  // exit without destructors.
  bool run();
  // Returns whether the service ended because its last device was lost (end_if_lost).
  bool has_lost_devices() const { return has_lost_devices_; }

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Client {
    std::shared_ptr<Session> session;
    Time said_hello_until;
  };
  // A connection that was accepted and waits to be admitted.
  struct Arrival {
    Descriptor socket;
    std::shared_ptr<User> user;
    DescriptorQuota descriptors;
  };

  // ---- ControlPackets ----
  std::optional<std::string> report(const Session &session) override;
  void look_again() override;

  // kOnce: the descriptor gives one event, and none until watch_again().
  enum class Watch { kOnce, kAlways };
  void watch(int descriptor, uint64_t tag, Watch how);
  bool watch_again(uint64_t number, const Session &session);
  void take_events(int milliseconds);
  void serve(uint64_t tag, uint32_t events);
  void accept_clients();
  void take_connection(Descriptor socket);
  void admit(uint64_t number);
  void note_client(uint64_t number, bool is_process, uint32_t events);
  void serve_waiting();
  size_t serve_client(uint64_t number);
  void let_go(uint64_t number);
  void keep_time(Time now);
  int milliseconds_to_wait(Time now) const;
  void tell_ready();
  bool stop();

  Service &service_;
  Listener &listener_;
  Settings settings_;
  Descriptor events_, signals_, tried_, lost_, spare_, ready_, until_closed_;
  Users users_;
  Refusals refusals_;
  std::unordered_map<uint64_t, Client> clients_;
  std::unordered_map<uint64_t, Arrival> arrivals_;
  uint64_t last_client_ = 0;
  ControlQueue waiting_;
  std::deque<uint64_t> silent_;  // clients that have not sent kHello, the oldest first
  bool ends_ = false, has_lost_devices_ = false;
  RunnableTasks runnable_;
  Time looks_until_, next_look_, next_round_;
};

}  // namespace lanecrypt::service::daemon
