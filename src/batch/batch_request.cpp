// SPDX-License-Identifier: Apache-2.0
#include "batch/batch_request.h"

#include <exception>

#include "batch/failure.h"
#include "thread/job_owner.h"

namespace lanecrypt::runtime {

BatchRequest::BatchRequest(size_t operations, Callback on_end)
    : Completion(std::move(on_end)), owner(JobOwner::current()), operations_(operations) {
  todo.reserve(operations);
  for (auto n = uint32_t(operations); n-- > 0;) todo.push_back(n);
}

Status BatchRequest::do_on_cpu(uint32_t operation) {
  return guarded([&] { return run_on_cpu(operation); });
}

Repaired BatchRequest::repair_on_cpu(uint32_t operation) {
  Status made = run_on_cpu(operation);
  return {made.ok() ? Repaired::Fault::kDevice : Repaired::Fault::kUnknown, std::move(made)};
}

Repaired BatchRequest::repair(uint32_t operation) {
  try {
    return repair_on_cpu(operation);
  } catch (const std::exception &error) {
    return {Repaired::Fault::kUnknown, status_of(LC_ERROR_MEMORY, error.what())};
  }
}

}  // namespace lanecrypt::runtime
