// SPDX-License-Identifier: Apache-2.0
#include "rsa/batcher.h"

#include <algorithm>
#include <bit>

#include "cpu/core_count.h"
#include "cpu/rsa/cpu_rsa.h"
#include "cpu/rsa/rsa_image.h"
#include "process/thread.h"
#include "thread/stuck.h"

namespace lanecrypt::schedule {
namespace {

// How long the next look at what is under way waits; for arrivals too, while there
// is room for another batch.
constexpr std::chrono::microseconds kLook{50};

// Operations whose callers one thread tells in one go.
constexpr size_t kPart = 128;

size_t bucket_of(size_t operations) { return size_t(std::bit_width(operations - 1)); }

size_t teller_count() { return std::clamp<size_t>(cpu::usable_cores() / 4, 1, 4); }

}  // namespace

Batcher::Batcher(OpenEngine open, Counters &counters, HandBack hand_back)
    : Batcher(std::move(open), counters, std::move(hand_back), Limits()) {}

Batcher::Batcher(OpenEngine open, Counters &counters, HandBack hand_back, Limits limits)
    : DeviceThread(counters, true),
      open_engine_(std::move(open)),
      hand_back_(std::move(hand_back)),
      limits_(limits) {}

Batcher::~Batcher() { stop(); }

void Batcher::stop() {
  end();
  {
    const std::lock_guard lock(done_mutex_);
    telling_ = false;
    done_changed_.notify_all();
  }
  for (std::thread &teller : tellers_)
    if (teller.joinable()) teller.join();
}

void Batcher::hurry() {
  const std::lock_guard lock(mutex_);
  hurries_ = true;
  changed_.notify_all();
}

void Batcher::begin_others() {
  while (tellers_.size() < teller_count())
    tellers_.push_back(process::start_thread([this] { tell(); }));
}

bool Batcher::submit(const RsaRequestPointer &request, std::span<const RsaKind> kinds) {
  if (!may_work()) return false;
  // On the caller's thread, which need not wait long: of many keys it would.
  const RsaJob &job = request->job;
  if (job.operation == LC_RSA_PRIVATE && job.keys.size() == 1 && kinds.front() != 0)
    cpu::make_rsa_base_ahead(*job.keys.front());
  std::unique_lock lock(mutex_);
  if (!may_work()) return false;
  begin();
  const lc_rsa_operation operation = job.operation;
  std::deque<uint32_t> left;
  RsaKind kind = 0;
  std::deque<Waiting> *queue = nullptr;  // of that kind
  for (const uint32_t message : request->todo) {
    if (kinds[message] == 0) {
      left.push_back(message);
      continue;
    }
    if (kinds[message] != kind) {
      kind = kinds[message];
      queue = &queues_[Class{operation, kind}];
      if (queue->empty()) order_.push_back(Class{operation, kind});
    }
    queue->push_back({request, message});
  }
  // Nobody else has the request before the lock is open.
  request->under_way = uint32_t(request->todo.size() - left.size());
  load_.fetch_add(request->under_way, std::memory_order_relaxed);
  request->todo = std::move(left);
  changed_.notify_one();
  return true;
}

int64_t Batcher::expected(const Class &what, size_t operations, int64_t guess) const {
  const auto found = histories_.find(what);
  if (found == histories_.end()) return guess;
  // Of a size not seen yet: as long as the next larger one, else the largest.
  const std::array<int64_t, kBuckets> &known = found->second;
  const size_t bucket = std::min(bucket_of(operations), kBuckets - 1);
  for (size_t at = bucket; at < kBuckets; ++at)
    if (known[at] != 0) return known[at];
  for (size_t at = bucket; at-- > 0;)
    if (known[at] != 0) return known[at];
  return guess;
}

std::chrono::nanoseconds Batcher::estimate(lc_rsa_operation operation, RsaKind kind,
                                           std::chrono::nanoseconds guess) const {
  const Class what{operation, kind};
  const std::lock_guard lock(mutex_);
  const auto queue = queues_.find(what);
  const size_t before = queue == queues_.end() ? 0 : queue->second.size();
  int64_t wait = 0;
  if (under_way_.size() >= limits_.batches && !under_way_.empty()) {
    const UnderWay &oldest = *under_way_.front();
    const auto since = Clock::now() - oldest.started;
    wait = std::max<int64_t>(
        0, expected(oldest.what, oldest.items.size(), guess.count()) -
               std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
  }
  return std::chrono::nanoseconds(wait + expected(what, before + 1, guess.count()));
}

// ---- The batcher's thread --------------------------------------------------

Status Batcher::open() {
  Result<std::unique_ptr<RsaEngine>> engine = open_engine_();
  if (!engine.ok()) return engine.status();
  engine_ = std::move(*engine);
  return Status();
}

void Batcher::serve(std::unique_lock<std::mutex> &lock) {
  while (!failed_ && (!order_.empty() || !under_way_.empty())) {
    if (hurries_) {
      give_up(lock, process_ends());
      break;
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
    else if (has_slot)
      changed_.wait_for(lock, kLook);
    else
      look_later(lock);
  }
}

// Of all that is under way, which shares the device.
std::chrono::milliseconds Batcher::limit() const {
  double shares = 0;
  for (const UnderWayPointer &each : under_way_)
    shares += engine_->share_of_limit(each->what.kind, each->items.size());
  return std::chrono::milliseconds(int64_t(double(limits_.time.count()) * std::max(shares, 1.0)));
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
  const Class &next = order_.front();
  const size_t full = std::min(limits_.batch_operations, engine_->best_batch(next.kind));
  const std::deque<Waiting> &queue = queues_.at(next);
  const size_t share = load() / limits_.batches;
  return queue.size() >= std::min(share, full) ||
         queue.front().request->job.messages.size() >= share;
}

void Batcher::start_next(std::unique_lock<std::mutex> &lock) {
  auto batch = std::make_unique<UnderWay>();
  batch->what = order_.front();
  order_.pop_front();
  std::deque<Waiting> &queue = queues_[batch->what];
  const size_t count =
      std::min({queue.size(), limits_.batch_operations, engine_->best_batch(batch->what.kind)});
  batch->from.assign(std::make_move_iterator(queue.begin()),
                     std::make_move_iterator(queue.begin() + std::ptrdiff_t(count)));
  queue.erase(queue.begin(), queue.begin() + std::ptrdiff_t(count));
  // What is left waits behind the other kinds.
  if (!queue.empty()) order_.push_back(batch->what);
  lock.unlock();

  batch->right.assign(count, 1);
  batch->items.reserve(count);
  for (const Waiting &one : batch->from) {
    const RsaJob &job = one.request->job;
    const RsaMessage &message = job.messages[one.message];
    batch->items.push_back({&job.key_of(message), message.in, message.out});
  }
  batch->started = Clock::now();
  Result<std::unique_ptr<RsaBatch>> started = engine_->start(batch->what.operation, batch->items);
  batch->launched = Clock::now();
  counters_.launches += engine_->launches() - launches_;
  launches_ = engine_->launches();
  lock.lock();
  if (started.ok()) {
    batch->batch = std::move(*started);
    under_way_.push_back(std::move(batch));
    return;
  }
  const Status status = started.status();
  batch->status = status;
  // Want of memory passes; all else does not.
  if (status.code() == LC_ERROR_MEMORY)
    pass_on(std::move(batch));
  else
    give_up(lock, status, false, std::move(batch));
}

void Batcher::retire_oldest(std::unique_lock<std::mutex> &lock) {
  // Where it is: others may want to know how long it will take.
  UnderWay &oldest = *under_way_.front();
  lock.unlock();
  oldest.status = oldest.batch->finish(oldest.right);
  oldest.batch.reset();
  const auto now = Clock::now();
  const auto took = now - oldest.started;
  lock.lock();
  last_end_ = now;
  UnderWayPointer done = std::move(under_way_.front());
  under_way_.pop_front();
  if (done->status.ok()) {
    int64_t &known = histories_[done->what][std::min(bucket_of(done->items.size()), kBuckets - 1)];
    const int64_t measured = std::chrono::duration_cast<std::chrono::nanoseconds>(took).count();
    known = known == 0 ? measured : known + (measured - known) / 4;
  }
  if (const Status status = done->status; status.ok())
    pass_on(std::move(done));
  else
    give_up(lock, status, false, std::move(done));
}

// The device does RSA no more, which is known before anybody else has done what it has
// not. What waits and what is under way is handed back, and before that `undone`, if any.
void Batcher::give_up(std::unique_lock<std::mutex> &lock, const Status &status, bool is_stuck,
                      UnderWayPointer undone) {
  const Clock::time_point end = is_stuck ? Clock::now() : Clock::now() + limit();
  note_failure(status);
  if (undone != nullptr) pass_on(std::move(undone));
  while (!under_way_.empty()) {
    UnderWayPointer lost = std::move(under_way_.front());
    under_way_.pop_front();
    lock.unlock();
    // What another stream of the device has ended is as good as before.
    while (!lost->batch->is_done() && Clock::now() < end) std::this_thread::sleep_for(kLook);
    if (lost->batch->is_done()) {
      lost->status = lost->batch->finish(lost->right);
    } else {
      lost->batch->abandon();
      lost->status = is_stuck ? status : stuck_status(limits_.time);
    }
    lost->batch.reset();
    lock.lock();
    pass_on(std::move(lost));
  }
  for (auto &[what, queue] : queues_) {
    if (queue.empty()) continue;
    auto lost = std::make_unique<UnderWay>();
    lost->what = what;
    lost->from.assign(std::make_move_iterator(queue.begin()), std::make_move_iterator(queue.end()));
    lost->status = status;
    queue.clear();
    pass_on(std::move(lost));
  }
  order_.clear();
}

void Batcher::pass_on(UnderWayPointer batch) {
  const std::shared_ptr<const UnderWay> over = std::move(batch);
  const std::lock_guard lock(done_mutex_);
  for (size_t begin = 0; begin < over->from.size(); begin += kPart) {
    done_.push_back({over, begin, std::min(begin + kPart, over->from.size())});
    done_changed_.notify_one();
  }
}

// ---- The tellers -----------------------------------------------------------

void Batcher::tell() {
  std::unique_lock lock(done_mutex_);
  while (true) {
    done_changed_.wait(lock, [&] { return !telling_ || !done_.empty(); });
    if (done_.empty()) return;
    {
      const Part part = std::move(done_.front());
      done_.pop_front();
      lock.unlock();
      tell(*part.batch, part.begin, part.end);
    }
    lock.lock();
  }
}

void Batcher::tell(const UnderWay &batch, size_t begin, size_t end) {
  const auto is_right = [&](size_t n) {
    return batch.status.ok() && (batch.right.empty() || batch.right[n] != 0);
  };
  while (begin < end) {
    const RsaRequestPointer &request = batch.from[begin].request;
    size_t same = begin;
    while (same < end && is_right(same) && batch.from[same].request == request) ++same;
    if (same > begin) {
      end_right({&batch.from[begin], same - begin});
      begin = same;
    } else {
      end_undone(batch.from[begin++], batch.status);
    }
  }
}

// Of a large request, all at once.
void Batcher::end_right(std::span<const Waiting> of_one_request) {
  const RsaRequestPointer &pointer = of_one_request.front().request;
  RsaRequest &request = *pointer;
  uint64_t bytes = 0;
  for (const Waiting &one : of_one_request)
    bytes += request.job.key_of(request.job.messages[one.message]).modulus_bytes;
  const auto count = static_cast<uint32_t>(of_one_request.size());
  counters_.operations += count;
  counters_.bytes += bytes;
  load_.fetch_sub(count, std::memory_order_relaxed);

  std::unique_lock lock(request.mutex);
  if (!request.on_device_counted) ++counters_.jobs;
  request.on_device_counted = true;
  request.result.device_operations += count;
  request.result.device_bytes += bytes;
  request.under_way -= count;
  if (request.under_way > 0) return;
  lock.unlock();
  finish_request(pointer);
}

void Batcher::finish_request(const RsaRequestPointer &request) {
  if (request->todo.empty()) {
    request->end();
  } else {
    const Status why = std::exchange(request->leaves, Status());
    hand_back_(request, why);
  }
}

// Of a batch that failed; or, with an OK status, whose result is wrong.
void Batcher::end_undone(const Waiting &one, const Status &status) {
  RsaRequest &request = *one.request;
  const RsaMessage &message = request.job.messages[one.message];
  const RsaKey &key = request.job.key_of(message);
  Status made = status;
  if (made.ok()) {
    // A wrong result never leaves: the CPU makes it again.
    made = cpu::run_rsa(key, request.job.operation, message.in, message.out);
    ++counters_.failures;
  }
  load_.fetch_sub(1, std::memory_order_relaxed);

  std::unique_lock lock(request.mutex);
  if (!made.ok()) {
    request.todo.push_back(one.message);
    request.leaves = made;
  } else {
    ++request.result.cpu_operations;
    ++request.result.failed_checks;
    request.result.cpu_bytes += key.modulus_bytes;
  }
  if (--request.under_way > 0) return;
  lock.unlock();
  finish_request(one.request);
}

}  // namespace lanecrypt::schedule
