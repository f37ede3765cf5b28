// The C ABI: arguments checked, errors told, the rest passed on.
//
// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>

#include "abi/context.h"
#include "abi/device_xor.h"
#include "cpu/cpu_rsa.h"
#include "job/rsa_generation.h"
#include "lanecrypt/lanecrypt.h"

using lanecrypt::Result;
using lanecrypt::Status;
using lanecrypt::schedule::Ending;
using lanecrypt::schedule::EndingPointer;
using lanecrypt::schedule::Executor;
using lanecrypt::schedule::Request;
using lanecrypt::schedule::RequestPointer;
using lanecrypt::schedule::RsaRequest;

struct lc_context : lanecrypt::Context {
  using Context::Context;
};

struct lc_ticket {
  EndingPointer request;
};

struct lc_rsa_key {
  lanecrypt::RsaKeyPointer key;
};

namespace {

thread_local std::string last_error;

lc_status tell(const Status &status) {
  if (!status.ok()) last_error = status.text();
  return status.code();
}

lc_status tell(lc_status code, const char *text) { return tell(Status(code, text)); }

// No exception crosses the ABI: all that the inside can throw is want of
// memory or of threads.
template <typename Body>
lc_status guarded(Body body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc &) {
    return tell(LC_ERROR_MEMORY, "out of memory");
  } catch (const std::exception &error) {
    return tell(LC_ERROR_INTERNAL, error.what());
  }
}

// Copies what the caller's version of the struct has room for.
template <typename T>
lc_status give(const T &value, T *to, const char *wrong_size) {
  if (to == nullptr || to->struct_size < sizeof(size_t)) return tell(LC_ERROR_ARGUMENT, wrong_size);
  const size_t room = std::min(to->struct_size, sizeof(T));
  T copy = value;
  copy.struct_size = to->struct_size;
  memcpy(to, &copy, room);
  return LC_OK;
}

// Of an enum that a C program may have set to anything.
template <typename Enum>
unsigned number_of(const Enum &value) {
  unsigned number = 0;
  static_assert(sizeof value == sizeof number);
  memcpy(&number, &value, sizeof number);
  return number;
}

void copy_text(char *to, size_t room, const std::string &text) {
  const size_t length = std::min(room - 1, text.size());
  memcpy(to, text.data(), length);
  to[length] = '\0';
}

Result<Executor *> find_device(lc_context *context, uint32_t index) {
  if (context == nullptr) return Status(LC_ERROR_ARGUMENT, "no context was given");
  Executor *executor = context->dispatcher().device(index);
  if (executor == nullptr)
    return Status(LC_ERROR_ARGUMENT, "there is no device " + std::to_string(index));
  return executor;
}

Status check_completion(const lc_completion *completion) {
  if (completion != nullptr && completion->struct_size < sizeof *completion)
    return Status(LC_ERROR_ARGUMENT, "lc_completion.struct_size is too small");
  return Status();
}

Ending::Callback make_callback(const lc_completion *completion) {
  if (completion == nullptr) return nullptr;
  return [completion = *completion](const Status &status) {
    if (completion.callback != nullptr) completion.callback(completion.argument, status.code());
    if (completion.eventfd >= 0) (void)eventfd_write(completion.eventfd, 1);
  };
}

Status start(lc_context *context, const lc_cipher_job *job, Ending::Callback callback,
             EndingPointer *started) {
  if (context == nullptr) return Status(LC_ERROR_ARGUMENT, "no context was given");
  Result<lanecrypt::CipherJob> checked = lanecrypt::make_cipher_job(job);
  if (!checked.ok()) return checked.status();
  const auto request = std::make_shared<Request>(std::move(*checked), std::move(callback));
  *started = request;
  const bool has_stream = request->job.stream != nullptr;
  LC_TRY(context->dispatcher().submit(request));
  if (has_stream) request->wait_enqueued();
  return Status();
}

const lanecrypt::RsaKeyPointer &key_of(const lc_rsa_key *key) { return key->key; }

