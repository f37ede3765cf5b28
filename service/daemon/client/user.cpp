// SPDX-License-Identifier: Apache-2.0
#include "service/daemon/client/user.h"

#include <utility>

namespace lanecrypt::service::daemon {

std::shared_ptr<User> Users::find(uid_t number, Time now) {
  Known &known = users_[number];
  if (std::shared_ptr<User> user = known.user.lock()) return user;
  auto made = std::make_shared<User>(number);
  known.user = made;
  std::erase_if(users_, [&](const auto &each) {
    return each.second.user.expired() && each.second.reports.is_rested(now) &&
           each.second.connections.is_rested(now);
  });
  return made;
}

std::vector<std::shared_ptr<const User>> Users::all() const {
  std::vector<std::shared_ptr<const User>> all;
  for (const auto &[number, known] : users_)
    if (std::shared_ptr<const User> there = known.user.lock()) all.push_back(std::move(there));
  return all;
}

}  // namespace lanecrypt::service::daemon
