// SPDX-License-Identifier: Apache-2.0
#include "service/client/session.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "service/client/wait_for.h"
#include "service/wire/packets.h"

namespace lanecrypt::client {
namespace {

using service::Kind;
using service::Transfer;

// The most channels. No program needs more, and each costs the kernel time in poll().
constexpr uint32_t kMostChannels = 4096;
// Channels use at most this fraction of RLIMIT_NOFILE, one in four. The others are the program's.
constexpr uint32_t kPartOfLimit = 4;
constexpr std::chrono::seconds kOpening{1}, kRefusal{1};
// The timeout of one recv() on a channel. After it a thread checks whether the program has closed
// the channel.
constexpr timeval kOneWait = {1, 0};

uint32_t most_channels_of(uint32_t allowed) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) limit.rlim_cur = 1024;
  const uint64_t share = limit.rlim_cur / kPartOfLimit;
  return uint32_t(std::min<uint64_t>({allowed, share, kMostChannels}));
}

// Maps the status page. Its file must be sealed against shrinking, so that reading the page never
// raises SIGBUS.
const service::StatusPage *map_page(int file) {
  struct stat entry;
  const int seals = fcntl(file, F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) return nullptr;
  if (fstat(file, &entry) != 0 || entry.st_size < off_t(service::kStatusPageBytes)) return nullptr;
  void *const memory = mmap(nullptr, service::kStatusPageBytes, PROT_READ, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return nullptr;
  const auto *page = static_cast<const service::StatusPage *>(memory);
  if (page->magic == service::kPageMagic && page->version == service::kPageVersion) return page;
  (void)munmap(memory, service::kStatusPageBytes);
  return nullptr;
}

// Returns whether the process can open one more descriptor. If it cannot, the kernel drops
// descriptors that come with a packet.
bool has_free_number(int any) {
  const int one = fcntl(any, F_DUPFD_CLOEXEC, 0);
  if (one >= 0) (void)::close(one);
  return one >= 0;
}

int64_t now_ns() { return std::chrono::nanoseconds(Clock::now().time_since_epoch()).count(); }

template <class Message>
Transfer send_one(int socket, const Message &message) {
  const std::span<const uint8_t> pieces[] = {service::bytes_of(message)};
  return service::send_packet(socket, pieces);
}

}  // namespace

uint64_t next_number() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

// ---- Beginning and end ---------------------------------------------------------

std::shared_ptr<Session> Session::begin(OwnDescriptor control, Clock::time_point until,
                                        std::string *why) {
  const service::Hello hello{service::header_of<service::Hello>(Kind::kHello)};
  if (send_one(control.get(), hello) != Transfer::kDone) {
    *why = "the service has closed the connection";
    return nullptr;
  }
  uint8_t buffer[service::kMostPacketBytes / 8];
  int file = -1;
  size_t count = 0;
  service::Received received;
  do {
    if (!wait_for(control.get(), until)) {
      *why = "the service does not answer";
      return nullptr;
    }
    received = service::receive_packet(control.get(), buffer, false, {&file, 1}, &count);
  } while (received.transfer == Transfer::kWouldBlock);
  const auto welcome = service::fixed_part<service::Welcome>(received.packet, Kind::kWelcome);
  const service::StatusPage *const page = welcome && count == 1 ? map_page(file) : nullptr;
  if (count == 1) (void)::close(file);
  if (page == nullptr) {
    *why = service::fixed_part<service::Refused>(received.packet, Kind::kRefused)
               ? "the service refuses this process"
               : "the process that listens there is not lanecryptd of this version";
    return nullptr;
  }
  return std::shared_ptr<Session>(new Session(std::move(control), page, *welcome));
}

Session::Session(OwnDescriptor control, const service::StatusPage *page,
                 const service::Welcome &welcome)
    : number_(next_number()),
      born_in_(process::forks()),
      page_(page),
      most_keys_(welcome.most_keys),
      most_channels_(most_channels_of(welcome.most_channels)),
      control_(std::move(control)),
      all_(new std::atomic<Channel *>[most_channels_]()) {}

