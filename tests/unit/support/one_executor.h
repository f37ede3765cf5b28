// Opens a device's executor without the dispatcher that a context has.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "cipher/executor.h"

namespace lanecrypt::test {

// The returned executor ends the requests that it hands back, with its reason: no dispatcher takes
// them over.
inline std::unique_ptr<runtime::Executor> executor_of(device::Found found,
                                                      const runtime::PipelineOptions &options,
                                                      const runtime::PinnedMemory &pinned,
                                                      runtime::CopyThreads &copy_threads) {
  return std::make_unique<runtime::Executor>(
      std::move(found), options, pinned, copy_threads,
      [](const runtime::RequestPointer &request, const Status &why) {
        request->failure = why;
        request->end();
      });
}

}  // namespace lanecrypt::test
