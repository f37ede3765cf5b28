// SPDX-License-Identifier: Apache-2.0
#include "service/daemon/work/searches.h"

#include <algorithm>

#include "process/new_thread.h"
#include "service/daemon/client/session.h"
#include "service/daemon/limits.h"
#include "service/daemon/service.h"

namespace lanecrypt::service::daemon {
namespace {

struct Search {
  Channel &channel;
  const std::atomic<bool> &stopping;
  bool has_key = false;
  bool is_full = false;
};

std::span<const uint8_t> bytes_of_number(const lc_number &number) {
  return {static_cast<const uint8_t *>(number.bytes), number.length};
}

}  // namespace

void Searches::start(size_t threads) {
  threads_.reserve(threads);  // so that push_back() cannot throw after a thread was started
  while (threads_.size() < threads) threads_.push_back(process::new_thread([this] { run(); }));
}

void Searches::stop() {
  Waiting *all = nullptr;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    all = queue_.take_older(Clock::time_point::max());
    changed_.notify_all();
  }
  refuse(all);
  for (std::thread &thread : threads_) thread.join();
  threads_.clear();
}

void Searches::add(Channel &channel) {
  ++count_;
  bool has_room = false;
  {
    const std::lock_guard lock(mutex_);
    all_.insert(channel.shared_from_this());
    has_room = !stopping_ && queue_.add(channel.session->search_line, channel, kMostWaitingOfUser);
    if (has_room) changed_.notify_one();
  }
  if (!has_room) fail(channel, Outcome::kBusy);
}

void Searches::drop(Session &session) {
  Waiting *all = nullptr;
  {
    const std::lock_guard lock(mutex_);
    all = queue_.close(session.search_line);
  }
  refuse(all);
}

void Searches::refuse(Waiting *chain) {
  while (chain != nullptr) {
    Channel &channel = *static_cast<Channel *>(chain);
    chain = chain->next;
    fail(channel, Outcome::kBusy);
  }
}

void Searches::tell_still_at_work() {
  std::vector<std::shared_ptr<Channel>> all;
  Waiting *late = nullptr;
  {
    const std::lock_guard lock(mutex_);
    all.assign(all_.begin(), all_.end());
    late = queue_.take_older(Clock::now() - kMostWait);
  }
  for (const std::shared_ptr<Channel> &channel : all) channel->say_still_at_work();
  refuse(late);
}

void Searches::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || queue_.first() != nullptr; });
    if (stopping_) return;
    Channel &channel = *static_cast<Channel *>(queue_.take());
    lock.unlock();
    // The channel may go with the search.
    std::shared_ptr<Session> session = channel.session;
    search(channel);
    lock.lock();
    queue_.end(session->search_line);
    // There may be room for two: another one of this user and one of another user.
    changed_.notify_one();
    lock.unlock();
    session.reset();
    lock.lock();
  }
}

// Returns whether a device makes a key of this length faster than a core. The library opens no
// device for the first eight shorter keys of a process, since most processes make few. The service
// makes the keys of all processes, so its first request asks that often at once, and waits until a
// device is open.
bool Searches::is_device_sooner(lc_context *context, uint32_t bits) {
  constexpr int kAsks = 9;
  std::call_once(warmed_up_, [&] {
    for (int n = 0; n < kAsks; ++n)
      if (lc_rsa_generation_prefers_device(context, bits) != 0) return;
  });
  return lc_rsa_generation_prefers_device(context, bits) != 0;
}

// Searches for a key on a thread of this class and answers the request. A client that closed its
// channel or a session that ended stops the search.
void Searches::search(Channel &channel) {
  const Request &request = channel.request;
  lc_context *const context = context_;
  // If the threads of the devices do not share a number, one thread alone searches for a prime, and
  // the client's core is faster.
  if (context == nullptr || !is_device_sooner(context, request.bits))
    return fail(channel, Outcome::kNoDevice);
  // take_key() may release the last other references to the channel and the session.
  const std::shared_ptr<Channel> stays = channel.shared_from_this();
  const std::shared_ptr<Session> session = channel.session;
  Search search{channel, stopping_};
  lc_rsa_generation generation{};
  generation.struct_size = sizeof generation;
  generation.bits = request.bits;
  generation.exponent = {request.exponent.data(), request.exponent_bytes};
  generation.count = 1;
  generation.device = LC_ANY_DEVICE;
  generation.on_key = take_key;
  generation.on_progress = goes_on;
  generation.argument = &search;
  const lc_status status = lc_rsa_generate(context, &generation, nullptr);
  // take_key() has answered the request.
  if (search.has_key) {
    if (search.is_full) session->service().releases.add(session);
    return;
  }
  fail(channel, status == LC_ERROR_ARGUMENT      ? Outcome::kBadInput
                : status == LC_ERROR_NO_DEVICE   ? Outcome::kNoDevice
                : status == LC_ERROR_UNSUPPORTED ? Outcome::kNoDevice
                                                 : Outcome::kFailed);
}

int Searches::goes_on(void *argument, const lc_rsa_progress *) noexcept {
  const Search &search = *static_cast<const Search *>(argument);
  return search.stopping || search.channel.is_gone() || search.channel.session->has_ended() ? 0 : 1;
}

// Sends the key from the library's memory, so there is no copy to wipe.
int Searches::take_key(void *argument, uint64_t, const lc_rsa_parts *key) noexcept {
  Search &search = *static_cast<Search *>(argument);
  const lc_number *const numbers[kKeyParts] = {&key->n,  &key->e,  &key->p,    &key->q,
                                               &key->dp, &key->dq, &key->qinv, &key->d};
  std::span<const uint8_t> pieces[1 + kKeyParts];
  RsaKeyMade answer{};
  size_t bytes = 0;
  for (size_t n = 0; n < kKeyParts; ++n) {
    pieces[1 + n] = bytes_of_number(*numbers[n]);
    answer.part_bytes[n] = uint16_t(numbers[n]->length);
    bytes += numbers[n]->length;
  }
  answer.header = header_of<RsaKeyMade>(Kind::kRsaKey, bytes);
  answer.outcome = Outcome::kDone;
  pieces[0] = bytes_of(answer);
  search.has_key = true;
  Searches &self = search.channel.session->service().searches;
  search.is_full = self.end(search.channel, Outcome::kDone, pieces);
  return 1;
}

void Searches::fail(Channel &channel, Outcome outcome) {
  const std::shared_ptr<Session> session = channel.session;
  const RsaKeyMade answer{header_of<RsaKeyMade>(Kind::kRsaKey), outcome, {}, 0};
  const std::span<const uint8_t> pieces[] = {bytes_of(answer)};
  if (end(channel, outcome, pieces)) session->service().releases.add(session);
}

bool Searches::end(Channel &channel, Outcome outcome,
                   std::span<const std::span<const uint8_t>> answer) {
  KindCounters &counters = counters_.rsa_generate[StatusPage::size_of(channel.request.bits)];
  counters.count(outcome);
  if (outcome == Outcome::kDone) {
    channel.session->user->operations.fetch_add(1, std::memory_order_relaxed);
    counters.service_time.add(
        uint64_t(std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - channel.since)
                     .count()));
  }
  std::shared_ptr<Channel> gone;
  {
    const std::lock_guard lock(mutex_);
    const auto at = all_.find(channel.shared_from_this());
    if (at != all_.end()) gone = std::move(all_.extract(at).value());
  }
  --count_;
  return channel.end(answer).is_full;
}

}  // namespace lanecrypt::service::daemon
