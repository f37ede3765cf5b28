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

// The tag of an epoll event: one of these, or for a client 2 * number + kFirstClient, plus 1 for
// the descriptor of its process.
enum : uint64_t { kListener, kSignals, kTried, kLost, kUntilClosed, kFirstClient };
constexpr uint64_t tag_of(uint64_t client, bool is_process) {
  return kFirstClient + 2 * client + (is_process ? 1 : 0);
}

constexpr int kEventsAtOnce = 256;
// The most control packets that are handled between two calls of epoll_wait(). A new connection
// waits for no more than these before it is accepted.
constexpr int kPacketsOfTurn = 4;
// The cost of admitting a connection, in units of kControlEach.
constexpr size_t kConnectionUnits = 5;
constexpr std::chrono::milliseconds kLookEvery{10};
constexpr std::chrono::seconds kLookFor{1};
constexpr std::chrono::milliseconds kRoundEvery = Searches::kNewsEvery;
// The time limit at the end, first for the operations under way and then for the thread of the
// devices.
constexpr std::chrono::seconds kEndTime{5};

uint64_t nanoseconds_of(std::chrono::steady_clock::time_point time) {
  return uint64_t(
      std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count());
}

// The signals that end the service. SIGHUP: its terminal was closed.
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
    throw Failure("cannot create the descriptors of the main thread", errno);
  watch(listener_.get(), kListener, Watch::kAlways);
  watch(signals_.get(), kSignals, Watch::kAlways);
  watch(tried_.get(), kTried, Watch::kAlways);
  if (settings_.end_if_lost) watch(lost_.get(), kLost, Watch::kAlways);
  if (until_closed_.ok()) watch(until_closed_.get(), kUntilClosed, Watch::kAlways);
}

Daemon::~Daemon() = default;

void Daemon::block_signals() {
  const sigset_t ends = signals_that_end();
  (void)pthread_sigmask(SIG_BLOCK, &ends, nullptr);
}

void Daemon::watch(int descriptor, uint64_t tag, Watch how) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLRDHUP | (how == Watch::kOnce ? uint32_t(EPOLLONESHOT) : 0);
  event.data.u64 = tag;
  if (epoll_ctl(events_.get(), EPOLL_CTL_ADD, descriptor, &event) != 0)
    throw Failure("cannot watch a descriptor with epoll", errno);
}

bool Daemon::watch_again(uint64_t number, const Session &session) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLRDHUP | EPOLLONESHOT;
  event.data.u64 = tag_of(number, false);
  return epoll_ctl(events_.get(), EPOLL_CTL_MOD, session.control(), &event) == 0;
}

bool Daemon::run() {
  service_.start({.on_tried = [this] { (void)eventfd_write(tried_.get(), 1); },
                  .on_lost = [this] { (void)eventfd_write(lost_.get(), 1); }});
  while (!ends_) {
    take_events(milliseconds_to_wait(std::chrono::steady_clock::now()));
    serve_waiting();
    keep_time(std::chrono::steady_clock::now());
  }
  return stop();
}

// Handles all pending events, so that no client's event waits behind the packets of others. A
// client's descriptor gives no second event before the first was handled.
void Daemon::take_events(int milliseconds) {
  epoll_event events[kEventsAtOnce];
  for (int count = kEventsAtOnce; count == kEventsAtOnce; milliseconds = 0) {
    count = epoll_wait(events_.get(), events, kEventsAtOnce, milliseconds);
    for (int n = 0; n < count && !ends_; ++n) {
      try {
        serve(events[n].data.u64, events[n].events);
      } catch (const std::bad_alloc &) {
        // Ends the client of this event, if it is a client's.
        if (events[n].data.u64 >= kFirstClient) let_go((events[n].data.u64 - kFirstClient) / 2);
      }
    }
    if (ends_) return;
  }
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
      return note_client((tag - kFirstClient) / 2, (tag - kFirstClient) % 2 != 0, events);
  }
}

// Reports to systemd, and to the descriptor of --ready-fd, that the devices have been tried.
void Daemon::tell_ready() {
  eventfd_t ignored;
  (void)eventfd_read(tried_.get(), &ignored);
  notify_systemd("READY=1");
  if (!ready_.ok()) return;
  // If the reader has gone, the line is not needed.
  constexpr char kText[] = "ready\n";
  if (write(ready_.get(), kText, sizeof kText - 1) < 0) errno = 0;
  ready_.close();
}

// ---- Connections ------------------------------------------------------------

