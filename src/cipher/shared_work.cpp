// SPDX-License-Identifier: Apache-2.0
#include "cipher/shared_work.h"

#include <algorithm>
#include <exception>
#include <limits>

#include "cipher/executor.h"
#include "verify/sample.h"

namespace lanecrypt::runtime {
namespace {

// A device of which nothing is known yet has two small chunks under way: one on the bus,
// one in its kernels.
constexpr uint64_t kBlindChunks = 2;
// From so many bytes on a device's rate can be told from the time of its first chunk's
// way there and back.
constexpr uint64_t kTellingBytes = 64 << 20;

double seconds(std::chrono::steady_clock::duration span) {
  return std::chrono::duration<double>(span).count();
}

}  // namespace

RequestPointer SharedWork::add(Executor &executor, uint64_t load_bytes) {
  Member member;
  member.executor = &executor;
  member.known_rate = executor.shared_rate();
  members_.push_back(member);
  const auto number = static_cast<uint32_t>(members_.size() - 1);
  return std::make_shared<Request>(*whole_, shared_from_this(), number, load_bytes);
}

RequestPointer SharedWork::add(Executor &executor, const std::function<bool(const Piece &)> &its) {
  uint64_t bytes = 0;
  for (const Piece &piece : whole_->todo.all())
    if (its(piece)) bytes += whole_->text_of(piece).length;
  const RequestPointer part = add(executor, bytes);
  for (const Piece &piece : whole_->todo.all())
    if (its(piece)) part->todo.push_back(piece);
  std::erase_if(whole_->todo.all(), its);
  begin_work(members_.back(), 0);
  return part;
}

void SharedWork::begin(const RequestPointer &part) {
  try {
    if (!members_[part->member].executor->submit(part)) leave(*part, process_ends());
  } catch (const std::exception &) {  // want of memory or of threads; others do it
    leave(*part, out_of_memory());
  }
}

// Nothing more can be taken from it.
bool SharedWork::is_closed() const {
  return is_concluded_ || must_start_over_ || !whole_->failure.ok() || whole_->todo.empty();
}

bool SharedWork::has_nothing_left() {
  std::lock_guard lock(mutex_);
  return is_closed();
}

uint64_t SharedWork::waiting_bytes(const Request &part) {
  std::lock_guard lock(mutex_);
  if (rate(members_[part.member], Clock::now()) == 0) return 0;
  return left_bytes_ / members_.size();
}

// Bytes a second; 0: not known yet.
double SharedWork::rate(const Member &member, Clock::time_point now) const {
  if (member.done_bytes == 0) return member.known_rate;
  const Clock::duration busy = member.busy + (member.has_work ? now - member.begun : now - now);
  return static_cast<double>(member.done_bytes) / std::max(seconds(busy), 1e-6);
}

// False if the others will have done all that is left before this device would have done
// `bytes` of it.
bool SharedWork::is_worth_it(const Member &member, uint64_t bytes, Clock::time_point now) const {
  const double its_rate = rate(member, now);
  if (its_rate == 0) return member.taken_bytes == 0 || member.taken_bytes < kBlindChunks * bytes;
  double rates = 0, soonest = std::numeric_limits<double>::infinity();
  uint64_t taken_bytes = 0;
  for (const Member &other : members_) {
    const double other_rate = rate(other, now);
    if (&other == &member || !other.is_here || other_rate == 0) continue;
    double alone = static_cast<double>(other.taken_bytes + bytes) / other_rate;
    // A device that was silent for long may be silent for as long again.
    alone = std::max(alone, seconds(now - other.last_heard));
    soonest = std::min(soonest, alone);
    rates += other_rate;
    taken_bytes += other.taken_bytes;
  }
  if (rates == 0) return true;
  const double others = std::max(soonest, static_cast<double>(taken_bytes + left_bytes_) / rates);
  return static_cast<double>(member.taken_bytes + bytes) / its_rate <= others;
}

void SharedWork::begin_work(Member &member, uint64_t bytes) {
  member.taken_bytes += bytes;
  if (member.has_work) return;
  member.has_work = true;
  member.begun = Clock::now();
}

void SharedWork::end_work(Member &member) {
  if (!member.has_work) return;
  member.has_work = false;
  member.taken_bytes = 0;
  member.busy += Clock::now() - member.begun;
}

SharedWork::TakeResult SharedWork::take(Request &part, const ChunkLimits &limits) {
  std::lock_guard lock(mutex_);
  Member &member = members_[part.member];
  if (is_closed()) return TakeResult::kNothingLeft;
  member.last_heard = Clock::now();
  ChunkLimits most = limits;
  most.bytes = share_bytes(*whole_, limits, members_.size());
  if (!is_worth_it(member, std::min(most.bytes, left_bytes_), Clock::now()))
    return TakeResult::kLater;
  const uint64_t bytes = take_share(*whole_, most, &part.todo);
  if (part.todo.empty()) return TakeResult::kLater;
  left_bytes_ -= bytes;
  begin_work(member, bytes);
  return TakeResult::kTaken;
}

void SharedWork::add_result(Request &part) {
  lc_result &all = whole_->result;
  const lc_result &its = part.result;
  all.device_bytes += its.device_bytes;
  all.upload_ns += its.upload_ns;
  all.kernel_ns += its.kernel_ns;
  all.download_ns += its.download_ns;
  Member &member = members_[part.member];
  member.taken_bytes -= std::min(member.taken_bytes, its.device_bytes);
  member.done_bytes += its.device_bytes;
  member.last_heard = Clock::now();
  part.result = {};
}

void SharedWork::report(Request &part, bool is_over) {
  {
    std::lock_guard lock(mutex_);
    if (is_concluded_) return;  // it came too late for any of the work
    Member &member = members_[part.member];
    add_result(part);
    if (part.chunks_under_way == 0 && part.todo.empty()) end_work(member);
    if (is_over) {
      member.is_here = false;
      if (member.done_bytes >= kTellingBytes && whole_->job.memory == LC_MEMORY_HOST)
        member.executor->set_shared_rate(rate(member, Clock::now()));
      if (!part.keystream.empty())
        secure::wipe(part.keystream.data(), part.keystream.size() * sizeof(Iv));
    }
    if (whole_->failure.ok()) whole_->failure = part.failure;
  }
  conclude_if_over();
}

void SharedWork::leave(Request &part, const Status &why) {
  {
    std::lock_guard lock(mutex_);
    if (is_concluded_) return;
    Member &member = members_[part.member];
    add_result(part);
    end_work(member);
    member.is_here = false;
    why_ = why;
    must_start_over_ = must_start_over_ || part.must_start_over;
    try {
      whole_->tried.insert(whole_->tried.end(), part.tried.begin(), part.tried.end());
      // No other device can reach a device's memory.
      if (whole_->job.reads_device() && whole_->failure.ok()) whole_->failure = why;
      if (!whole_->job.reads_device()) {
        left_bytes_ += part.text_left();
        whole_->todo.push_front_all(part.todo.all());
      }
    } catch (const std::exception &) {  // want of memory: nobody knows what is left
      whole_->failure = out_of_memory();
    }
    part.todo.clear();
    if (!part.keystream.empty())
      secure::wipe(part.keystream.data(), part.keystream.size() * sizeof(Iv));
  }
  conclude_if_over();
}

void SharedWork::conclude_if_over() {
  {
    std::lock_guard lock(mutex_);
    const auto has_work = [](const Member &member) { return member.has_work; };
    const auto is_here = [](const Member &member) { return member.is_here; };
    if (is_concluded_ || std::any_of(members_.begin(), members_.end(), has_work)) return;
    if (!is_closed() && std::any_of(members_.begin(), members_.end(), is_here)) return;
    is_concluded_ = true;
  }
  conclude();
}

// No device has any of it, or will have.
void SharedWork::conclude() {
  try {
    if (must_start_over_ && whole_->failure.ok()) whole_->start_over();
  } catch (const std::exception &) {  // want of memory
    whole_->failure = out_of_memory();
  }
  if (whole_->failure.ok() && !whole_->todo.empty()) return place_again_(whole_, why_);
  whole_->settle();
  // Nobody knows which device it was.
  if (whole_->aead != nullptr && whole_->aead->was_misled())
    for (const Member &member : members_)
      if (member.done_bytes != 0)
        member.executor->mark_untrusted(verify::wrong_output(whole_->job.kind));
  whole_->end();
}

}  // namespace lanecrypt::runtime
