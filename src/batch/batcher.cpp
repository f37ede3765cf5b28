// SPDX-License-Identifier: Apache-2.0
#include "batch/batcher.h"

#include <sys/prctl.h>

#include <algorithm>
#include <bit>
#include <exception>
#include <iterator>
#include <thread>

#include "thread/stuck.h"

namespace lanecrypt::runtime {
namespace {

// How long the next look at what is under way waits; for arrivals too, while there
// is room for another batch.
constexpr std::chrono::microseconds kLook{50};
// So long before and after the time that a lone operation usually takes it is watched.
constexpr std::chrono::nanoseconds kWatch = std::chrono::microseconds(100);
// After a wrong result the self-test runs as soon as the device has nothing to do, and no later
// than this.
constexpr std::chrono::seconds kProveWithin{1};
// Then the device is left alone for so many times as long as the test took.
constexpr int kRestFromProof = 50;

size_t bucket_of(size_t operations) { return size_t(std::bit_width(operations - 1)); }

}  // namespace

Batcher::Batcher(OpenEngine open, Counters &counters, CompletionThreads::HandBack hand_back)
    : Batcher(std::move(open), counters, std::move(hand_back), Limits()) {}

Batcher::Batcher(OpenEngine open, Counters &counters, CompletionThreads::HandBack hand_back,
                 Limits limits)
    : DeviceThread(counters, true),
      open_engine_(std::move(open)),
      limits_(limits),
      completion_threads_(counters, load_, std::move(hand_back), [this] { suspect(); }) {}

Batcher::~Batcher() { stop(); }

void Batcher::stop() {
  end();
  completion_threads_.stop();
}

void Batcher::cancel_pending() {
  const std::lock_guard lock(mutex_);
  cancels_pending_ = true;
  completion_threads_.cancel_pending();
  changed_.notify_all();
}

// The CPU has proved a result of the device wrong.
void Batcher::suspect() {
  const std::lock_guard lock(mutex_);
  const Clock::time_point now = Clock::now();
  if (is_suspect_ || now < next_proof_) return;
  is_suspect_ = true;
  suspect_since_ = now;
  changed_.notify_all();
}

bool Batcher::submit(const BatchRequestPointer &request) {
  std::unique_lock lock(mutex_);
  if (!may_work()) return false;
  begin();
  try {
    queue(request);
  } catch (...) {  // want of memory
    take_back(request);
    throw;
  }
  // Nobody else has the request before the lock is open.
  request->submitted = Clock::now();
  const auto taken = std::erase_if(
      request->todo, [&](uint32_t number) { return request->kind_of(number).suits_devices(); });
  request->under_way = uint32_t(taken);
  load_.fetch_add(taken, std::memory_order_relaxed);
  // While it looks at what is under way, it looks again soon: to wake it for each arrival would
  // cost more than all else here.
  if (wake_at_ == 0 || request->operations() >= wake_at_ ||
      (!order_.empty() && queues_.at(order_.front()).size() >= wake_at_))
    changed_.notify_one();
  return true;
}

void Batcher::queue(const BatchRequestPointer &request) {
  BatchKind last;
  std::deque<BatchItem> *queue = nullptr;  // of that kind
  for (auto at = request->todo.rbegin(); at != request->todo.rend(); ++at) {
    const BatchKind kind = request->kind_of(*at);
    if (!kind.suits_devices()) continue;
    if (kind != last) {
      last = kind;
      queue = &queues_[kind];
      if (queue->empty()) order_.push_back(kind);
    }
    queue->push_back({request, *at});
  }
}

// What queue() has queued before it failed.
void Batcher::take_back(const BatchRequestPointer &request) {
  for (auto &[kind, queue] : queues_)
    while (!queue.empty() && queue.back().request == request) queue.pop_back();
  std::erase_if(order_, [&](BatchKind kind) { return queues_.at(kind).empty(); });
}

int64_t Batcher::expected(BatchKind kind, size_t operations, int64_t guess) const {
  const auto found = histories_.find(kind);
  if (found == histories_.end()) return guess;
  // A size not seen yet takes as long as the next larger one, or else the largest.
  const std::array<int64_t, kBuckets> &known = found->second;
  const size_t bucket = std::min(bucket_of(operations), kBuckets - 1);
  for (size_t at = bucket; at < kBuckets; ++at)
    if (known[at] != 0) return known[at];
  for (size_t at = bucket; at-- > 0;)
    if (known[at] != 0) return known[at];
  return guess;
}

std::chrono::nanoseconds Batcher::estimate(BatchKind kind, std::chrono::nanoseconds guess) const {
  const std::lock_guard lock(mutex_);
  const auto queue = queues_.find(kind);
  const size_t before = queue == queues_.end() ? 0 : queue->second.size();
  int64_t wait = 0;
  if (under_way_.size() >= limits_.batches && !under_way_.empty()) {
    const UnderWay &oldest = *under_way_.front();
    const auto since = Clock::now() - oldest.started;
    wait = std::max<int64_t>(
        0, expected(oldest.kind, oldest.items.size(), guess.count()) -
               std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
  }
  return std::chrono::nanoseconds(wait + expected(kind, before + 1, guess.count()));
}

// ---- The batcher's thread --------------------------------------------------

Status Batcher::open() {
  // Otherwise the kernel lets each look come another 50 microseconds late.
  (void)prctl(PR_SET_TIMERSLACK, 1000);
  Result<std::unique_ptr<BatchEngine>> engine = open_engine_();
  if (!engine.ok()) return engine.status();
  engine_ = std::move(*engine);
  return Status();
}

void Batcher::serve(std::unique_lock<std::mutex> &lock) {
  while (!failed_ && (has_work() || !under_way_.empty())) {
    if (cancels_pending_) {
      is_suspect_ = false;
      give_up(lock, process_ends());
      break;
    }
    if (is_time_to_prove()) {
      prove(lock);
      continue;
    }
    const bool has_slot = under_way_.size() < limits_.batches;
    if (has_slot && is_worth_a_batch()) {
      start_next(lock);
      continue;
    }
    // The time comes first: between a look that is in time and a late clock this thread
    // may have slept, and the device have ended.
    const bool overdue = is_overdue();
    if (under_way_.front()->batch->is_done())
      retire_oldest(lock);
    else if (overdue)
      give_up(lock, stuck_status(limit()), true);
    else if (is_lone_about_to_end())
      watch(lock);
    else if (has_slot)
      look_for_arrivals(lock);
    else
      look_later(lock);
  }
}

// The interval for everything under way, which shares the device.
std::chrono::milliseconds Batcher::limit() const {
  double shares = 0;
  for (const UnderWayPointer &each : under_way_)
    shares += engine_->share_of_limit(each->kind, each->items.size());
  return std::chrono::milliseconds(int64_t(double(limits_.time.count()) * std::max(shares, 1.0)));
}

void Batcher::look_for_arrivals(std::unique_lock<std::mutex> &lock) {
  wake_at_ = order_.empty() ? load() / limits_.batches : worth_of(order_.front());
  changed_.wait_for(lock, kLook);
  wake_at_ = 0;
}

// The interval for a single operation, whose caller a sleep would keep waiting.
bool Batcher::is_lone_about_to_end() const {
  if (under_way_.size() != 1 || !order_.empty()) return false;
  const UnderWay &only = *under_way_.front();
  const int64_t usual = only.items.size() == 1 ? expected(only.kind, 1, 0) : 0;
  if (usual == 0) return false;
  const auto off = Clock::now() - only.started - std::chrono::nanoseconds(usual);
  return std::chrono::abs(off) < kWatch;
}

// Does not sleep, but leaves the lock to arrivals most of the time.
void Batcher::watch(std::unique_lock<std::mutex> &lock) {
  constexpr int kLooks = 10;
  Batch &only = *under_way_.front()->batch;
  lock.unlock();
  for (int look = 0; look < kLooks && !only.is_done(); ++look) {
  }
  lock.lock();
}

// Arrivals do not matter: there is no room for another batch.
void Batcher::look_later(std::unique_lock<std::mutex> &lock) {
  lock.unlock();
  std::this_thread::sleep_for(kLook);
  lock.lock();
}

bool Batcher::is_overdue() const {
  if (under_way_.empty()) return false;
  return Clock::now() - std::max(under_way_.front()->launched, last_end_) >= limit();
}

// Under the lock: whether something waits that should start beside what is under
// way. The callers shall be spread over the batches: were each to start alone as
// it comes, those that come last would wait for the first. What is left of a large
// request waits for no others.
bool Batcher::is_worth_a_batch() const {
  if (order_.empty()) return false;
  if (under_way_.empty()) return true;
  const BatchKind next = order_.front();
  const std::deque<BatchItem> &queue = queues_.at(next);
  return queue.size() >= worth_of(next) ||
         queue.front().request->operations() >= load() / limits_.batches;
}

size_t Batcher::best_batch(BatchKind kind) const {
  try {
    return engine_->best_batch(kind);
  } catch (const std::exception &) {  // want of memory
    return limits_.batch_operations;
  }
}

// So many operations of a kind that wait are worth a batch beside others.
size_t Batcher::worth_of(BatchKind kind) const {
  const size_t full = std::min(limits_.batch_operations, best_batch(kind));
  return std::min(load() / limits_.batches, full);
}

BatchEngine::Started Batcher::start(UnderWay &batch) {
  try {
    return engine_->start(batch.kind, batch.items, batch.results);
  } catch (const std::exception &error) {  // want of memory, which must not end the process
    return Failure::of_memory(error);
  }
}

Failure Batcher::finish(UnderWay &batch) {
  try {
    return batch.batch->finish(batch.results);
  } catch (const std::exception &error) {
    return Failure::of_memory(error);
  }
}

// Under the lock.
bool Batcher::is_time_to_prove() const {
  if (!is_suspect_ || stopping_) return false;
  return (order_.empty() && under_way_.empty()) || Clock::now() - suspect_since_ >= kProveWithin;
}

// A device that gave a wrong result is trusted further if it passes its self-test.
void Batcher::prove(std::unique_lock<std::mutex> &lock) {
  is_suspect_ = false;
  lock.unlock();
  const Clock::time_point begin = Clock::now();
  Failure failure;
  try {
    failure = engine_->prove();
  } catch (const std::exception &error) {
    failure = Failure::of_memory(error);
  }
  const Clock::time_point end = Clock::now();
  lock.lock();
  last_end_ = end;  // nothing of what is under way was looked at meanwhile
  next_proof_ = end + kRestFromProof * (end - begin);
  if (failure.is_of(FailureOf::kDevice)) give_up(lock, failure.status(), engine_->is_stuck());
}

// As a list, from which it goes to under_way_ without more memory. Empty if there is none.
std::list<Batcher::UnderWayPointer> Batcher::make_batch(BatchKind kind, size_t count) {
  try {
    auto batch = std::make_shared<UnderWay>();
    batch->kind = kind;
    batch->items.reserve(count);
    batch->results = ItemResults(count);
    histories_.try_emplace(kind);
    return {std::move(batch)};
  } catch (const std::exception &) {
    return {};
  }
}

void Batcher::hand_back(std::deque<BatchItem> &queue, size_t count, const Failure &why) {
  for (; count > 0; --count) {
    completion_threads_.give_back(queue.front(), why);
    queue.pop_front();
  }
}

void Batcher::start_next(std::unique_lock<std::mutex> &lock) {
  const BatchKind kind = order_.front();
  std::deque<BatchItem> &queue = queues_.at(kind);
  const size_t count = std::min({queue.size(), limits_.batch_operations, best_batch(kind)});
  std::list<UnderWayPointer> made = make_batch(kind, count);
  if (made.empty()) {
    hand_back(queue, count, Failure::of_memory(Status(LC_ERROR_MEMORY, "out of memory")));
  } else {
    made.front()->items.assign(std::make_move_iterator(queue.begin()),
                               std::make_move_iterator(queue.begin() + std::ptrdiff_t(count)));
    queue.erase(queue.begin(), queue.begin() + std::ptrdiff_t(count));
  }
  // What is left waits behind the other kinds.
  order_.splice(order_.end(), order_, order_.begin());
  if (queue.empty()) order_.pop_back();
  if (made.empty()) return;
  UnderWayPointer batch = made.front();
  lock.unlock();

  batch->started = Clock::now();
  BatchEngine::Started started = start(*batch);
  batch->launched = Clock::now();
  counters_.launches += engine_->launches() - launches_;
  launches_ = engine_->launches();
  lock.lock();
  if (started.batch != nullptr) {
    batch->batch = std::move(started.batch);
    under_way_.splice(under_way_.end(), made);
    return;
  }
  made.clear();
  batch->failure = started.failure;
  if (started.failure.is_of(FailureOf::kDevice))
    give_up(lock, started.failure.status(), false, std::move(batch));
  else
    completion_threads_.enqueue(std::move(batch));
}

void Batcher::retire_oldest(std::unique_lock<std::mutex> &lock) {
  // Where it is: others may want to know how long it will take.
  UnderWay &oldest = *under_way_.front();
  lock.unlock();
  oldest.failure = finish(oldest);
  oldest.batch.reset();
  const auto now = Clock::now();
  const auto took = now - oldest.started;
  oldest.ended = now;
  lock.lock();
  last_end_ = now;
  UnderWayPointer done = std::move(under_way_.front());
  under_way_.pop_front();
  if (done->failure.ok()) {
    int64_t &known =
        histories_.at(done->kind)[std::min(bucket_of(done->items.size()), kBuckets - 1)];
    const int64_t measured = std::chrono::duration_cast<std::chrono::nanoseconds>(took).count();
    known = known == 0 ? measured : known + (measured - known) / 4;
  }
  if (done->failure.is_of(FailureOf::kDevice)) {
    const Failure why = done->failure;
    return give_up(lock, why.status(), false, std::move(done));
  }
  // Where nothing else is to be done, to wake a thread that wakes the caller would only take time.
  std::unique_lock<std::mutex> callbacks_lock;
  if (order_.empty() && under_way_.empty())
    callbacks_lock = CompletionThreads::lock_callbacks_of_one(*done);
  if (callbacks_lock.owns_lock()) {
    lock.unlock();
    completion_threads_.complete_now(*done);
    callbacks_lock.unlock();
    done.reset();
    lock.lock();
  } else {
    completion_threads_.enqueue(std::move(done));
  }
}

// The device works no more, which is known before anybody else has done what it has
// not. What waits and what is under way is handed back, and before that `undone`, if any.
void Batcher::give_up(std::unique_lock<std::mutex> &lock, const Status &status, bool is_stuck,
                      UnderWayPointer undone) {
  const Clock::time_point end = is_stuck ? Clock::now() : Clock::now() + limit();
  note_failure(status);
  if (undone != nullptr) completion_threads_.enqueue(std::move(undone));
  while (!under_way_.empty()) {
    UnderWayPointer lost = std::move(under_way_.front());
    under_way_.pop_front();
    lock.unlock();
    // What another stream of the device has ended is as good as before.
    while (!lost->batch->is_done() && Clock::now() < end) std::this_thread::sleep_for(kLook);
    if (lost->batch->is_done()) {
      lost->failure = finish(*lost);
      lost->ended = Clock::now();
    } else {
      lost->batch->abandon();
      lost->failure = Failure::of_device(is_stuck ? status : stuck_status(limits_.time));
    }
    lost->batch.reset();
    lock.lock();
    completion_threads_.enqueue(std::move(lost));
  }
  for (auto &[kind, queue] : queues_) hand_back(queue, queue.size(), Failure::of_device(status));
  order_.clear();
}

}  // namespace lanecrypt::runtime