void Daemon::accept_clients() {
  for (int n = 0; n < kMostUnaccepted; ++n) {
    Descriptor socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket.ok()) {
      take_connection(std::move(socket));
      continue;
    }
    if (errno == ECONNABORTED || errno == EINTR) continue;
    if (errno != EMFILE && errno != ENFILE) return;
    // All descriptors are in use. A connection that stays in the backlog would wake this thread
    // again and again, so it is accepted with the spare descriptor and closed.
    spare_.close();
    socket = Descriptor(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    const bool was_there = socket.ok();
    socket.close();
    spare_ = make_spare();
    ++service_.counters.sessions_refused;
    if (!was_there) return;
  }
}

// Accepts a connection and queues it for admission. All connections that wait are accepted at once:
// otherwise those of a user that connects repeatedly would delay all others. Admission, which takes
// longer, waits for the user's turn.
void Daemon::take_connection(Descriptor socket) {
  const Time now = std::chrono::steady_clock::now();
  const std::optional<uid_t> user = Peer::user_of(socket.get());
  if (!user || !users_.takes_connection(*user, now))
    return refusals_.add(user, "connects too often", now);
  std::shared_ptr<User> by = users_.find(*user, now);
  DescriptorQuota descriptors = service_.take_descriptors(*by, 2);
  if (!descriptors.ok()) {
    refusals_.add(user, "would have too many processes connected", now);
    return (void)refuse(socket.get(), Outcome::kBusy);
  }
  const uint64_t number = ++last_client_;
  arrivals_.emplace(number, Arrival{std::move(socket), std::move(by), std::move(descriptors)});
  waiting_.add(*user, number, now);
}

// Admits a connection whose turn has come: checks the peer and the limits, and makes a session.
void Daemon::admit(uint64_t number) {
  Arrival arrival = std::move(arrivals_.extract(number).mapped());
  Descriptor socket = std::move(arrival.socket);
  const Time now = std::chrono::steady_clock::now();
  std::optional<Peer> peer = Peer::of(socket.get());
  const auto send_away = [&](Outcome why, std::string_view what) {
    refusals_.add(peer ? std::optional(peer->user) : std::nullopt, what, now);
    (void)refuse(socket.get(), why);
    // Takes the client's first packet. If it were left in the socket, the client would get an error
    // before the refusal.
    char ignored[sizeof(Hello)];
    (void)recv(socket.get(), ignored, sizeof ignored, MSG_DONTWAIT);
  };
  if (!peer || !settings_.admitted.allows(*peer))
    return send_away(Outcome::kNotAllowed, "may not connect");
  if (peer->has_ended)
    return send_away(Outcome::kNotAllowed,
                     "connects from a process that has ended or cannot be identified");
  const std::shared_ptr<User> user = arrival.user;
  Session::Quotas quotas{Quota(service_.sessions, kMostSessions),
                         Quota(user->sessions, kMostSessionsOfUser),
                         std::move(arrival.descriptors)};
  if (!quotas.of_all.ok() || !quotas.of_user.ok())
    return send_away(Outcome::kBusy, "would have too many processes connected");
  auto session = std::make_shared<Session>(service_, std::move(socket), std::move(*peer), user,
                                           std::move(quotas));
  clients_[number] = {session, now + kHelloTime};
  silent_.push_back(number);
  ++service_.counters.sessions_total;
  try {
    watch(session->control(), tag_of(number, false), Watch::kOnce);
    if (session->peer.process.ok())
      watch(session->peer.process.get(), tag_of(number, true), Watch::kOnce);
  } catch (const Failure &) {
    let_go(number);
  }
}

// Handles an event of a client. A client that has gone is released at once, which takes no longer
// than to queue it.
void Daemon::note_client(uint64_t number, bool is_process, uint32_t events) {
  const auto at = clients_.find(number);
  if (at == clients_.end()) return;
  const Session &session = *at->second.session;
  if (is_process || session.has_ended() || (events & (EPOLLHUP | EPOLLERR)) != 0)
    return let_go(number);
  waiting_.add(session.user->number, number, std::chrono::steady_clock::now());
}

// Handles up to kPacketsOfTurn control packets or admissions, one for each turn.
void Daemon::serve_waiting() {
  for (int n = 0; n < kPacketsOfTurn && !ends_; ++n) {
    const auto next = waiting_.next(std::chrono::steady_clock::now());
    if (!next) return;
    size_t units = kConnectionUnits;
    try {
      if (arrivals_.contains(next->client))
        admit(next->client);
      else
        units = serve_client(next->client);
    } catch (const std::bad_alloc &) {
      let_go(next->client);
    }
    waiting_.charge(next->user, units, std::chrono::steady_clock::now());
  }
}

