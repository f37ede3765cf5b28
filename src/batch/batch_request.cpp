// SPDX-License-Identifier: Apache-2.0
#include "batch/batch_request.h"

namespace lanecrypt::runtime {

BatchRequest::BatchRequest(size_t operations, Callback on_end)
    : Ending(std::move(on_end)), operations_(operations) {
  todo.reserve(operations);
  for (auto n = uint32_t(operations); n-- > 0;) todo.push_back(n);
}

}  // namespace lanecrypt::runtime