Status start(lc_context *context, const lc_rsa_job *job, Ending::Callback callback,
             EndingPointer *started) {
  if (context == nullptr) return Status(LC_ERROR_ARGUMENT, "no context was given");
  Result<lanecrypt::RsaJob> checked = lanecrypt::make_rsa_job(job, key_of);
  if (!checked.ok()) return checked.status();
  const auto request = std::make_shared<RsaRequest>(std::move(*checked), std::move(callback));
  *started = request;
  return context->dispatcher().submit(request);
}

// Before anything is done: what comes later cannot be undone.
Status check_result(const lc_result *result) {
  if (result != nullptr && result->struct_size < sizeof(size_t))
    return Status(LC_ERROR_ARGUMENT, "lc_result.struct_size is too small");
  return Status();
}

lc_status finish(Ending &request, lc_result *result) {
  const Status status = request.wait();
  if (result != nullptr) (void)give(request.result, result, "");
  return tell(status);
}

}  // namespace

const char *lc_version(void) { return LC_VERSION_TEXT; }

const char *lc_last_error(void) { return last_error.c_str(); }

const char *lc_status_text(lc_status status) {
  switch (status) {
    case LC_OK:
      return "done";
    case LC_PENDING:
      return "under way";
    case LC_ERROR_ARGUMENT:
      return "wrong argument";
    case LC_ERROR_UNSUPPORTED:
      return "not supported";
    case LC_ERROR_MEMORY:
      return "out of memory";
    case LC_ERROR_NO_DEVICE:
      return "no usable device";
    case LC_ERROR_DEVICE:
      return "the device failed";
    case LC_ERROR_SELF_TEST:
      return "the device failed its self-test";
    case LC_ERROR_INTERNAL:
      return "internal error";
    case LC_ERROR_TAG:
      return "wrong tag";
    case LC_ERROR_STOPPED:
      return "stopped by the caller";
  }
  return "unknown status";
}

lc_status lc_open(const lc_options *given, lc_context **context) {
  return guarded([&]() -> lc_status {
    if (context == nullptr) return tell(LC_ERROR_ARGUMENT, "no place for the context");
    *context = nullptr;
    // The first version ended before `verify`.
    if (given != nullptr && given->struct_size < offsetof(lc_options, verify))
      return tell(LC_ERROR_ARGUMENT, "lc_options.struct_size is too small");
    lc_options options = {};
    if (given != nullptr) memcpy(&options, given, std::min(given->struct_size, sizeof options));
    lanecrypt::schedule::DispatcherOptions chosen;
    if (options.devices != nullptr) {
      chosen.devices = options.devices;
    } else if (const char *environment = getenv("LANECRYPT_DEVICES"); environment != nullptr) {
      chosen.devices = environment;
    }
    if (const Status status = lanecrypt::schedule::check_device_list(chosen.devices); !status.ok())
      return tell(status);
    if (number_of(options.fallback) > LC_FALLBACK_NONE)
      return tell(LC_ERROR_ARGUMENT, "unknown lc_options.fallback");
    if (number_of(options.verify) > LC_VERIFY_FULL)
      return tell(LC_ERROR_ARGUMENT, "unknown lc_options.verify");
    chosen.fallback = options.fallback;
    chosen.pipeline.verify = options.verify;
    chosen.pipeline.time_limit = std::chrono::milliseconds(options.time_limit_ms);
    if (options.pinned_bytes != 0) chosen.pipeline.pinned_bytes = options.pinned_bytes;
    if (number_of(options.prefer) > LC_PREFER_OFFLOAD)
      return tell(LC_ERROR_ARGUMENT, "unknown lc_options.prefer");
    if (options.prime_pool > lanecrypt::schedule::PrimePool::kMost)
      return tell(LC_ERROR_ARGUMENT, "lc_options.prime_pool is above 65536");
    chosen.prime_pool = options.prime_pool;
    const bool offloads = options.prefer == LC_PREFER_OFFLOAD;
    chosen.pipeline.saves_cpu = offloads;
    *context = new lc_context(
        chosen, offloads ? lanecrypt::tune::Prefer::kOffload : lanecrypt::tune::Prefer::kSpeed);
    return LC_OK;
  });
}

void lc_close(lc_context *context) { delete context; }

lc_status lc_device_count(lc_context *context, uint32_t *count) {
  return guarded([&]() -> lc_status {
    if (context == nullptr || count == nullptr)
      return tell(LC_ERROR_ARGUMENT, "no context, or no place for the count");
    if (const Status &status = context->dispatcher().status(); !status.ok()) return tell(status);
    *count = static_cast<uint32_t>(context->dispatcher().device_count());
    return LC_OK;
  });
}

