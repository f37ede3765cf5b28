// The functions of the C ABI that run cipher jobs.
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

// start_after_stream() starts the job when everything that is in the stream now is done.
Status start_after_stream(Dispatcher &dispatcher, const std::shared_ptr<Request> &request) {
  if (request->job.is_empty() || !request->failure.ok()) return dispatcher.submit(request);
  Result<Executor *> executor = dispatcher.settle_on_device(*request);
  if (!executor.ok()) return executor.status();
  LC_TRY((*executor)->await_stream(request->job.stream));
  request->job.stream = nullptr;
  return dispatcher.submit(request);
}

// start_in_stream() returns when the whole job is enqueued in the stream.
Status start_in_stream(Dispatcher &dispatcher, const std::shared_ptr<Request> &request,
                       bool has_callback) {
  const bool is_of_thread = request->job.stream == LC_STREAM_PER_THREAD;
  if (request->job.is_empty() || !request->failure.ok()) return dispatcher.submit(request);
  Result<Executor *> executor = dispatcher.settle_on_device(*request);
  if (!executor.ok()) return executor.status();
  // If there is a callback, the device's thread calls it, and therefore does the whole job.
  if (!is_of_thread && !has_callback && (*executor)->start_here(request)) return Status();
  if (is_of_thread) LC_TRY((*executor)->begin_thread_order(*request));
  LC_TRY(dispatcher.submit(request));
  (void)request->wait_enqueued();
  // If the stream cannot wait for the job, the caller does.
  if (is_of_thread && !(*executor)->end_thread_order(*request).ok()) (void)request->wait();
  return Status();
}

// can_take_back() says whether the output can be discarded after the job has run. That is
// impossible if input was overwritten in place, or if a stream or a device has the output.
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

// Nonces that are not ascending are compared by sorting. For fewer messages than this, the
// comparison is faster than starting a device.
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
  // The completion of the request waits for this outcome.
  if (compares_later) (void)request->nonces->outcome(request->job);
  return Status();
}

// start_and_end() starts the job and, if the caller has to drive its completion, polls until it is
// done.
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
