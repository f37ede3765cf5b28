// SPDX-License-Identifier: Apache-2.0
#include "cipher/executor.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "cipher/shared_work.h"
#include "cpu/cpu_cipher.h"
#include "thread/stuck.h"
#include "verify/sample.h"
#include "verify/self_test.h"

namespace lanecrypt::runtime {

struct Executor::Call {
  const Work *work;  // nullptr: only make the device ready
  Status status;
  bool done = false;
};

namespace {

// How long until it looks again at work that others are to take, or whose end others notice.
constexpr std::chrono::milliseconds kLookAgain{2};
// Then twice as long, and so on, so many times. A device in use is looked at, and its users need
// not wake its thread, for twice as long as the last of these times.
constexpr unsigned kMostLooks = 5;
constexpr std::chrono::milliseconds kSeldom = kLookAgain * (1 << kMostLooks);

PipelineOptions complete(PipelineOptions options, const device::Properties &properties) {
  if (options.time_limit.count() == 0) options.time_limit = default_time_limit(properties);
  return options;
}

// A part of shared work is over when there is no more work for it to take.
bool is_over(const Request &request) {
  if (request.chunks_under_way != 0) return false;
  if (!request.failure.ok()) return true;
  return request.todo.empty() && (request.shared == nullptr || request.shared->has_nothing_left());
}

}  // namespace

Executor::Executor(device::Found found, const PipelineOptions &options, const PinnedMemory &pinned,
                   CopyThreads &copy_threads, HandBack hand_back)
    : found_(std::move(found)),
      options_(complete(options, found_.properties)),
      pinned_(pinned),
      copy_threads_(copy_threads),
      hand_back_(std::move(hand_back)) {
  if (!found_.properties.unusable.empty())
    (void)set_unusable(LC_DEVICE_UNUSABLE, Status(LC_ERROR_NO_DEVICE, found_.properties.unusable));
}

Executor::~Executor() { stop(); }

void Executor::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
    wake_event_.set();
  }
  thread_.join();
}

void Executor::cancel_pending() {
  std::lock_guard lock(mutex_);
  cancels_pending_ = true;
  changed_.notify_all();
  wake_event_.set();
}

// As reason() says it.
Status Executor::why_lost(lc_status code) const noexcept {
  std::lock_guard lock(mutex_);
  return status_of(code, status_.text().c_str());
}

std::string Executor::reason() const {
  std::lock_guard lock(mutex_);
  return status_.text();
}

bool Executor::submit(const RequestPointer &request) {
  std::lock_guard lock(mutex_);
  if (stopping_) return false;
  begin();
  arrived_.push_back(request);
  load_bytes_ += request->load_bytes;
  changed_.notify_all();
  wake_event_.set();
  return true;
}

Status Executor::call(const Work &work) {
  Call call = {.work = &work, .status = {}, .done = false};
  std::unique_lock lock(mutex_);
  if (stopping_) return process_ends();
  if (thread_.is_this()) {
    // In the callback of a completion, while it has the use of the device.
    if (!status_.ok() || device_ == nullptr) return status_.ok() ? process_ends() : status_;
    lock.unlock();
    return work(*device_, *memory_);
  }
  begin();
  calls_.push_back(&call);
  changed_.notify_all();
  wake_event_.set();
  changed_.wait(lock, [&] { return call.done; });
  return call.status;
}

Status Executor::make_ready() {
  const Work nothing = [](device::Device &, DeviceMemory &) { return Status(); };
  return call(nothing);
}

bool Executor::offers(const CipherKind &kind) const {
  if (!kernels_are_known_) return !kind.info().is_cpu_only;
  // What the CPU cannot do nobody can look at.
  return has_kernels(open_properties_, form_, kind) && cpu::has_cipher(kind);
}

Status Executor::does_not_offer(const CipherKind &kind) const {
  return Status(LC_ERROR_UNSUPPORTED, found_.properties.id + " does no " + kind.name());
}

Status Executor::set_unusable(lc_device_state state, Status status) noexcept {
  try {
    status = device::with_device_id(found_.properties, status);
  } catch (const std::exception &) {  // for lack of memory: it stays without the device's id
  }
  ++counters_.failures;
  std::lock_guard lock(mutex_);
  status_ = status;
  state_ = state;
  return status;
}

