// SPDX-License-Identifier: Apache-2.0
#include "service/daemon/client/session.h"

#include <sys/socket.h>

#include <algorithm>

#include "service/daemon/limits.h"
#include "service/daemon/service.h"

namespace lanecrypt::service::daemon {

Session::Session(Service &service, Descriptor control, Peer its_peer,
                 std::shared_ptr<User> its_user, Quotas quotas)
    : peer(std::move(its_peer)),
      user(std::move(its_user)),
      operation_line(user->operation_queue),
      key_line(user->key_queue),
      root_line(user->root_queue),
      search_line(user->search_queue),
      service_(service),
      quotas_(std::move(quotas)),
      control_(std::move(control)) {
  service_.counters.sessions.fetch_add(1, std::memory_order_relaxed);
}

Session::~Session() { service_.counters.sessions.fetch_sub(1, std::memory_order_relaxed); }

// ---- The end ----------------------------------------------------------------

// Detaches the channels and keys, which point back to the session. Returns the channels whose
// requests wait for the check of a key.
std::vector<std::shared_ptr<Channel>> Session::leave_all(
    std::unordered_set<std::shared_ptr<Channel>> *channels) {
  std::unordered_map<uint64_t, std::shared_ptr<Key>> keys;
  std::vector<std::shared_ptr<Channel>> waiting;
  const std::lock_guard lock(mutex_);
  if (has_ended_.exchange(true, std::memory_order_acq_rel)) return waiting;
  channels->swap(channels_);
  keys.swap(keys_);
  for (const auto &[number, key] : keys) {
    waiting.insert(waiting.end(), key->waiting.begin(), key->waiting.end());
    key->waiting.clear();
  }
  return waiting;
}

void Session::end() {
  // The calls below may release the last other reference to the session.
  const std::shared_ptr<Session> stays = shared_from_this();
  if (has_ended()) return;
  std::unordered_set<std::shared_ptr<Channel>> channels;
  for (const std::shared_ptr<Channel> &channel : leave_all(&channels))
    service_.operations.finish(*channel, Outcome::kBusy);
  service_.operations.drop(*this);
  service_.key_checks.drop(*this);
  service_.root_checks.drop(*this);
  service_.searches.drop(*this);
  for (const std::shared_ptr<Channel> &channel : channels) {
    channel->note_gone();
    service_.channel_threads.remove(*channel);
    (void)shutdown(channel->socket(), SHUT_RDWR);
  }
  // The main thread notices that and releases the session.
  (void)shutdown(control(), SHUT_RDWR);
}

// ---- Channels ---------------------------------------------------------------

size_t Session::room_for_channels() {
  const std::lock_guard lock(mutex_);
  return has_ended() ? 0
                     : kMostChannelsOfSession - std::min(kMostChannelsOfSession, channels_.size());
}

bool Session::add(const std::shared_ptr<Channel> &channel) {
  const std::lock_guard lock(mutex_);
  return !has_ended() && channels_.insert(channel).second;
}

void Session::remove(const std::shared_ptr<Channel> &channel) {
  const std::lock_guard lock(mutex_);
  channels_.erase(channel);
}

// ---- Keys -------------------------------------------------------------------

Session::FoundKey Session::find_key(Channel &channel, const KeyUse &use) {
  FoundKey found;
  const std::lock_guard lock(mutex_);
  const auto refuse = [&](Outcome outcome) {
    found.outcome = outcome;
    return found;
  };
  if (has_ended()) return refuse(Outcome::kBusy);
  const auto at = keys_.find(use.number);
  std::shared_ptr<Key> key = at == keys_.end() ? nullptr : at->second;
  if (key == nullptr && !use.parts) return refuse(Outcome::kUnknownKey);
  if (key != nullptr && use.parts && !key->has(*use.parts)) return refuse(Outcome::kBadKey);
  if (key == nullptr) {
    const size_t bytes = bytes_of_key(use.operation_kind.family, Key::charged_bits_of(use));
    Key::Quotas quotas{Quota(user->keys, kMostKeysOfUser, quota_of_key(use.operation_kind.family)),
                       Quota(user->key_bytes, kMostKeyBytesOfUser, bytes),
                       Quota(service_.key_bytes, kMostKeyBytes, bytes)};
    if (keys_.size() >= kMostKeysOfSession || !quotas.ok()) return refuse(Outcome::kBusy);
    key = std::make_shared<Key>(shared_from_this(), use, std::move(quotas), service_.counters);
    keys_.emplace(use.number, key);
    found.to_check = key->in_line = key;
  }
  if (!key->suits(use)) return refuse(Outcome::kBadInput);
  found.outcome = Outcome::kDone;
  found.has_key = key->state == Key::State::kGood;
  if (found.has_key && key->checked().is_at_fault()) return refuse(Outcome::kBadKey);
  channel.request.operation_kind = key->operation_kind();
  channel.request.key = key;
  if (!found.has_key) key->waiting.push_back(channel.shared_from_this());
  return found;
}

void Session::forget_key(uint64_t number) {
  std::shared_ptr<Key> forgotten;
  const std::lock_guard lock(mutex_);
  const auto at = keys_.find(number);
  if (at == keys_.end()) return;
  forgotten = std::move(at->second);
  keys_.erase(at);
}

std::vector<std::shared_ptr<Channel>> Session::end_check(Key &key, bool is_good) {
  std::shared_ptr<Key> bad, in_line;
  std::vector<std::shared_ptr<Channel>> waiting;
  const std::lock_guard lock(mutex_);
  in_line = std::move(key.in_line);
  key.state = is_good ? Key::State::kGood : Key::State::kBad;
  waiting.swap(key.waiting);
  const auto at = keys_.find(key.number);
  if (is_good || at == keys_.end() || at->second.get() != &key) return waiting;
  bad = std::move(at->second);
  keys_.erase(at);
  return waiting;
}

}  // namespace lanecrypt::service::daemon