lc_status lc_device_get(lc_context *context, uint32_t index, lc_device_info *info) {
  return guarded([&]() -> lc_status {
    Result<Executor *> found = find_device(context, index);
    if (!found.ok()) return tell(found.status());
    const Executor &executor = **found;
    const lanecrypt::device::Properties &properties = executor.properties();
    lc_device_info value = {};
    copy_text(value.id, sizeof value.id, properties.id);
    copy_text(value.api, sizeof value.api, properties.api);
    copy_text(value.name, sizeof value.name, properties.name);
    copy_text(value.driver, sizeof value.driver, properties.driver);
    const lanecrypt::schedule::DeviceService rsa = context->dispatcher().rsa_service(index);
    const std::string reason = executor.reason();
    copy_text(value.reason, sizeof value.reason, reason.empty() ? rsa.reason : reason);
    value.memory_bytes = properties.memory_bytes;
    value.compute_units = properties.compute_units;
    value.is_gpu = properties.is_gpu ? 1 : 0;
    value.selected = context->dispatcher().is_selected(index) ? 1 : 0;
    value.state = executor.state();
    value.rsa_state = rsa.state;
    return give(value, info, "lc_device_info.struct_size is too small");
  });
}

lc_status lc_device_test(lc_context *context, uint32_t index) {
  return guarded([&]() -> lc_status {
    Result<Executor *> found = find_device(context, index);
    return tell(found.ok() ? (*found)->make_ready() : found.status());
  });
}

lc_status lc_alloc_pinned(lc_context *context, size_t bytes, void **pointer) {
  return guarded([&]() -> lc_status {
    if (context == nullptr || pointer == nullptr || bytes == 0)
      return tell(LC_ERROR_ARGUMENT, "no context, no bytes, or no place for the pointer");
    Result<void *> memory = context->allocate_pinned(bytes);
    if (!memory.ok()) return tell(memory.status());
    *pointer = *memory;
    return LC_OK;
  });
}

void lc_free_pinned(lc_context *context, void *pointer) {
  (void)guarded([&]() -> lc_status {
    if (context != nullptr && pointer != nullptr) context->free_pinned(pointer);
    return LC_OK;
  });
}

lc_status lc_alloc_device(lc_context *context, uint32_t index, uint64_t bytes, void **pointer) {
  return guarded([&]() -> lc_status {
    if (pointer == nullptr || bytes == 0)
      return tell(LC_ERROR_ARGUMENT, "no bytes, or no place for the pointer");
    Result<Executor *> found = find_device(context, index);
    if (!found.ok()) return tell(found.status());
    return tell((*found)->call([&](auto &, lanecrypt::schedule::DeviceMemory &memory) -> Status {
      Result<uint64_t> address = memory.allocate(bytes);
      if (!address.ok()) return address.status();
      *pointer = reinterpret_cast<void *>(*address);
      context->dispatcher().add_device_memory(index, *pointer, bytes);
      return Status();
    }));
  });
}

lc_status lc_free_device(lc_context *context, uint32_t index, void *pointer) {
  return guarded([&]() -> lc_status {
    if (pointer == nullptr) return LC_OK;
    Result<Executor *> found = find_device(context, index);
    if (!found.ok()) return tell(found.status());
    return tell((*found)->call([&](auto &, lanecrypt::schedule::DeviceMemory &memory) -> Status {
      LC_TRY(memory.free(reinterpret_cast<uint64_t>(pointer)));
      context->dispatcher().remove_device_memory(pointer);
      return Status();
    }));
  });
}