void Executor::mark_untrusted(const Status &why) {
  gave_wrong_output_ = true;
  if (state_ != LC_DEVICE_LOST) (void)set_unusable(LC_DEVICE_LOST, why);
}

Status Executor::open_device() {
  if (opened_ || state_ != LC_DEVICE_UNTRIED) {
    std::lock_guard lock(mutex_);
    return status_;
  }
  opened_ = true;
  const Status status = guarded([this] { return open_untried_device(); });
  if (!status.ok()) {
    close_device();  // others may want its memory
    return set_unusable(LC_DEVICE_UNUSABLE, status);
  }
  is_proven_[0] = true;
  self_test_launches_ = pipeline_->launches();
  device_->begin_service();
  state_ = LC_DEVICE_READY;
  return Status();
}

Status Executor::open_untried_device() {
  Result<std::unique_ptr<device::Device>> device = found_.open(device::KernelSet::kCiphers);
  if (!device.ok()) return device.status();
  device_ = std::move(*device);
  open_properties_ = device_->properties();
  properties_ = &open_properties_;
  Result<LaunchForm> form = choose_launch_form(open_properties_);
  if (!form.ok()) return form.status();
  form_ = *form;
  kernels_are_known_ = true;
  memory_ = std::make_unique<DeviceMemory>(*device_);
  pipeline_ =
      std::make_unique<Pipeline>(*device_, form_, options_, pinned_, copy_threads_, wake_event_);
  LC_TRY(pipeline_->open());
  for (const BlockCipher *block : {kBlockCiphers, static_cast<const BlockCipher *>(nullptr)})
    LC_TRY(self_test(block));
  return Status();
}

namespace {

// Adds the sums that came back to the tags.
Status take_retired(Retired retired) {
  if (retired.gave_wrong_output) return verify::failed_self_test(retired.status.text());
  if (!retired.status.ok()) return retired.status;
  for (size_t n = 0; n < retired.sums.size(); ++n) {
    const auto &[request, piece] = retired.pieces[n];
    request->aead->add(*request, piece, retired.sums[n]);
  }
  return Status();
}

}  // namespace

Status Executor::self_test(const BlockCipher *block) {
  if (options_.skip_self_test) return Status();
  return guarded([&]() -> Status {
    Result<std::vector<verify::CipherKnownAnswer>> answers =
        verify::ciphers_known_answers(block, open_properties_.api == "host");
    if (!answers.ok()) return answers.status();
    return verify::self_test(*answers, [this](const verify::CipherKnownAnswer &answer) {
      return has_kernels(open_properties_, form_, answer.kind) ? knows(answer) : true;
    });
  });
}

// Asks for it in the way of every job.
Result<bool> Executor::knows(const verify::CipherKnownAnswer &answer) {
  std::vector<uint8_t> output(answer.expected.size(), 0xa5);
  lc_message message = {};
  message.key = answer.key.data();
  message.iv = answer.iv.data();
  message.in = answer.input.data();
  message.out = output.data();
  message.length = answer.input.size();
  std::vector<uint8_t> tag = answer.tag;
  const bool seals = !tag.empty() && answer.kind.direction == LC_ENCRYPT;
  if (seals) tag.assign(tag.size(), 0xa5);
  if (!tag.empty()) {
    message.iv = answer.nonce.data();
    message.aad = answer.aad.data();
    message.aad_length = answer.aad.size();
    message.tag = tag.data();
  }
  lc_cipher_job question = {};
  question.struct_size = sizeof question;
  question.cipher = answer.kind.cipher;
  question.direction = answer.kind.direction;
  question.key_bytes = answer.kind.key_bytes;
  question.device = LC_ANY_DEVICE;
  question.messages = &message;
  question.message_count = 1;
  question.message_size = sizeof message;
  question.data_unit_bytes = answer.data_unit_bytes;
  if (!tag.empty()) {
    question.iv_bytes = static_cast<uint32_t>(answer.nonce.size());
    question.tag_bytes = static_cast<uint32_t>(tag.size());
  }
  Result<CipherJob> job = make_cipher_job(&question);
  if (!job.ok()) return job.status();
  const RequestPointer request = std::make_shared<Request>(std::move(*job), nullptr);
  std::list<RequestPointer> queue = {request};
  while (!queue.empty() || !pipeline_->is_idle()) {
    if (!queue.empty() && pipeline_->has_free_slot(false))
      pipeline_->start(cut_chunk(queue, pipeline_->limits(request->job, answer.input.size())));
    else
      LC_TRY(take_retired(pipeline_->retire()));
  }
  if (request->aead != nullptr) request->end();
  return output == answer.expected && tag == answer.tag && request->failure.ok();
}

