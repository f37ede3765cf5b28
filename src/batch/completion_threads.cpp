// SPDX-License-Identifier: Apache-2.0
#include "batch/completion_threads.h"

#include <algorithm>
#include <utility>

#include "cpu/core_count.h"
#include "process/thread.h"

namespace lanecrypt::runtime {
namespace {

// Operations that one thread completes in one go.
constexpr size_t kPart = 32;

uint64_t nanoseconds_between(std::chrono::steady_clock::time_point begin,
                             std::chrono::steady_clock::time_point end) {
  const auto between = std::chrono::duration_cast<std::chrono::nanoseconds>(end - begin);
  return uint64_t(std::max<int64_t>(0, between.count()));
}

bool is_right(const EndedBatch &batch, size_t n) {
  return batch.failure.ok() && batch.results.is_right(n);
}

size_t thread_count() { return std::clamp<size_t>(cpu::usable_cores() / 2, 1, 8); }

}  // namespace

CompletionThreads::CompletionThreads(Counters &counters, std::atomic<size_t> &load,
                                     HandBack hand_back, OnWrong on_wrong)
    : counters_(counters),
      load_(load),
      hand_back_(std::move(hand_back)),
      on_wrong_(std::move(on_wrong)),
      repairs_([this](const BatchItem &item) { repair(item); }) {}

void CompletionThreads::begin() {
  threads_.reserve(thread_count());  // a thread that runs must find its place
  while (threads_.size() < thread_count())
    threads_.push_back(process::start_thread([this] { run(); }));
}

void CompletionThreads::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  for (std::thread &thread : threads_)
    if (thread.joinable()) thread.join();
  repairs_.stop();
}

void CompletionThreads::enqueue(std::shared_ptr<EndedBatch> batch) noexcept {
  const std::lock_guard lock(mutex_);
  EndedBatch *const added = batch.get();
  (first_ == nullptr ? first_ : last_->next) = std::move(batch);
  last_ = added;
  for (size_t begin = 0; begin < added->items.size(); begin += kPart) changed_.notify_one();
}

void CompletionThreads::give_back(const BatchItem &item, const Failure &why) noexcept {
  load_.fetch_sub(1, std::memory_order_relaxed);
  if (!note_failed(item, why)) return;
  const std::lock_guard lock(mutex_);
  item.request->next = std::exchange(left_, item.request);
  changed_.notify_one();
}

std::unique_lock<std::mutex> CompletionThreads::lock_callbacks_of_one(const EndedBatch &batch) {
  if (batch.items.size() != 1 || !is_right(batch, 0)) return {};
  BatchRequest &request = *batch.items[0].request;
  if (request.operations() != 1) return {};
  return request.lock_callbacks();
}

// ---- The completion threads ---------------------------------------------------------

void CompletionThreads::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopping_ || first_ != nullptr || left_ != nullptr; });
    if (left_ != nullptr) {
      const BatchRequestPointer request = std::move(left_);
      left_ = std::move(request->next);
      lock.unlock();
      finish_request(request);
    } else if (first_ != nullptr) {
      const std::shared_ptr<EndedBatch> batch = first_;
      const size_t begin = batch->begun;
      const size_t end = batch->begun = std::min(begin + kPart, batch->items.size());
      if (end == batch->items.size()) first_ = std::move(batch->next);
      lock.unlock();
      complete(*batch, begin, end);
    } else {
      return;
    }
    lock.lock();
  }
}

void CompletionThreads::complete(const EndedBatch &batch, size_t part_begin, size_t part_end) {
  for (size_t begin = part_begin; begin < part_end;) {
    const BatchRequestPointer &request = batch.items[begin].request;
    size_t same = begin;
    while (same < part_end && is_right(batch, same) && batch.items[same].request == request) ++same;
    if (same > begin) {
      end_right({&batch.items[begin], same - begin}, batch);
      begin = same;
    } else {
      end_undone(batch, begin++);
    }
  }
}

// The items of a large request complete at once.
void CompletionThreads::end_right(std::span<const BatchItem> of_one_request,
                                  const EndedBatch &batch) {
  const BatchRequestPointer &pointer = of_one_request.front().request;
  BatchRequest &request = *pointer;
  uint64_t bytes = 0;
  for (const BatchItem &item : of_one_request) bytes += request.bytes_of(item.number);
  const auto count = static_cast<uint32_t>(of_one_request.size());
  counters_.operations += count;
  counters_.bytes += bytes;
  load_.fetch_sub(count, std::memory_order_relaxed);

  std::unique_lock lock(request.mutex);
  if (!request.on_device_counted) ++counters_.jobs;
  request.on_device_counted = true;
  request.result.device_operations += count;
  request.result.device_bytes += bytes;
  request.result.batch_operations = batch.items.size();
  request.result.waiting_ns = nanoseconds_between(request.submitted, batch.started);
  request.result.device_ns = nanoseconds_between(batch.started, batch.ended);
  request.under_way -= count;
  if (request.under_way > 0) return;
  lock.unlock();
  finish_request(pointer);
}

void CompletionThreads::finish_request(const BatchRequestPointer &request) {
  if (request->todo.empty() || !request->failure.ok()) {
    request->end();
  } else {
    const Status why = std::exchange(request->leaves, Status());
    hand_back_(request, why);
  }
}

// An operation without a right result. A wrong one never leaves: the CPU makes it again.
void CompletionThreads::end_undone(const EndedBatch &batch, size_t n) {
  load_.fetch_sub(1, std::memory_order_relaxed);
  const BatchItem &item = batch.items[n];
  if (!batch.failure.ok())
    end_failed(item, batch.failure);
  else if (batch.results.is_wrong(n))
    repairs_.add(item);
  else
    end_failed(item, batch.results.failure(n));
}

// What failed by itself ends its request. All else goes back, for others to do.
void CompletionThreads::end_failed(const BatchItem &item, const Failure &why) {
  if (note_failed(item, why)) finish_request(item.request);
}

// Whether nothing of its request is under way any more.
bool CompletionThreads::note_failed(const BatchItem &item, const Failure &why) noexcept {
  BatchRequest &request = *item.request;
  const std::lock_guard lock(request.mutex);
  if (!why.is_of(FailureOf::kItem)) {
    request.todo.push_back(item.number);  // it has the place that the operation had before
    request.leaves = why.status();
  } else if (request.failure.ok()) {
    request.failure = why.status();
  }
  return --request.under_way == 0;
}

// ---- The threads of the repairs ---------------------------------------------

void CompletionThreads::repair(const BatchItem &item) {
  BatchRequest &request = *item.request;
  if (cancels_pending_) return end_failed(item, Failure::of_item(process_ends()));
  if (!request.suits_cpu(item.number)) {
    // Nobody can tell whose fault it is; the self-test says whether the device goes on.
    ++counters_.failures;
    on_wrong_();
    return end_failed(
        item, Failure::of_device(Status(LC_ERROR_DEVICE, "the device gave a wrong result")));
  }
  const Repaired made = request.repair(item.number);
  if (made.fault != Repaired::Fault::kDevice)
    return end_failed(item, Failure::of_item(made.status));
  ++counters_.failures;
  on_wrong_();
  std::unique_lock lock(request.mutex);
  ++request.result.cpu_operations;
  ++request.result.failed_checks;
  request.result.cpu_bytes += request.bytes_of(item.number);
  if (--request.under_way > 0) return;
  lock.unlock();
  finish_request(item.request);
}

}  // namespace lanecrypt::runtime
