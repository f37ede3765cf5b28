// SPDX-License-Identifier: Apache-2.0
#include "service/daemon/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <csignal>
#include <new>

#include "service/daemon/failure.h"
#include "service/daemon/limits.h"
#include "service/daemon/log.h"
#include "service/daemon/report/report.h"
#include "service/daemon/system/notify.h"

namespace lanecrypt::service::daemon {
namespace {

using namespace std::chrono_literals;

// What an event is about: one of these, or a client's number and one bit.
enum : uint64_t { kListener, kSignals, kTried, kLost, kUntilClosed, kFirstClient };
constexpr uint64_t tag_of(uint64_t client, bool is_process) {
  return kFirstClient + 2 * client + (is_process ? 1 : 0);
}

constexpr int kEventsOfTurn = 64;
constexpr int kConnectionsOfTurn = 64;
constexpr std::chrono::milliseconds kLookEvery{10};
constexpr std::chrono::seconds kLookFor{1};
constexpr std::chrono::milliseconds kRoundEvery = Searches::kNewsEvery;
// So long the library's threads and those of the service may take to end.
constexpr std::chrono::seconds kEndTime{5};

uint64_t nanoseconds_of(std::chrono::steady_clock::time_point time) {
  return uint64_t(
      std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count());
}

// All for which whoever started it wants it to go. SIGHUP: its terminal has gone.
sigset_t signals_that_end() {
  sigset_t ends;
  sigemptyset(&ends);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&ends, signal);
  return ends;
}

Descriptor make_spare() { return Descriptor(open("/dev/null", O_RDONLY | O_CLOEXEC)); }

}  // namespace

Daemon::Daemon(Service &service, Listener &listener, Settings settings)
    : service_(service),
      listener_(listener),
      settings_(std::move(settings)),
      events_(epoll_create1(EPOLL_CLOEXEC)),
      tried_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      lost_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      spare_(make_spare()),
      ready_(settings_.ready),
      until_closed_(settings_.until_closed),
      refusals_(service.counters.sessions_refused) {
  const sigset_t ends = signals_that_end();
  signals_ = Descriptor(signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!events_.ok() || !tried_.ok() || !lost_.ok() || !spare_.ok() || !signals_.ok())
    throw Failure("no descriptors", errno);
  watch(listener_.get(), kListener);
  watch(signals_.get(), kSignals);
  watch(tried_.get(), kTried);
  if (settings_.end_if_lost) watch(lost_.get(), kLost);
  if (until_closed_.ok()) watch(until_closed_.get(), kUntilClosed);
}

Daemon::~Daemon() = default;

void Daemon::block_signals() {
  const sigset_t ends = signals_that_end();
  (void)pthread_sigmask(SIG_BLOCK, &ends, nullptr);
}

void Daemon::watch(int descriptor, uint64_t tag) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLRDHUP;
  event.data.u64 = tag;
  if (epoll_ctl(events_.get(), EPOLL_CTL_ADD, descriptor, &event) != 0)
    throw Failure("epoll", errno);
}

bool Daemon::run() {
  service_.start({.on_tried = [this] { (void)eventfd_write(tried_.get(), 1); },
                  .on_lost = [this] { (void)eventfd_write(lost_.get(), 1); }});
  epoll_event events[kEventsOfTurn];
  while (!ends_) {
    const int count = epoll_wait(events_.get(), events, kEventsOfTurn,
                                 milliseconds_to_wait(std::chrono::steady_clock::now()));
    for (int n = 0; n < count && !ends_; ++n) {
      try {
        serve(events[n].data.u64, events[n].events);
      } catch (const std::bad_alloc &) {
        // Whoever wanted something gets nothing.
        if (events[n].data.u64 >= kFirstClient) let_go((events[n].data.u64 - kFirstClient) / 2);
      }
    }
    keep_time(std::chrono::steady_clock::now());
  }
  return stop();
}

