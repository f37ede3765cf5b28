// SPDX-License-Identifier: Apache-2.0
#include "thread/opening_thread.h"

#include <utility>

#include "process/thread.h"
#include "thread/signals.h"

namespace lanecrypt::runtime {

void OpeningThread::begin(bool opens_device, std::function<void()> work) {
  if (runs()) return;
  const SignalsBlocked blocked;
  if (opens_device) opening_.emplace();
  try {
    thread_ = process::start_thread([this, work = std::move(work)] {
      work();
      end_opening();
    });
  } catch (...) {
    end_opening();
    throw;
  }
}

void OpeningThread::join() {
  if (runs()) thread_.join();
}

}  // namespace lanecrypt::runtime