// The last owner destroys the session, so no lock is needed.
Session::~Session() {
  for (uint32_t n = 0; n < all_count_; ++n) delete all_[n].load(std::memory_order_relaxed);
  (void)munmap(const_cast<service::StatusPage *>(page_), service::kStatusPageBytes);
}

void Session::end(Fault fault) {
  const std::lock_guard lock(mutex_);
  if (has_ended_) return;
  fault_.store(fault, std::memory_order_relaxed);
  has_ended_.store(true, std::memory_order_release);
  for (Channel *channel : free_) channel->socket.close();
  free_.clear();
  for (uint32_t n = 0; n < all_count_; ++n) {
    const OwnDescriptor &socket = all_[n].load(std::memory_order_relaxed)->socket;
    if (socket.is_ours()) (void)shutdown(socket.get(), SHUT_RDWR);
  }
  if (control_.is_ours()) (void)shutdown(control_.get(), SHUT_RDWR);
}

void Session::close_copies() {
  for (uint32_t n = 0; n < all_count_; ++n)
    if (Channel *const channel = all_[n].load(std::memory_order_acquire); channel != nullptr)
      channel->socket.close();
  control_.close();
  timer_.close();
}

// ---- Channels ------------------------------------------------------------------

Channel *Session::take() {
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      if (has_ended_) return nullptr;
      if (!free_.empty()) {
        Channel *const channel = free_.back();
        free_.pop_back();
        return channel;
      }
      if (open_ >= most_channels_) return nullptr;
    }
    if (!open_more()) return nullptr;
  }
}

void Session::give_back(Channel *channel) {
  const std::lock_guard lock(mutex_);
  if (!has_ended_) {
    free_.push_back(channel);
    return;
  }
  channel->socket.close();
}

void Session::drop(Channel *channel) {
  const std::lock_guard lock(mutex_);
  channel->began.store(0, std::memory_order_relaxed);
  channel->socket.close();
  if (has_ended_) return;
  closed_.push_back(channel);
  --open_;
}

bool Session::is_scarce() {
  const std::lock_guard lock(mutex_);
  return open_ - free_.size() > most_channels_ / 2;
}

// Requests more channels. Returns false if there are none.
bool Session::open_more() {
  const std::lock_guard one_at_a_time(opening_);
  uint32_t count;
  {
    const std::lock_guard lock(mutex_);
    if (has_ended_) return false;
    // Another thread has got some while this one waited for the lock.
    if (!free_.empty()) return true;
    // Doubles the number of channels each time, since requests of many threads arrive one after
    // another.
    count = std::clamp<uint32_t>(open_, 1, service::kMostChannelsAtOnce);
    count = std::min(count, most_channels_ - open_);
  }
  return count > 0 && Clock::now() >= refused_until_ && ask_for(count);
}

bool Session::ask_for(uint32_t count) {
  if (!control_.is_ours()) {
    end(Fault::kProgram);
    return false;
  }
  const Clock::time_point until = Clock::now() + kOpening;
  const service::OpenChannels wish{service::header_of<service::OpenChannels>(Kind::kOpenChannels),
                                   count, 0};
  uint8_t buffer[256];
  int sockets[service::kMostChannelsAtOnce];
  size_t came = 0;
  service::Received received;
  if (send_one(control_.get(), wish) == Transfer::kDone) {
    do {
      if (!wait_for(control_.get(), until)) break;
      received = service::receive_packet(control_.get(), buffer, false, sockets, &came);
    } while (received.transfer == Transfer::kWouldBlock);
  }
  // Closes on return whatever add() does not take.
  std::array<OwnDescriptor, service::kMostChannelsAtOnce> owned;
  for (size_t n = 0; n < came; ++n)
    owned[n] = OwnDescriptor(sockets[n], OwnDescriptor::Number::kHigh);
  const bool is_refused =
      service::fixed_part<service::Refused>(received.packet, Kind::kRefused) && came == 0;
  if (is_refused || (received.transfer != Transfer::kDone && !has_free_number(control_.get()))) {
    refused_until_ = Clock::now() + kRefusal;
    return false;
  }
  const auto told = service::fixed_part<service::Channels>(received.packet, Kind::kChannels);
  if (!told || told->count != came || came == 0 || came > count) {
    end(Fault::kService);
    return false;
  }
  for (OwnDescriptor &socket : owned)
    if (socket.is_there()) add(std::move(socket));
  return true;
}

