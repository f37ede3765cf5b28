// One client: its control socket, its channels and its keys.
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

// Its lock is never held together with another one.
class Session : public std::enable_shared_from_this<Session> {
 public:
  // seats: its places among all sessions, among those of its user, and of its descriptors.
  struct Seats {
    Seat of_all, of_user;
    DescriptorSeats descriptors;
  };
  Session(Service &service, Descriptor control, Peer peer, std::shared_ptr<User> user, Seats seats);
  ~Session();
  Session(const Session &) = delete;

  const Peer peer;
  const std::shared_ptr<User> user;
  Service &service() const { return service_; }
  int control() const { return control_.get(); }
  // Its lines, each under the lock of its turns.
  Turns::Client operation_line, key_line, root_line, search_line;

  // The channel threads': how many channels it was given, and which thread has the first.
  size_t channels_made = 0, first_thread = 0;

  // ---- Any thread ----
  // It has sent what is no right packet. Set before the session ends for that.
  std::atomic<bool> breaks_protocol = false;
  bool has_ended() const { return has_ended_.load(std::memory_order_acquire); }
  // Drops what waits, and closes the session's sockets for both sides. Call it with no lock
  // held.
  void end();

  // ---- Channels ----
  // How many more it may have.
  size_t room_for_channels();
  // False where it has ended.
  bool add(const std::shared_ptr<Channel> &channel);
  void remove(const std::shared_ptr<Channel> &channel);

  // ---- Keys ----
  // Finds the key of a request that has begun on a channel, or takes the one that it brings.
  // kDone: request.key is set, or the channel waits for the key's check. Then has_key is
  // false, and if to_check is not nullptr that key is new.
  struct FoundKey {
    Outcome outcome = Outcome::kFailed;
    bool has_key = false;
    std::shared_ptr<Key> to_check;
  };
  FoundKey find_key(Channel &channel, const KeyUse &use);
  void forget_key(uint64_t number);
  // A key's check is over. Gives back the channels that waited for it.
  std::vector<std::shared_ptr<Channel>> end_check(Key &key, bool is_good);

  // ---- The main thread ----
  bool said_hello = false;

 private:
  std::vector<std::shared_ptr<Channel>> leave_all(
      std::unordered_set<std::shared_ptr<Channel>> *channels);

  Service &service_;
  const Seats seats_;
  const Descriptor control_;
  std::atomic<bool> has_ended_ = false;
  std::mutex mutex_;  // of what is below
  std::unordered_set<std::shared_ptr<Channel>> channels_;
  std::unordered_map<uint64_t, std::shared_ptr<Key>> keys_;
};

}  // namespace lanecrypt::service::daemon