void Executor::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] {
      return stopping_ || !arrived_.empty() || !calls_.empty() || is_used_by_callers_;
    });
    if (arrived_.empty() && calls_.empty() && !is_used_by_callers_) break;
    lock.unlock();
    const Status status = cancels_pending_ ? process_ends() : open_device();
    thread_.end_opening();
    lock.lock();
    if (!status.ok()) {
      // This device can do nothing: say so to all who ask.
      for (Call *call : calls_) {
        call->status = status;
        call->done = true;
      }
      calls_.clear();
      changed_.notify_all();
      std::list<RequestPointer> arrived = std::move(arrived_);
      arrived_.clear();
      lock.unlock();
      use_->take_for_device();
      queue_.splice(queue_.end(), arrived);
      end_all(status);
      use_->give();
      lock.lock();
      continue;
    }
    serve(lock);
  }
  lock.unlock();
  thread_.end_opening();
  use_->close();
  end_all(process_ends());  // what a caller put into its stream at the last moment
  close_device();
}

// Runs until nothing waits and nothing is under way.
void Executor::serve(std::unique_lock<std::mutex> &lock) {
  unsigned looks = 0;
  while (true) {
    std::list<RequestPointer> arrived = std::move(arrived_);
    arrived_.clear();
    std::list<Call *> calls = std::move(calls_);
    calls_.clear();
    lock.unlock();

    use_->take_for_device();
    queue_.splice(queue_.end(), arrived);
    for (Call *call : calls) call->status = (*call->work)(*device_, *memory_);
    if (!calls.empty()) {
      std::lock_guard done_lock(mutex_);
      for (Call *call : calls) call->done = true;
      changed_.notify_all();
    }
    end_what_failed();
    bool progress = state_ == LC_DEVICE_LOST || start_next();
    progress = pipeline_->advance() || progress;
    progress = retire_what_is_over() || progress;
    if (progress)
      looks = 0;
    else if (!pipeline_->has_owner())
      wait();
    else if (!queue_.empty())
      rest(kLookAgain);
    else if (is_used_by_callers_)
      look_again(&looks);
    const bool lost = state_ == LC_DEVICE_LOST;
    if (lost || cancels_pending_) end_all(lost ? why_lost(LC_ERROR_DEVICE) : process_ends());
    const bool is_idle = queue_.empty() && pipeline_->is_idle() && !is_used_by_callers_;
    use_->give();

    lock.lock();
    if (lost || (is_idle && arrived_.empty() && calls_.empty())) return;
  }
}

bool Executor::retire_what_is_over() {
  bool any = false;
  for (; pipeline_->has_one_over(); any = true) retire();
  return any;
}

// What a caller failed to launch ends before anyone launches again.
void Executor::end_what_failed() {
  while (pipeline_->has_failed_in_stream()) retire();
}

// Lets others use the device until the event is set.
void Executor::rest(std::chrono::milliseconds most) {
  use_->give();
  (void)wake_event_.wait(most);
  use_->take_for_device();
  end_what_failed();
}

// All that is under way is in streams whose callers see to it that its end is noticed. Where one
// does not, this thread will have looked before long.
void Executor::look_again(unsigned *looks) {
  if (pipeline_->is_idle() && (*looks == kMostLooks || stopping_)) {
    is_used_by_callers_ = false;
    return;
  }
  *looks = std::min(*looks + 1, kMostLooks);
  rest(kLookAgain * (1 << *looks));
}

// Waits until something is over, or something new is here.
void Executor::wait() {
  if (!pipeline_->waits_for_device_alone() || !pipeline_->poll_oldest()) {
    pipeline_->hand_over();
    if (!pipeline_->wait_by_itself()) {
      const std::chrono::milliseconds most = pipeline_->patience();
      // Nobody sets the event for what callers look after.
      rest(pipeline_->has_any_owner() ? std::min(most, queue_.empty() ? kSeldom : kLookAgain)
                                      : most);
      pipeline_->give_up_if_overdue();
    }
  }
  if (pipeline_->is_stuck()) retire();
}

