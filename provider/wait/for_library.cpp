// Waits for the library's operations, in a thread or in an ASYNC job.
//
// SPDX-License-Identifier: Apache-2.0
#include "provider/wait/for_library.h"

#include <openssl/async.h>
#include <sys/eventfd.h>

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>

#include "process/forks.h"
#include "provider/dispatch.h"
#include "provider/wait/jobs.h"
#include "secure/key_memory.h"
#include "service/client/descriptor.h"

namespace lanecrypt::provider {
namespace {

class Waiter;

// PausedOperation is one operation of an ASYNC job. The job and the library share it, and the last
// owner frees it.
struct PausedOperation {
  std::shared_ptr<Waiter> waiter;
  lc_ticket *ticket = nullptr;
  std::atomic<bool> done{false};
  const size_t in_bytes, out_bytes;
  // The input and the output, in key memory because the output may be decrypted text.
  secure::KeyMemory memory;

  PausedOperation(std::span<const uint8_t> input, size_t output_bytes)
      : in_bytes(input.size()), out_bytes(output_bytes), memory(in_bytes + out_bytes) {
    if (is_ready()) std::memcpy(memory.data(), input.data(), in_bytes);
  }
  ~PausedOperation() { lc_ticket_free(ticket); }
  bool is_ready() const { return memory.ok(in_bytes + out_bytes); }
  uint8_t *in() { return memory.data(); }
  uint8_t *out() { return memory.data() + in_bytes; }
};
using PausedPointer = std::shared_ptr<PausedOperation>;

// Waiter wakes the ASYNC job of one wait context, for all its operations one after another. The
// wait context shares it, and may be freed first.
//
// The application's callback is called without the lock, because it may wait for a thread that
// resumes this job. So the job may continue before the callback has returned. The wait context is
// not freed before that, because memory that the callback uses may be freed with it.
//
// A child of fork() inherits wait contexts, and may resume their jobs or free them. No operation
// completes there, its memory is empty, and the lock may be locked for ever. So a child does not
// touch its parent's waiters.
class Waiter {
 public:
  // of() returns the waiter of this process. It creates one if there is none, or if the program has
  // closed its descriptor. It returns nullptr if no descriptor can be created.
  static std::shared_ptr<Waiter> of(ASYNC_WAIT_CTX *context);

  bool is_of_this_process() const { return born_in_ == process::forks(); }

  // expect() is called before the job pauses. The job's reference to the operation is kept here,
  // and not on the job's stack.
  void expect(const PausedPointer &operation) {
    const std::lock_guard lock(mutex_);
    paused_ = operation;
  }
  // forget() is called when the job continues. It drops that reference and resets the descriptor.
  void forget() {
    PausedPointer over;
    const std::lock_guard lock(mutex_);
    over.swap(paused_);
    eventfd_t count;
    if (descriptor_.is_ours()) (void)eventfd_read(descriptor_.get(), &count);
  }
  // finish() marks the operation as done and wakes its job, by the callback if there is one, else
  // by the descriptor. A thread of the library calls it.
  void finish(PausedOperation &operation) {
    std::unique_lock lock(mutex_);
    operation.done.store(true, std::memory_order_release);
    changed_.notify_all();
    if (context_is_gone_) return;
    if (callback_ == nullptr) {
      if (descriptor_.is_ours()) (void)eventfd_write(descriptor_.get(), 1);
      return;
    }
    const ASYNC_callback_fn callback = callback_;
    void *const argument = argument_;
    ++calls_;
    lock.unlock();
    called_back = this;
    callback(argument);
    called_back = nullptr;
    lock.lock();
    --calls_;
    changed_.notify_all();
  }
  void block_until_done(const PausedOperation &operation) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return operation.done.load(std::memory_order_acquire); });
  }

 private:
  // The address of kKey identifies our entry in a wait context.
  static const char kKey;

  static void let_go(ASYNC_WAIT_CTX *, const void *, OSSL_ASYNC_FD, void *share) {
    std::unique_ptr<std::shared_ptr<Waiter>> waiter(static_cast<std::shared_ptr<Waiter> *>(share));
    Waiter &mine = **waiter;
    if (!mine.is_of_this_process()) {
      mine.descriptor_.close();
      // It is leaked, because what it holds belongs to the parent's threads.
      (void)waiter.release();
      return;
    }
    PausedPointer abandoned;
    std::unique_lock lock(mine.mutex_);
    mine.context_is_gone_ = true;
    abandoned.swap(mine.paused_);
    // A callback may free its own wait context. Then this does not wait for that callback.
    const uint32_t own = called_back == &mine ? 1 : 0;
    mine.changed_.wait(lock, [&] { return mine.calls_ == own; });
  }

  const uint64_t born_in_ = process::forks();
  client::OwnDescriptor descriptor_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::mutex mutex_;
  std::condition_variable changed_;
  ASYNC_callback_fn callback_ = nullptr;
  void *argument_ = nullptr;
  uint32_t calls_ = 0;  // how many calls of the callback are in progress
  bool context_is_gone_ = false;
  PausedPointer paused_;

  // The waiter whose callback runs on this thread.
  static thread_local const Waiter *called_back;
};