namespace {

// Copies between host and device on the device's thread.
lc_status copy(lc_context *context, uint32_t index, const void *device_pointer, void *to_host,
               const void *from_host, uint64_t bytes) {
  if (device_pointer == nullptr || (to_host == nullptr && from_host == nullptr))
    return tell(LC_ERROR_ARGUMENT, "a pointer is missing");
  if (bytes == 0) return LC_OK;
  Result<Executor *> found = find_device(context, index);
  if (!found.ok()) return tell(found.status());
  return tell((*found)->call([&](lanecrypt::device::Device &device,
                                 lanecrypt::schedule::DeviceMemory &memory) -> Status {
    std::unique_ptr<lanecrypt::device::Buffer> view;
    Result<lanecrypt::schedule::Place> place =
        memory.place_to_copy(reinterpret_cast<uint64_t>(device_pointer), bytes, &view);
    if (!place.ok()) return place.status();
    auto stream = device.make_stream();
    if (!stream.ok()) return stream.status();
    LC_TRY(to_host != nullptr ? (*stream)->download(to_host, *place->buffer, place->offset, bytes)
                              : (*stream)->upload(*place->buffer, place->offset, from_host, bytes));
    return (*stream)->finish();
  }));
}

}  // namespace

lc_status lc_copy_to_device(lc_context *context, uint32_t index, void *device_pointer,
                            const void *host_pointer, uint64_t bytes) {
  return guarded(
      [&] { return copy(context, index, device_pointer, nullptr, host_pointer, bytes); });
}

lc_status lc_copy_from_device(lc_context *context, uint32_t index, void *host_pointer,
                              const void *device_pointer, uint64_t bytes) {
  return guarded(
      [&] { return copy(context, index, device_pointer, host_pointer, nullptr, bytes); });
}

namespace {

// Runs a kernel of fragment shaders, which no job has, over `bytes` at each pointer.
lc_status draw(lc_context *context, uint32_t index, const char *kernel, const char *missing,
               std::initializer_list<const void *> pointers, uint64_t bytes,
               std::initializer_list<uint32_t> numbers) {
  Result<Executor *> found = find_device(context, index);
  if (!found.ok()) return tell(found.status());
  return tell((*found)->call([&](lanecrypt::device::Device &device, auto &) -> Status {
    const std::vector<std::string> &kernels = device.properties().kernels;
    if (std::find(kernels.begin(), kernels.end(), kernel) == kernels.end())
      return {LC_ERROR_UNSUPPORTED, device.properties().id + missing};
    std::vector<std::unique_ptr<lanecrypt::device::Buffer>> views;
    std::vector<lanecrypt::device::Argument> arguments;
    for (const void *pointer : pointers) {
      auto view = device.view(reinterpret_cast<uint64_t>(pointer), bytes);
      if (!view.ok()) return view.status();
      arguments.emplace_back(views.emplace_back(std::move(*view)).get());
    }
    arguments.insert(arguments.end(), numbers.begin(), numbers.end());
    auto stream = device.make_stream();
    if (!stream.ok()) return stream.status();
    LC_TRY((*stream)->launch({kernel, 1, 1, 0, arguments}));
    return (*stream)->finish();
  }));
}

}  // namespace

lc_status lc_device_xor(lc_context *context, uint32_t index, const void *a, const void *b,
                        void *out, uint64_t bytes, uint32_t times) {
  return guarded([&]() -> lc_status {
    if (a == nullptr || b == nullptr || out == nullptr || out == a || out == b)
      return tell(LC_ERROR_ARGUMENT, "a pointer is missing, or out is one of the inputs");
    if (bytes == 0 || bytes % 16 != 0 || bytes / 16 > UINT32_MAX)
      return tell(LC_ERROR_ARGUMENT, "what is XORed is a multiple of 16 bytes below 64 GiB");
    if (times % 2 == 0) return tell(LC_ERROR_ARGUMENT, "XORing is repeated an odd number of times");
    return draw(context, index, "xor_blocks",
                " has no fragment shaders whose XOR could be measured", {a, b, out}, bytes,
                {static_cast<uint32_t>(bytes / 16), times});
  });
}

lc_status lc_device_fragment_places(lc_context *context, uint32_t index, void *out,
                                    uint64_t bytes) {
  return guarded([&]() -> lc_status {
    if (out == nullptr || bytes == 0 || bytes % 16 != 0 || bytes / 16 > UINT32_MAX)
      return tell(LC_ERROR_ARGUMENT, "a fragment writes 16 bytes, and not more than 64 GiB");
    return draw(context, index, "fragment_places", " has no fragments that tell where they run",
                {out}, bytes, {static_cast<uint32_t>(bytes / 16)});
  });
}