// Whether the first request in the queue has something to do now. If it is a part of
// shared work, it takes more.
bool Executor::find_work() {
  for (size_t n = queue_.size(); n > 0; --n) {
    const RequestPointer request = queue_.front();
    const CipherKind &kind = request->job.kind;
    if (!request->todo.empty() || !offers(kind)) return true;
    SharedWork &work = *request->shared;
    const ChunkLimits limits = pipeline_->limits(request->job, work.waiting_bytes(*request));
    const SharedWork::TakeResult answer = work.take(*request, limits);
    if (answer == SharedWork::TakeResult::kTaken) return true;
    queue_.splice(queue_.end(), queue_, queue_.begin());
    if (answer == SharedWork::TakeResult::kNothingLeft) end_if_over(request);
  }
  return false;
}

// Starts one chunk, if there is one and a slot for it.
bool Executor::start_next() {
  const auto has_slot = [&] {
    return pipeline_->has_free_slot(queue_.front()->job.stream != nullptr);
  };
  if (queue_.empty() || !has_slot() || !find_work() || !has_slot()) return false;
  if (const CipherKind &kind = queue_.front()->job.kind; !offers(kind)) {
    const RequestPointer request = queue_.front();
    queue_.pop_front();
    give_back(request, does_not_offer(kind));
    return true;
  } else if (!is_proven(kind)) {
    prove(kind);
    return true;
  }
  if (queue_.front()->job.memory == LC_MEMORY_DEVICE) {
    const RequestPointer request = queue_.front();
    (void)start_on_device(request);
    if (request->todo.empty()) {
      queue_.pop_front();
      end_if_over(request);
    }
  } else {
    Chunk chunk = cut_chunk(queue_, pipeline_->limits(queue_.front()->job, load_bytes_));
    chunk.is_all = queue_.empty() && pipeline_->is_idle();
    pipeline_->start(std::move(chunk));
  }
  return true;
}

bool Executor::is_proven(const CipherKind &kind) const {
  const BlockCipher *block = kind.info().block;
  return block == nullptr || is_proven_[block - kBlockCiphers];
}

// Block ciphers that most never ask for answer their self-test when the first does. A device
// that gives wrong answers there is trusted with nothing.
void Executor::prove(const CipherKind &kind) {
  const BlockCipher *block = kind.info().block;
  while (!pipeline_->is_idle()) retire();
  if (state_ == LC_DEVICE_LOST) return;
  const uint64_t before = pipeline_->launches();
  const Status status = self_test(block);
  if (status.code() == LC_ERROR_SELF_TEST)
    mark_untrusted(status);
  else if (!status.ok() && state_ != LC_DEVICE_LOST)
    (void)set_unusable(LC_DEVICE_LOST, status);
  self_test_launches_ += pipeline_->launches() - before;
  is_proven_[block - kBlockCiphers] = true;
}

// Starts a chunk of it.
Status Executor::start_on_device(const RequestPointer &request) {
  const uint32_t under_way = request->chunks_under_way;
  Status status;
  const auto refuse = [&](const Status &why) {
    request->chunks_under_way = under_way;
    request->todo.clear();
    request->failure = status = why;
  };
  try {
    Result<DeviceChunk> chunk =
        cut_device_chunk(request, *memory_, pipeline_->max_pieces(request->job.kind), kChunkBytes);
    if (chunk.ok())
      status = pipeline_->start(std::move(*chunk));
    else
      refuse(chunk.status());
  } catch (const std::bad_alloc &) {  // a caller's thread goes on after that
    refuse(out_of_memory());
  }
  if (!status.ok() || request->todo.empty()) request->set_enqueued(status);
  return status;
}

void Executor::retire() { take_back(pipeline_->retire()); }

