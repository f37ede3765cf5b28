// SPDX-License-Identifier: Apache-2.0
#include "service/client/client.h"

namespace lanecrypt::client {

Connection &Client::here() {
  Generation *current = now_.load(std::memory_order_acquire);
  if (current != nullptr && current->connection.is_of_this_process()) return current->connection;
  auto *const made = new Generation(address_, current);
  if (!now_.compare_exchange_strong(current, made, std::memory_order_acq_rel)) {
    // Another thread of this process was faster.
    delete made;
    return current->connection;
  }
  if (made->before != nullptr) made->before->connection.close_copies();
  return made->connection;
}

Client::~Client() {
  Generation *current = now_.load(std::memory_order_acquire);
  if (current != nullptr && current->connection.is_of_this_process()) current->connection.end();
  while (current != nullptr) {
    Generation *const before = current->before;
    delete current;
    current = before;
  }
}

}  // namespace lanecrypt::client