// Handles one control packet of a client. Returns its cost in units of kControlEach.
size_t Daemon::serve_client(uint64_t number) {
  const auto at = clients_.find(number);
  if (at == clients_.end()) return 0;
  const std::shared_ptr<Session> session = at->second.session;
  const size_t channels = session->channels_made;
  bool goes_on = false;
  if (!session->has_ended()) {
    alignas(8) uint8_t buffer[256];
    const Received received = receive_packet(session->control(), buffer, false);
    const bool is_right =
        received.transfer == Transfer::kWouldBlock ||
        (received.transfer == Transfer::kDone && handle(service_, *session, received.packet));
    if (!is_right && !is_hung_up(session->control())) session->breaks_protocol = true;
    goes_on = is_right && watch_again(number, *session);
  }
  if (!goes_on) let_go(number);
  return 1 + session->channels_made - channels;
}

// Forgets a client and queues its session to be ended.
void Daemon::let_go(uint64_t number) {
  const auto at = clients_.find(number);
  if (at == clients_.end()) return;
  const std::shared_ptr<Session> session = std::move(at->second.session);
  clients_.erase(at);
  (void)epoll_ctl(events_.get(), EPOLL_CTL_DEL, session->control(), nullptr);
  if (session->peer.process.ok())
    (void)epoll_ctl(events_.get(), EPOLL_CTL_DEL, session->peer.process.get(), nullptr);
  service_.releases.add(session);
  if (session->breaks_protocol)
    refusals_.add(session->user->number, "breaks the protocol, or has another version of it",
                  std::chrono::steady_clock::now());
}

// ---- Periodic work ----------------------------------------------------------

void Daemon::look_again() { looks_until_ = std::chrono::steady_clock::now() + kLookFor; }

// Returns the time until keep_time() or serve_waiting() has work, in milliseconds.
int Daemon::milliseconds_to_wait(Time now) const {
  Time next = now + 1h;
  if (const auto ready = waiting_.ready_at()) next = std::min(next, *ready);
  const bool has_rounds = service_.searches.has_any() ||
                          service_.page.status().operations.load(std::memory_order_relaxed) != 0;
  // An operation that arrives meanwhile does not wake this thread, so it waits for a round at most.
  next = std::min(next, has_rounds ? next_round_ : now + kRoundEvery);
  if (now < looks_until_) next = std::min(next, next_look_);
  if (!silent_.empty()) {
    const auto at = clients_.find(silent_.front());
    next = std::min(next, at == clients_.end() ? now : at->second.said_hello_until);
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - now).count();
  return int(std::max<int64_t>(0, left));
}

// Does the periodic work: disconnects clients that have not sent kHello, counts runnable tasks for
// the page, refuses what has waited too long, and sends kStillAtWork.
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
      // The main thread runs too.
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
    service_.root_checks.send_away_late();
    if (service_.searches.has_any()) service_.searches.tell_still_at_work();
  }
}

std::optional<std::string> Daemon::report(const Session &session) {
  // A report takes the main thread longer than any other packet, so its rate is limited.
  if (!settings_.admitted.is_owner(session.peer))
    return users_.takes_report(*session.user, std::chrono::steady_clock::now())
               ? std::optional(make_report(service_, nullptr))
               : std::nullopt;
  const std::vector<std::shared_ptr<const User>> users = users_.all();
  return make_report(service_, &users);
}

// ---- The end ----------------------------------------------------------------

// Ends the service. Returns false if a device hangs.
bool Daemon::stop() {
  notify_systemd("STOPPING=1");
  // Clients that still read the page then send nothing.
  StatusPage &page = service_.page.status();
  page.usable_devices = page.ml_dsa_devices = page.slh_dsa_devices = 0;
  listener_.close();
  service_.key_checks.stop();
  service_.root_checks.stop();
  service_.operations.stop();
  const bool has_ended = service_.operations.await_all(kEndTime);
  while (!clients_.empty()) let_go(clients_.begin()->first);
  service_.releases.stop();
  if (!has_ended || !service_.devices.stop(kEndTime)) {
    say("a device does not finish its work: the service exits without waiting for it");
    return false;
  }
  service_.searches.stop();
  service_.channel_threads.stop();
  return true;
}

}  // namespace lanecrypt::service::daemon