namespace {

template <typename Job>
lc_status run(lc_context *context, const Job *job, lc_result *result) {
  return guarded([&]() -> lc_status {
    EndingPointer request;
    if (const Status status = check_result(result); !status.ok()) return tell(status);
    if (const Status status = start(context, job, nullptr, &request); !status.ok())
      return tell(status);
    return finish(*request, result);
  });
}

template <typename Job>
lc_status submit(lc_context *context, const Job *job, const lc_completion *completion,
                 lc_ticket **ticket) {
  return guarded([&]() -> lc_status {
    if (completion == nullptr && ticket == nullptr)
      return tell(LC_ERROR_ARGUMENT, "neither a completion nor a place for the ticket");
    if (const Status status = check_completion(completion); !status.ok()) return tell(status);
    auto made = std::make_unique<lc_ticket>();
    if (const Status status = start(context, job, make_callback(completion), &made->request);
        !status.ok())
      return tell(status);
    if (ticket != nullptr) *ticket = made.release();
    return LC_OK;
  });
}

}  // namespace

lc_status lc_run(lc_context *context, const lc_cipher_job *job, lc_result *result) {
  return run(context, job, result);
}

lc_status lc_submit(lc_context *context, const lc_cipher_job *job, const lc_completion *completion,
                    lc_ticket **ticket) {
  return submit(context, job, completion, ticket);
}

lc_status lc_rsa_key_new(const lc_rsa_parts *parts, lc_rsa_key **key) {
  return guarded([&]() -> lc_status {
    if (key == nullptr) return tell(LC_ERROR_ARGUMENT, "no place for the key");
    *key = nullptr;
    Result<std::shared_ptr<lanecrypt::RsaKey>> copied = lanecrypt::copy_rsa_key(parts);
    if (!copied.ok()) return tell(copied.status());
    if (const Status status = lanecrypt::cpu::prepare(**copied); !status.ok()) return tell(status);
    *key = new lc_rsa_key{*copied};
    return LC_OK;
  });
}

void lc_rsa_key_free(lc_rsa_key *key) { delete key; }

size_t lc_rsa_key_bytes(const lc_rsa_key *key) {
  return key == nullptr ? 0 : key->key->modulus_bytes;
}

lc_status lc_rsa_run(lc_context *context, const lc_rsa_job *job, lc_result *result) {
  return run(context, job, result);
}

lc_status lc_rsa_submit(lc_context *context, const lc_rsa_job *job, const lc_completion *completion,
                        lc_ticket **ticket) {
  return submit(context, job, completion, ticket);
}

int lc_rsa_device_is_sooner(lc_context *context, uint32_t bits, uint32_t in_line) {
  if (context == nullptr) return 0;
  try {
    return context->rsa_choice().is_device_sooner(bits, in_line) ? 1 : 0;
  } catch (...) {  // want of memory or of threads
    return 0;
  }
}

void lc_rsa_ran_on_cpu(lc_context *context, uint32_t bits, uint64_t nanoseconds) {
  if (context == nullptr) return;
  try {
    context->rsa_choice().ran_on_cpu(bits, std::chrono::nanoseconds(nanoseconds));
  } catch (...) {
  }
}

lc_status lc_rsa_generate(lc_context *context, const lc_rsa_generation *generation,
                          lc_result *result) {
  return guarded([&]() -> lc_status {
    if (context == nullptr) return tell(LC_ERROR_ARGUMENT, "no context was given");
    if (const Status status = check_result(result); !status.ok()) return tell(status);
    Result<lanecrypt::RsaGeneration> checked = lanecrypt::make_rsa_generation(generation);
    if (!checked.ok()) return tell(checked.status());
    lc_result made = {};
    const Status status = context->dispatcher().generate(std::move(*checked), &made);
    if (result != nullptr) (void)give(made, result, "");
    return tell(status);
  });
}

int lc_rsa_generation_is_sooner(lc_context *context, uint32_t bits) {
  if (context == nullptr) return 0;
  try {
    return context->generation_is_sooner(bits) ? 1 : 0;
  } catch (...) {  // want of memory or of threads
    return 0;
  }
}