void Session::add(OwnDescriptor socket) {
  // Makes the socket blocking, with a timeout.
  (void)fcntl(socket.get(), F_SETFL, 0);
  (void)setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &kOneWait, sizeof kOneWait);
  const std::lock_guard lock(mutex_);
  if (has_ended_ || open_ >= most_channels_) return;
  // Reserves room now, so that give_back() and drop() need no memory.
  free_.reserve(all_count_ + 1);
  closed_.reserve(all_count_ + 1);
  Channel *channel = nullptr;
  if (!closed_.empty()) {
    channel = closed_.back();
    closed_.pop_back();
  } else {
    channel = new Channel;
    all_[all_count_.load(std::memory_order_relaxed)].store(channel, std::memory_order_release);
    all_count_.fetch_add(1, std::memory_order_release);
  }
  channel->socket = std::move(socket);
  free_.push_back(channel);
  ++open_;
}

// ---- Packets without an answer -------------------------------------------------

void Session::forget_key(uint64_t key) {
  const service::ForgetKey packet{service::header_of<service::ForgetKey>(Kind::kForgetKey), key};
  if (!has_ended() && control_.is_ours()) (void)send_one(control_.get(), packet);
}

void Session::look_again() {
  const service::LookAgain packet{service::header_of<service::LookAgain>(Kind::kLookAgain)};
  if (!has_ended() && control_.is_ours()) (void)send_one(control_.get(), packet);
}

// ---- Jobs ----------------------------------------------------------------------

int Session::timer() {
  const std::lock_guard lock(mutex_);
  if (!timer_.is_there() && !has_ended_)
    timer_ = OwnDescriptor(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK),
                           OwnDescriptor::Number::kHigh);
  return timer_.get();
}

// Arms the timer. Needs `mutex_`.
void Session::wake_after(Clock::duration time) {
  const int64_t ns = std::chrono::nanoseconds(time).count();
  itimerspec once{};
  once.it_value = {time_t(ns / 1'000'000'000), long(ns % 1'000'000'000)};
  timer_runs_ = timer_.is_ours() && timerfd_settime(timer_.get(), 0, &once, nullptr) == 0;
}

void Session::begin_of_job(Channel &channel) {
  const std::lock_guard lock(mutex_);
  channel.is_of_job.store(true, std::memory_order_relaxed);
  channel.began.store(now_ns(), std::memory_order_relaxed);
  if (!timer_runs_) wake_after(kSilence);
}

bool Session::is_silent(const Channel &channel) {
  constexpr int64_t kLimit = std::chrono::nanoseconds(kSilence).count();
  constexpr std::chrono::milliseconds kLittleMore{10};
  const int64_t now = now_ns();
  if (now - channel.began.load(std::memory_order_relaxed) > kLimit) return true;
  const std::lock_guard lock(mutex_);
  uint64_t times;
  if (!timer_.is_ours() || read(timer_.get(), &times, sizeof times) != sizeof times) return false;
  int64_t oldest = INT64_MAX;
  for (uint32_t n = 0; n < all_count_; ++n) {
    const Channel &other = *all_[n].load(std::memory_order_relaxed);
    const int64_t began = other.began.load(std::memory_order_relaxed);
    if (began == 0 || !other.is_of_job.load(std::memory_order_relaxed)) continue;
    if (now - began < kLimit) {
      oldest = std::min(oldest, began);
      continue;
    }
    // If the answer is there and the job was just not resumed, the service is not silent.
    pollfd one = {other.socket.get(), POLLIN, 0};
    if (other.socket.is_ours() && poll(&one, 1, 0) == 0) return true;
  }
  timer_runs_ = false;
  if (oldest != INT64_MAX)
    wake_after(std::chrono::nanoseconds(oldest + kLimit - now) + kLittleMore);
  return false;
}

}  // namespace lanecrypt::client
