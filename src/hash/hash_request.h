// `HashRequest` is a hash job on its way through the library.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "batch/failure.h"
#include "job/hash_job.h"
#include "thread/completion.h"

namespace lanecrypt::runtime {

class HashRequest : public Completion {
 public:
  HashRequest(HashJob its_job, Callback on_end)
      : Completion(std::move(on_end)), job(std::move(its_job)) {}

  HashJob job;
  // The indices of the devices that failed to do the job.
  std::vector<uint32_t> tried;

  void end() {
    job.spec.key = secure::KeyMemory();  // wipes the key
    result.failed_devices = tried.size();
    complete();
  }
  void end(const Status &status) {
    failure = status;
    end();
  }
};

using HashRequestPointer = std::shared_ptr<HashRequest>;

}  // namespace lanecrypt::runtime