void Daemon::serve(uint64_t tag, uint32_t events) {
  switch (tag) {
    case kListener:
      return accept_clients();
    case kSignals:
      ends_ = true;
      return;
    case kTried:
      return tell_ready();
    case kLost:
      say("the last device is lost, and the service ends");
      ends_ = has_lost_devices_ = true;
      return;
    case kUntilClosed: {
      char ignored[64];
      const ssize_t bytes = read(until_closed_.get(), ignored, sizeof ignored);
      ends_ = bytes == 0 || (bytes < 0 && errno != EINTR && errno != EAGAIN);
      return;
    }
    default:
      return serve_client((tag - kFirstClient) / 2, (tag - kFirstClient) % 2 != 0 ? 0 : events);
  }
}

void Daemon::tell_ready() {
  eventfd_t ignored;
  (void)eventfd_read(tried_.get(), &ignored);
  notify_systemd("READY=1");
  if (!ready_.ok()) return;
  // If whoever wanted to know has gone, nobody needs to.
  constexpr char kText[] = "ready\n";
  if (write(ready_.get(), kText, sizeof kText - 1) < 0) errno = 0;
  ready_.close();
}

// ---- Connections ------------------------------------------------------------

void Daemon::accept_clients() {
  for (int n = 0; n < kConnectionsOfTurn; ++n) {
    Descriptor socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket.ok()) {
      accept_one(std::move(socket));
      continue;
    }
    if (errno == ECONNABORTED || errno == EINTR) continue;
    if (errno != EMFILE && errno != ENFILE) return;
    // A connection that stays in line would wake this thread for ever: it is taken by the
    // spare descriptor, and closed.
    spare_.close();
    socket = Descriptor(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    const bool was_there = socket.ok();
    socket.close();
    spare_ = make_spare();
    ++service_.counters.sessions_refused;
    if (!was_there) return;
  }
}

void Daemon::accept_one(Descriptor socket) {
  const Time now = std::chrono::steady_clock::now();
  std::optional<Peer> peer = Peer::of(socket.get());
  const auto send_away = [&](Outcome why, std::string_view what) {
    refusals_.add(peer ? std::optional(peer->user) : std::nullopt, what, now);
    (void)refuse(socket.get(), why);
    // If its first packet were left in the socket, it would find an error there before this.
    char ignored[sizeof(Hello)];
    (void)recv(socket.get(), ignored, sizeof ignored, MSG_DONTWAIT);
  };
  if (!peer || !settings_.admitted.allows(*peer))
    return send_away(Outcome::kNotAllowed, "may not connect");
  if (peer->has_ended)
    return send_away(Outcome::kNotAllowed, "connects by a process that has ended");
  const std::shared_ptr<User> user = users_.find(peer->user, now);
  Session::Seats seats{Seat(service_.sessions, kMostSessions),
                       Seat(user->sessions, kMostSessionsOfUser),
                       Seat(service_.descriptors, service_.most_descriptors, 2)};
  if (!seats.of_all.ok() || !seats.of_user.ok() || !seats.descriptors.ok())
    return send_away(Outcome::kBusy, "would have too many processes connected");
  const uint64_t number = ++last_client_;
  auto session = std::make_shared<Session>(service_, std::move(socket), std::move(*peer), user,
                                           std::move(seats));
  clients_[number] = {session, now + kHelloTime};
  silent_.push_back(number);
  ++service_.counters.sessions_total;
  try {
    watch(session->control(), tag_of(number, false));
    if (session->peer.process.ok()) watch(session->peer.process.get(), tag_of(number, true));
  } catch (const Failure &) {
    let_go(number);
  }
}

// events: 0 where the client's process has ended.
void Daemon::serve_client(uint64_t number, uint32_t events) {
  const auto at = clients_.find(number);
  if (at == clients_.end()) return;
  const std::shared_ptr<Session> session = at->second.session;
  if (events == 0 || session->has_ended()) return let_go(number);
  alignas(8) uint8_t buffer[256];
  const Received received = receive_packet(session->control(), buffer, false);
  if (received.transfer == Transfer::kWouldBlock) return;
  if (received.transfer == Transfer::kDone && handle(service_, *session, received.packet)) return;
  if (!is_hung_up(session->control())) session->breaks_protocol = true;
  let_go(number);
}