thread_local const Waiter *Waiter::called_back = nullptr;

const char Waiter::kKey = 0;

std::shared_ptr<Waiter> Waiter::of(ASYNC_WAIT_CTX *context) {
  std::shared_ptr<Waiter> waiter;
  OSSL_ASYNC_FD descriptor = -1;
  void *share = nullptr;
  if (ASYNC_WAIT_CTX_get_fd(context, &kKey, &descriptor, &share)) {
    const std::shared_ptr<Waiter> &known = *static_cast<std::shared_ptr<Waiter> *>(share);
    if (known->is_of_this_process() && known->descriptor_.is_ours()) {
      waiter = known;
    } else {
      (void)ASYNC_WAIT_CTX_clear_fd(context, &kKey);
      let_go(context, &kKey, descriptor, share);
    }
  }
  if (waiter == nullptr) {
    waiter = std::make_shared<Waiter>();
    if (!waiter->descriptor_.is_there()) return nullptr;
    auto own = std::make_unique<std::shared_ptr<Waiter>>(waiter);
    if (!ASYNC_WAIT_CTX_set_wait_fd(context, &kKey, waiter->descriptor_.get(), own.get(),
                                    called_from_c<let_go>))
      return nullptr;
    (void)own.release();
  }
  const std::lock_guard lock(waiter->mutex_);
  if (!ASYNC_WAIT_CTX_get_callback(context, &waiter->callback_, &waiter->argument_))
    waiter->callback_ = nullptr;
  return waiter;
}

void on_end(void *argument, lc_status) noexcept {
  const std::unique_ptr<PausedPointer> share(static_cast<PausedPointer *>(argument));
  (*share)->waiter->finish(**share);
}

// PausedForLibrary is the operation for which a job pauses.
class PausedForLibrary final : public PausedWork {
 public:
  PausedForLibrary(Waiter &waiter, const PausedOperation &operation)
      : waiter_(waiter), operation_(operation) {}
  bool is_over() override {
    return !waiter_.is_of_this_process() || operation_.done.load(std::memory_order_acquire);
  }
  void block() override {
    if (waiter_.is_of_this_process()) waiter_.block_until_done(operation_);
  }

 private:
  Waiter &waiter_;
  const PausedOperation &operation_;
};

lc_status pause_for(ASYNC_JOB *job, const OneOperation &what, std::span<const uint8_t> in,
                    std::span<uint8_t> out, lc_result *result, std::string *why) {
  PausedPointer operation = std::make_shared<PausedOperation>(in, out.size());
  if (!operation->is_ready()) {
    *why = "no memory for the operation";
    return LC_ERROR_MEMORY;
  }
  operation->waiter = Waiter::of(ASYNC_get_wait_ctx(job));
  if (operation->waiter == nullptr) {
    *why = "no descriptor to wait by";
    return LC_ERROR_MEMORY;
  }
  lc_completion completion{};
  completion.struct_size = sizeof completion;
  completion.callback = on_end;
  auto share = std::make_unique<PausedPointer>(operation);
  completion.argument = share.get();
  completion.eventfd = -1;
  const lc_status status =
      what.submit(operation->in(), operation->out(), &completion, &operation->ticket);
  if (status != LC_OK) {
    *why = lc_last_error();
    return status;
  }
  (void)share.release();
  Waiter &waiter = *operation->waiter;
  PausedOperation &state = *operation;
  waiter.expect(operation);
  // If the job is never resumed, its stack is freed without running destructors.
  operation.reset();
  PausedForLibrary work(waiter, state);
  pause_until_over(work);
  if (!waiter.is_of_this_process()) {
    *why = "the parent of this process has the operation";
    return LC_ERROR_NO_DEVICE;
  }
  // The operation is complete. Its callback may wait for this job, so this job must not wait for
  // the callback.
  const lc_status ended = lc_ticket_result(state.ticket, result);
  if (ended == LC_OK)
    std::memcpy(out.data(), state.out(), out.size());
  else
    *why = lc_last_error();
  const std::shared_ptr<Waiter> keep = state.waiter;
  keep->forget();
  return ended;
}

}  // namespace

lc_status run_and_wait(const OneOperation &operation, std::span<const uint8_t> in,
                       std::span<uint8_t> out, lc_result *result, std::string *why) {
  try {
    if (ASYNC_JOB *job = ASYNC_get_current_job(); job != nullptr)
      return pause_for(job, operation, in, out, result, why);
    const lc_status status = operation.run(in.data(), out.data(), result);
    if (status != LC_OK) *why = lc_last_error();
    return status;
  } catch (const std::bad_alloc &) {
    return LC_ERROR_MEMORY;
  }
}

}  // namespace lanecrypt::provider
