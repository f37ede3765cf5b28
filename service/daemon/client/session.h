// A client: its control socket, its channels and its keys.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "service/daemon/client/channel.h"
#include "service/daemon/client/key.h"
#include "service/daemon/client/peer.h"
#include "service/daemon/client/user.h"

namespace lanecrypt::service::daemon {

struct Service;

// Its lock is never held together with another lock.
class Session : public std::enable_shared_from_this<Session> {
 public:
  // The session's share of the limits: of all sessions, of those of its user, and of descriptors.
  struct Quotas {
    Quota of_all, of_user;
    DescriptorQuota descriptors;
  };
  Session(Service &service, Descriptor control, Peer peer, std::shared_ptr<User> user,
          Quotas quotas);
  ~Session();
  Session(const Session &) = delete;

  const Peer peer;
  const std::shared_ptr<User> user;
  Service &service() const { return service_; }
  int control() const { return control_.get(); }
  // The session's line in each queue, protected by the lock of that queue.
  FairQueue::Client operation_line, key_line, root_line, search_line;

  // The number of channels that it was given, and the index of the first one's thread. For
  // ChannelThreads.
  size_t channels_made = 0, first_thread = 0;

  // ---- Any thread ----
  // It has sent an invalid packet. Set before the session ends for that.
  std::atomic<bool> breaks_protocol = false;
  bool has_ended() const { return has_ended_.load(std::memory_order_acquire); }
  // Drops the requests that wait, and shuts down the session's sockets. The caller must hold no
  // lock.
  void end();

  // ---- Channels ----
  // Returns how many more channels it may have.
  size_t room_for_channels();
  // Returns false if the session has ended.
  bool add(const std::shared_ptr<Channel> &channel);
  void remove(const std::shared_ptr<Channel> &channel);

  // ---- Keys ----
  // Finds the key of a request that has begun on a channel, or stores the one that the request
  // carries. If the outcome is kDone, either `has_key` is true and request.key is usable, or the
  // channel waits for the key's check. In the second case `to_check` is the key if it is new.
  struct FoundKey {
    Outcome outcome = Outcome::kFailed;
    bool has_key = false;
    std::shared_ptr<Key> to_check;
  };
  FoundKey find_key(Channel &channel, const KeyUse &use);
  void forget_key(uint64_t number);
  // Ends the check of a key. Returns the channels that waited for it.
  std::vector<std::shared_ptr<Channel>> end_check(Key &key, bool is_good);

  // ---- For the main thread alone ----
  bool said_hello = false;

 private:
  std::vector<std::shared_ptr<Channel>> leave_all(
      std::unordered_set<std::shared_ptr<Channel>> *channels);

  Service &service_;
  const Quotas quotas_;
  const Descriptor control_;
  std::atomic<bool> has_ended_ = false;
  std::mutex mutex_;  // protects the members below
  std::unordered_set<std::shared_ptr<Channel>> channels_;
  std::unordered_map<uint64_t, std::shared_ptr<Key>> keys_;
};

}  // namespace lanecrypt::service::daemon