void Daemon::let_go(uint64_t number) {
  const auto at = clients_.find(number);
  if (at == clients_.end()) return;
  const std::shared_ptr<Session> session = std::move(at->second.session);
  clients_.erase(at);
  (void)epoll_ctl(events_.get(), EPOLL_CTL_DEL, session->control(), nullptr);
  if (session->peer.process.ok())
    (void)epoll_ctl(events_.get(), EPOLL_CTL_DEL, session->peer.process.get(), nullptr);
  session->end();
  if (session->breaks_protocol)
    refusals_.add(session->user->number, "breaks the protocol, or has another version of it",
                  std::chrono::steady_clock::now());
}

// ---- Time -------------------------------------------------------------------

void Daemon::look_again() { looks_until_ = std::chrono::steady_clock::now() + kLookFor; }

int Daemon::milliseconds_to_wait(Time now) const {
  Time next = now + 1h;
  const bool has_rounds = service_.searches.has_any() ||
                          service_.page.status().operations.load(std::memory_order_relaxed) != 0;
  // What comes meanwhile waits for the end of a round at most.
  next = std::min(next, has_rounds ? next_round_ : now + kRoundEvery);
  if (now < looks_until_) next = std::min(next, next_look_);
  if (!silent_.empty()) {
    const auto at = clients_.find(silent_.front());
    next = std::min(next, at == clients_.end() ? now : at->second.said_hello_until);
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - now).count();
  return int(std::max<int64_t>(0, left));
}

void Daemon::keep_time(Time now) {
  while (!silent_.empty()) {
    const uint64_t number = silent_.front();
    const auto at = clients_.find(number);
    const bool is_silent = at != clients_.end() && !at->second.session->said_hello;
    if (is_silent && now < at->second.said_hello_until) break;
    silent_.pop_front();
    if (is_silent) let_go(number);
  }
  if (now < looks_until_ && now >= next_look_) {
    next_look_ = now + kLookEvery;
    if (const auto tasks = runnable_.count()) {
      // This thread runs too.
      const int64_t own = 1 + service_.counters.running_threads.load(std::memory_order_relaxed);
      StatusPage &page = service_.page.status();
      page.runnable.store(uint32_t(std::max<int64_t>(0, *tasks - own)), std::memory_order_relaxed);
      page.looked_at.store(nanoseconds_of(now), std::memory_order_release);
    }
  }
  if (now >= next_round_) {
    next_round_ = now + kRoundEvery;
    service_.operations.send_away_late();
    service_.key_checks.send_away_late();
    if (service_.searches.has_any()) service_.searches.tell_still_at_work();
  }
}

std::optional<std::string> Daemon::report(const Session &session) {
  // A report takes this thread longer than any other packet.
  if (!settings_.admitted.is_owner(session.peer))
    return users_.takes_report(*session.user, std::chrono::steady_clock::now())
               ? std::optional(make_report(service_, nullptr))
               : std::nullopt;
  const std::vector<std::shared_ptr<const User>> users = users_.all();
  return make_report(service_, &users);
}

// ---- The end ----------------------------------------------------------------

bool Daemon::stop() {
  notify_systemd("STOPPING=1");
  // Clients that still see the page do not try.
  StatusPage &page = service_.page.status();
  page.usable_devices = page.ml_dsa_devices = page.slh_dsa_devices = 0;
  listener_.close();
  service_.key_checks.stop();
  service_.operations.stop();
  const bool has_ended = service_.operations.await_all(kEndTime);
  while (!clients_.empty()) let_go(clients_.begin()->first);
  if (!has_ended || !service_.devices.stop(kEndTime)) {
    say("a device does not end what it has begun; it is left alone");
    return false;
  }
  service_.searches.stop();
  service_.channel_threads.stop();
  return true;
}

}  // namespace lanecrypt::service::daemon
