// An RSA job on its way: what is left to do of it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>

#include "job/rsa_job.h"
#include "thread/ending.h"

namespace lanecrypt::schedule {

// Shared as a Request is.
class RsaRequest : public Ending {
 public:
  RsaRequest(RsaJob whole, Callback on_end) : Ending(std::move(on_end)), job(std::move(whole)) {
    for (uint32_t n = 0; n < job.messages.size(); ++n) todo.push_back(n);
  }

  RsaJob job;

  // The business of whoever has the request.
  std::deque<uint32_t> todo;  // numbers of messages
  uint32_t under_way = 0;     // messages
  // The devices, by their numbers, that could not finish it.
  std::vector<uint32_t> tried;
  bool on_device_counted = false, on_cpu_counted = false;
  // In a batcher, whose threads end the messages of one request side by side:
  std::mutex mutex;  // of what is above and of the result
  Status leaves;     // why the last of its messages that failed did

  bool is_over() const { return under_way == 0 && (todo.empty() || !failure.ok()); }
  void end() {
    result.failed_devices = tried.size();
    tell();
  }
};

using RsaRequestPointer = std::shared_ptr<RsaRequest>;

}  // namespace lanecrypt::schedule
