// SPDX-License-Identifier: Apache-2.0
#include "service/daemon/client/control_queue.h"

#include <algorithm>

namespace lanecrypt::service::daemon {

void ControlQueue::add(uid_t user, uint64_t client, Time now) {
  if (!lines_.contains(user))
    std::erase_if(lines_, [&](const auto &each) {
      return each.second.clients.empty() && each.second.rate.is_rested(now);
    });
  Line &line = lines_[user];
  if (line.clients.empty()) round_robin_.push_back(user);
  line.clients.push_back(client);
}

std::optional<ControlQueue::Next> ControlQueue::next(Time now) {
  for (size_t left = round_robin_.size(); left > 0; --left) {
    const uid_t user = round_robin_.front();
    Line &line = lines_.at(user);
    if (line.rate.free_at() > now) {
      round_robin_.pop_front();
      round_robin_.push_back(user);
      continue;
    }
    const Next next{user, line.clients.front()};
    line.clients.pop_front();
    round_robin_.pop_front();
    if (!line.clients.empty()) round_robin_.push_back(user);
    return next;
  }
  return std::nullopt;
}

void ControlQueue::charge(uid_t user, size_t units, Time now) {
  if (const auto line = lines_.find(user); line != lines_.end())
    line->second.rate.charge(now, units);
}

std::optional<ControlQueue::Time> ControlQueue::ready_at() const {
  std::optional<Time> soonest;
  for (const uid_t user : round_robin_) {
    const Time free = lines_.at(user).rate.free_at();
    if (!soonest || free < *soonest) soonest = free;
  }
  return soonest;
}

}  // namespace lanecrypt::service::daemon
