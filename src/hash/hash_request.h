// A job of hashes on its way.
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
  // The devices, by their numbers, that could not do it.
  std::vector<uint32_t> tried;

  void end() {
    job.spec.key = secure::KeyMemory();  // which wipes it
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
