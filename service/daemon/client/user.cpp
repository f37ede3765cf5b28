// SPDX-License-Identifier: Apache-2.0
#include "service/daemon/client/user.h"

#include <utility>

namespace lanecrypt::service::daemon {

std::shared_ptr<User> Users::find(uid_t number, Time now) {
  forget_old(now);
  Known &known = users_[number];
  if (known.user == nullptr) known.user = std::make_shared<User>(number);
  known.seen = now;
  return known.user;
}

// Not each time, since somebody may have thousands of users (user_namespaces(7)).
void Users::forget_old(Time now) {
  if (now < next_look_) return;
  next_look_ = now + kUserRemembered / 16;
  std::erase_if(users_, [&](const auto &each) {
    const Known &known = each.second;
    return !known.has_clients() && known.seen + kUserRemembered <= now &&
           known.reports.is_rested(now) && known.connections.is_rested(now);
  });
}

std::vector<std::shared_ptr<const User>> Users::all() const {
  std::vector<std::shared_ptr<const User>> all;
  for (const auto &[number, known] : users_)
    if (known.has_clients()) all.push_back(known.user);
  return all;
}

}  // namespace lanecrypt::service::daemon
