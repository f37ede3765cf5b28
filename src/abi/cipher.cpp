// Jobs of ciphers.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include "abi/ticket.h"
#include "job/cipher/cipher_job.h"
#include "job/cipher/nonce_check.h"
#include "work/request.h"

using lanecrypt::Result;
using lanecrypt::Status;
using lanecrypt::runtime::Completion;
using lanecrypt::runtime::CompletionPointer;
using lanecrypt::runtime::Dispatcher;
using lanecrypt::runtime::Executor;
using lanecrypt::runtime::Request;

namespace {

// Starts it when all that is in the stream now is done.
Status start_after_stream(Dispatcher &dispatcher, const std::shared_ptr<Request> &request) {
  if (request->job.is_empty() || !request->failure.ok()) return dispatcher.submit(request);
  Result<Executor *> executor = dispatcher.settle_on_device(*request);
  if (!executor.ok()) return executor.status();
  LC_TRY((*executor)->await_stream(request->job.stream));
  request->job.stream = nullptr;
  return dispatcher.submit(request);
}

// Returns when all of it is in the stream.
Status start_in_stream(Dispatcher &dispatcher, const std::shared_ptr<Request> &request,
                       bool has_callback) {
  const bool is_of_thread = request->job.stream == LC_STREAM_PER_THREAD;
  if (request->job.is_empty() || !request->failure.ok()) return dispatcher.submit(request);
  Result<Executor *> executor = dispatcher.settle_on_device(*request);
  if (!executor.ok()) return executor.status();
  // The device's thread calls the callback, and then does all of it.
  if (!is_of_thread && !has_callback && (*executor)->start_here(request)) return Status();
  if (is_of_thread) LC_TRY((*executor)->begin_thread_order(*request));
  LC_TRY(dispatcher.submit(request));
  (void)request->wait_enqueued();
  // Where the stream cannot wait for the job, its caller does.
  if (is_of_thread && !(*executor)->end_thread_order(*request).ok()) (void)request->wait();
  return Status();
}

// Whether what was written can be taken back when the job has run: not the input of a message in
// place, and not output that a stream or a device has.
bool can_take_back(const lanecrypt::CipherJob &job) {
  if (job.memory == LC_MEMORY_DEVICE) return false;
  return std::none_of(job.messages.begin(), job.messages.end(), [](const auto &message) {
    return message.length != 0 && message.in == message.out;
  });
}

Status dispatch(lc_context *context, const std::shared_ptr<Request> &request, bool has_callback) {
  if (request->job.stream != nullptr && request->job.memory == LC_MEMORY_DEVICE_TO_HOST)
    return start_after_stream(context->dispatcher(), request);
  if (request->job.stream != nullptr)
    return start_in_stream(context->dispatcher(), request, has_callback);
  return context->dispatcher().submit(request);
}

// Nonces that do not ascend are compared by a sort. For fewer messages it is over before a device
// has begun.
constexpr size_t kManyNonces = 256;

Status start(lc_context *context, const lc_cipher_job *job, Completion::Callback callback,
             CompletionPointer *started) {
  if (context == nullptr) return Status(LC_ERROR_ARGUMENT, "no context was given");
  const auto run_parts = [context](size_t count, const std::function<void(size_t)> &part) {
    context->dispatcher().workers().share(count, part);
  };
  Result<lanecrypt::CipherJob> checked = lanecrypt::make_cipher_job(job, run_parts);
  if (!checked.ok()) return checked.status();
  const bool compares = lanecrypt::must_compare_nonces(*checked);
  const bool compares_later =
      compares && checked->messages.size() >= kManyNonces && can_take_back(*checked);
  if (compares && !compares_later) LC_TRY(lanecrypt::compare_nonces(*checked));
  const bool has_callback = callback != nullptr;
  const auto request = std::make_shared<Request>(std::move(*checked), std::move(callback));
  *started = request;
  if (compares_later) request->nonces = std::make_unique<lanecrypt::runtime::NonceComparison>();
  LC_TRY(dispatch(context, request, has_callback));
  // The end of the request waits for this.
  if (compares_later) (void)request->nonces->outcome(request->job);
  return Status();
}

// And brings the end about, where that is the caller's to do.
Status start_and_end(lc_context *context, const lc_cipher_job *job, Completion::Callback callback,
                     CompletionPointer *started) {
  LC_TRY(start(context, job, std::move(callback), started));
  if (const Completion &request = **started; request.poll_until_done)
    request.poll_until_done(lanecrypt::runtime::kWhenever);
  return Status();
}

}  // namespace

lc_status lc_run(lc_context *context, const lc_cipher_job *job, lc_result *result) {
  return lanecrypt::abi::run(start_and_end, context, job, result);
}

lc_status lc_submit(lc_context *context, const lc_cipher_job *job, const lc_completion *completion,
                    lc_ticket **ticket) {
  const bool in_stream = job != nullptr && job->struct_size >= offsetof(lc_cipher_job, messages) &&
                         job->stream != nullptr && job->memory == LC_MEMORY_DEVICE;
  return lanecrypt::abi::submit(start, context, job, completion, ticket, in_stream);
}
