// SPDX-License-Identifier: Apache-2.0
#include "batch/batch_request.h"

#include <exception>

namespace lanecrypt::runtime {

BatchRequest::BatchRequest(size_t operations, Callback on_end)
    : Ending(std::move(on_end)), operations_(operations) {
  todo.reserve(operations);
  for (auto n = uint32_t(operations); n-- > 0;) todo.push_back(n);
}

Status BatchRequest::do_on_cpu(uint32_t operation) {
  try {
    return run_on_cpu(operation);
  } catch (const std::exception &error) {  // want of memory, which must not end the process
    return Status(LC_ERROR_MEMORY, error.what());
  }
}

}  // namespace lanecrypt::runtime
