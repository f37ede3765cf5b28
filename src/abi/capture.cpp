// The functions of the C ABI that put cipher jobs into CUDA graphs.
//
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>

#include "abi/boundary.h"
#include "job/cipher/graph_update.h"

using lanecrypt::Result;
using lanecrypt::Status;
using lanecrypt::abi::guarded;
using lanecrypt::abi::report;
using lanecrypt::runtime::Dispatcher;
using lanecrypt::runtime::Executor;
using lanecrypt::runtime::GraphJob;

namespace {

// job_of() returns the address in the handle. It may be invalid, so it is only looked up and never
// dereferenced.
const GraphJob *job_of(const lc_graph_job *captured) {
  return reinterpret_cast<const GraphJob *>(captured);
}

Result<const GraphJob *> capture(lc_context *context, const lc_cipher_job *job,
                                 const lc_graph_update *given) {
  Result<lanecrypt::CipherJob> checked = lanecrypt::make_cipher_job(job, nullptr, true);
  if (!checked.ok()) return checked.status();
  Result<lanecrypt::GraphUpdate> update =
      lanecrypt::read_graph_update(given, *checked, job->direction);
  if (!update.ok()) return update.status();
  const auto request = std::make_shared<lanecrypt::runtime::Request>(std::move(*checked), nullptr);
  Result<Executor *> executor = context->dispatcher().settle_on_device(*request);
  if (!executor.ok()) return executor.status();
  return (*executor)->capture(request, *update);
}

}  // namespace

lc_status lc_capture(lc_context *context, const lc_cipher_job *job, const lc_graph_update *update,
                     lc_graph_job **captured) {
  return guarded([&]() -> lc_status {
    if (context == nullptr || captured == nullptr)
      return report(LC_ERROR_ARGUMENT, "no context, or no place for what is captured");
    if (lanecrypt::runtime::Completion::in_callback())
      return report(LC_ERROR_ARGUMENT, "a completion's callback can capture nothing");
    Result<const GraphJob *> made = capture(context, job, update);
    if (!made.ok()) return report(made.status());
    *captured = reinterpret_cast<lc_graph_job *>(const_cast<GraphJob *>(*made));
    return LC_OK;
  });
}

lc_status lc_graph_job_free(lc_context *context, lc_graph_job *captured) {
  return guarded([&]() -> lc_status {
    if (captured == nullptr) return LC_OK;
    if (context == nullptr) return report(LC_ERROR_ARGUMENT, "no context was given");
    Dispatcher &dispatcher = context->dispatcher();
    for (uint32_t index = 0; index < dispatcher.device_count(); ++index)
      if (Executor *const executor = dispatcher.device(index);
          executor->has_graph_job(job_of(captured)))
        return report(executor->free_graph_job(job_of(captured)));
    return report(LC_ERROR_ARGUMENT, "nothing of this context was captured so");
  });
}
