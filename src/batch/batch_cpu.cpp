// SPDX-License-Identifier: Apache-2.0
#include "batch/batch_cpu.h"

#include <exception>
#include <new>
#include <utility>

#include "batch/failure.h"
#include "cpu/core_count.h"
#include "process/thread.h"
#include "thread/signals.h"

namespace lanecrypt::runtime {

BatchCpu::BatchCpu(Counters &counters) : counters_(counters), most_threads_(cpu::usable_cores()) {}

void BatchCpu::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  for (std::thread &thread : threads_) thread.join();
  threads_.clear();
}

void BatchCpu::submit(const BatchRequestPointer &request) {
  std::unique_lock lock(mutex_);
  if (stopping_) {
    lock.unlock();
    request->failure = process_ends();
    return request->end();
  }
  // Nothing may stay behind that nobody does: its caller would be gone.
  const auto refuse = [&](Status why) {
    lock.unlock();
    request->failure = std::move(why);
    request->end();
  };
  try {
    queue_.push_back(request);
  } catch (const std::bad_alloc &) {
    return refuse(Status(LC_ERROR_MEMORY, "out of memory"));
  }
  try {
    const SignalsBlocked blocked;
    for (size_t wanted = request->todo.size();
         wanted > waiting_threads_ && threads_.size() < most_threads_; --wanted) {
      threads_.reserve(threads_.size() + 1);  // a thread that runs must find its place
      threads_.push_back(process::start_thread([this] { run(); }));
    }
  } catch (const std::exception &error) {
    // Those that there are will do.
    if (threads_.empty()) {
      queue_.pop_back();
      const bool is_memory = dynamic_cast<const std::bad_alloc *>(&error) != nullptr;
      return refuse(status_of(is_memory ? LC_ERROR_MEMORY : LC_ERROR_NO_DEVICE, error.what()));
    }
  }
  changed_.notify_all();
}

// Under the lock.
void BatchCpu::count(BatchRequest &request, const Status &status, uint32_t bytes) {
  if (!status.ok()) {
    ++counters_.failures;
    if (request.failure.ok()) request.failure = status;
    return;
  }
  if (!request.on_cpu_counted) {
    request.on_cpu_counted = true;
    ++counters_.jobs;
  }
  ++counters_.operations;
  counters_.bytes += bytes;
  ++request.result.cpu_operations;
  request.result.cpu_bytes += bytes;
}

void BatchCpu::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++waiting_threads_;
    changed_.wait(lock, [&] { return stopping_ || !queue_.empty(); });
    --waiting_threads_;
    if (queue_.empty()) return;
    const BatchRequestPointer request = queue_.front();
    const uint32_t number = request->todo.back();
    request->todo.pop_back();
    ++request->under_way;
    if (request->todo.empty()) queue_.pop_front();
    lock.unlock();
    const Status status = cancels_pending_ ? process_ends() : request->do_on_cpu(number);
    const uint32_t bytes = request->bytes_of(number);
    lock.lock();
    count(*request, status, bytes);
    --request->under_way;
    if (!request->failure.ok() && !request->todo.empty()) {
      queue_.remove(request);
      request->todo.clear();
    }
    if (!request->is_over()) continue;
    lock.unlock();
    request->end();
    lock.lock();
  }
}

}  // namespace lanecrypt::runtime