// Want of memory, which could be told to nobody here, fails the requests that need some.
void Executor::take_back(Retired retired) noexcept {
  counters_.launches = pipeline_->launches() - self_test_launches_;
  const Status &status = retired.status;
  gave_wrong_output_ = gave_wrong_output_ || retired.gave_wrong_output;
  if (status.code() == LC_ERROR_DEVICE || status.code() == LC_ERROR_INTERNAL) {
    if (state_ != LC_DEVICE_LOST) (void)set_unusable(LC_DEVICE_LOST, status);
  } else if (!status.ok()) {
    ++counters_.failures;
  }
  size_t n = 0;
  for (const RequestPointer &request : retired.requests) {
    uint64_t bytes = 0;
    for (; n < retired.pieces.size() && retired.pieces[n].request == request.get(); ++n) {
      const Piece &piece = retired.pieces[n].piece;
      if (!status.ok()) {
        put_back(*request, piece);
        continue;
      }
      if (request->aead != nullptr && !request->job.tags_stay_on_device())
        request->aead->add(*request, piece, retired.sums[n]);
      bytes += request->text_of(piece).length;
    }
    if (status.ok()) count_done(*request, bytes);
  }
  secure::wipe(retired.sums.data(), retired.sums.size() * sizeof(cpu::AeadSum));
  for (const RequestPointer &request : retired.requests) {
    --request->chunks_under_way;
    if (!status.ok()) {
      queue_.remove(request);
      if (request->leaves.ok())
        request->leaves = state_ == LC_DEVICE_LOST ? why_lost(status.code()) : status;
    }
    // Its other chunks may still be under way. The last one hands the request back.
    if (request->leaves.ok() || !request->failure.ok())
      end_if_over(request);
    else if (request->chunks_under_way == 0)
      give_back(request, request->leaves);
  }
}

// Without memory for the piece nobody can do it, and the request fails.
void Executor::put_back(Request &request, const Piece &piece) noexcept {
  try {
    request.put_back(piece);
  } catch (const std::exception &) {
    if (request.failure.ok()) request.failure = out_of_memory();
  }
}

void Executor::count_done(Request &request, uint64_t bytes) {
  if (!request.on_device_counted) {
    request.on_device_counted = true;
    ++counters_.jobs;
  }
  counters_.bytes += bytes;
  request.result.device_bytes += bytes;
}

void Executor::end_if_over(const RequestPointer &request) {
  const bool over = is_over(*request);
  if (over) {
    if (request->chain != nullptr) pipeline_->wipe(*request->chain);
    request->chain.reset();
    load_bytes_ -= request->load_bytes;
  }
  if (request->shared != nullptr) {
    if (over) queue_.remove(request);
    return request->shared->report(*request, over);
  }
  if (!over) return;
  request->settle();
  if (request->aead != nullptr && request->aead->was_misled())
    mark_untrusted(verify::wrong_output(request->job.kind));
  request->end();
}

void Executor::give_back(const RequestPointer &request, const Status &status) {
  const Status why = status;
  request->leaves = Status();
  if (request->chain != nullptr) pipeline_->wipe(*request->chain);
  // To free a stuck device's memory would wait for it.
  if (pipeline_ != nullptr && pipeline_->is_stuck()) keep_for_ever(std::move(request->chain));
  request->leave_device();
  request->broken_from = UINT64_MAX;
  try {
    // Do not trust what it made before, either.
    if (gave_wrong_output_) request->start_over();
  } catch (const std::exception &) {  // want of memory
    request->failure = out_of_memory();
    return end_if_over(request);
  }
  load_bytes_ -= request->load_bytes;
  hand_back_(request, why);
}

// What is under way is waited for, and what is not begun is given back.
void Executor::end_all(const Status &status) {
  while (pipeline_ != nullptr && !pipeline_->is_idle()) retire();
  while (!queue_.empty()) {
    const RequestPointer request = queue_.front();
    queue_.pop_front();
    give_back(request, status);
  }
  is_used_by_callers_ = false;
}

void Executor::close_device() {
  if (pipeline_ != nullptr) pipeline_->await_copies();
  if (pipeline_ != nullptr && pipeline_->is_stuck()) {
    for (std::unique_ptr<GraphJob> &job : graph_jobs_) keep_for_ever(std::move(job));
    keep_for_ever(std::move(pipeline_));
    keep_for_ever(std::move(memory_));
    keep_for_ever(std::move(device_));
  }
  graph_jobs_.clear();
  pipeline_.reset();
  memory_.reset();
  device_.reset();
}

}  // namespace lanecrypt::runtime