namespace {

lc_tune_point point_of(const lanecrypt::tune::Point &point) {
  lc_tune_point made = {};
  made.struct_size = sizeof made;
  made.cipher = point.kind.cipher;
  made.direction = point.kind.direction;
  made.key_bytes = point.kind.key_bytes;
  made.pinned = point.pinned ? 1 : 0;
  made.streams = point.streams;
  made.bytes = point.bytes;
  made.device_ns = point.device_ns;
  made.device_cpu_ns = point.device_cpu_ns;
  made.cpu_ns = point.cpu_ns;
  return made;
}

}  // namespace

lc_status lc_tune(lc_context *context, uint32_t index, lc_tune_depth depth,
                  int (*on_point)(void *argument, const lc_tune_point *point), void *argument) {
  return guarded([&]() -> lc_status {
    namespace tune = lanecrypt::tune;
    if (context == nullptr) return tell(LC_ERROR_ARGUMENT, "no context was given");
    if (number_of(depth) > LC_TUNE_FULL) return tell(LC_ERROR_ARGUMENT, "unknown depth");
    const auto each = [&](const tune::Point &point) {
      const lc_tune_point told = point_of(point);
      return on_point == nullptr || on_point(argument, &told) == 0;
    };
    if (depth != LC_TUNE_STORED)
      return tell(context
                      ->calibrate(index,
                                  depth == LC_TUNE_FULL ? tune::Depth::kFull : tune::Depth::kQuick,
                                  each)
                      .status());
    Result<tune::Calibration> known = context->known_calibration(index);
    if (!known.ok()) return tell(known.status());
    for (const tune::Point &point : known->points)
      if (!each(point)) return tell(LC_ERROR_STOPPED, "stopped by the caller");
    return LC_OK;
  });
}

lc_choice lc_cipher_choose(lc_context *context, const lc_cipher_question *question) {
  if (context == nullptr || question == nullptr || question->struct_size < sizeof *question)
    return LC_CHOICE_CPU;
  const int cipher = number_of(question->cipher), direction = number_of(question->direction);
  if (cipher < 0 || cipher >= lanecrypt::kModeCount || direction < 0 || direction > LC_DECRYPT)
    return LC_CHOICE_CPU;
  const lanecrypt::Mode &mode = lanecrypt::mode_of(question->cipher);
  if (!mode.takes_key(question->key_bytes)) return LC_CHOICE_CPU;
  try {
    const lc_direction way = mode.is_own_inverse ? LC_ENCRYPT : question->direction;
    const std::optional<bool> answer =
        context->is_for_device({.kind = {question->cipher, way, question->key_bytes},
                                .pinned = question->pinned != 0,
                                .streams = question->streams,
                                .bytes = question->bytes});
    if (!answer) return LC_CHOICE_UNKNOWN;
    return *answer ? LC_CHOICE_DEVICE : LC_CHOICE_CPU;
  } catch (...) {  // want of memory or of threads
    return LC_CHOICE_CPU;
  }
}

lc_status lc_ticket_status(const lc_ticket *ticket) {
  if (ticket == nullptr) return tell(LC_ERROR_ARGUMENT, "no ticket was given");
  Status status;
  return ticket->request->ended(&status) ? tell(status) : LC_PENDING;
}

lc_status lc_ticket_wait(lc_ticket *ticket, lc_result *result) {
  if (ticket == nullptr) return tell(LC_ERROR_ARGUMENT, "no ticket was given");
  return guarded([&]() -> lc_status {
    if (const Status status = check_result(result); !status.ok()) return tell(status);
    return finish(*ticket->request, result);
  });
}

void lc_ticket_free(lc_ticket *ticket) { delete ticket; }

lc_status lc_counters_get(lc_context *context, uint32_t index, lc_counters *counters) {
  return guarded([&]() -> lc_status {
    const lanecrypt::schedule::Counters *source = nullptr;
    if (index == LC_CPU && context != nullptr) {
      source = &context->dispatcher().cpu_counters();
    } else {
      Result<Executor *> found = find_device(context, index);
      if (!found.ok()) return tell(found.status());
      source = &(*found)->counters();
    }
    lc_counters value = {};
    value.jobs = source->jobs;
    value.bytes = source->bytes;
    value.launches = source->launches;
    value.failures = source->failures;
    value.operations = source->operations;
    return give(value, counters, "lc_counters.struct_size is too small");
  });
}
