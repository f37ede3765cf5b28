// SPDX-License-Identifier: Apache-2.0
#include "context.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <set>
#include <thread>

#include "view.h"

namespace lanecrypt::python {
namespace {

// Below this size lc_cipher_place() would always choose the CPU.
constexpr uint64_t kLeastBytesForDevice = 64 << 10;
constexpr auto kTurn = std::chrono::milliseconds(1);

int fork_count = 0;
// The interpreter is exiting: no thread may enter the library any more.
bool is_ending = false;

// The open contexts. Never freed, because it must outlive every Python object.
std::set<Context *> &open_contexts() {
  static auto *const contexts = new std::set<Context *>;
  return *contexts;
}

// Closes all open contexts while the interpreter still works. A thread that returned from the
// library later could not acquire the GIL again.
void end() {
  is_ending = true;
  while (!open_contexts().empty()) (*open_contexts().begin())->close();
}

}  // namespace

int forks() { return fork_count; }

// The innermost call of this thread.
static thread_local const Context::Inside *innermost = nullptr;

Context::Inside::Inside(Context &context, Purpose purpose)
    : context_(context), born_in_(forks()), outer_(innermost) {
  if (is_ending) raise(PyExc_RuntimeError, "the interpreter is ending");
  if (context.is_freed() || (context.closing_ && purpose != Purpose::kFreeing))
    raise(PyExc_ValueError, "the context is closed");
  if (context.counted_in_ != forks()) {
    context.counted_in_ = forks();
    context.inside_ = 0;
  }
  ++context.inside_;
  innermost = this;
}

Context::Inside::~Inside() {
  innermost = outer_;
  if (born_in_ == context_.counted_in_) --context_.inside_;
}

bool Context::Inside::is_here(const Context &context) {
  for (const Inside *one = innermost; one != nullptr; one = one->outer_)
    if (&one->context_ == &context && one->born_in_ == forks()) return true;
  return false;
}

Context::Context(const ContextOptions &options)
    : threshold_bytes_(options.threshold_bytes), has_service_(options.service != "off") {
  if (is_ending) raise(PyExc_RuntimeError, "the interpreter is ending");
  lc_options given = {};
  given.struct_size = sizeof given;
  given.devices = options.devices ? options.devices->c_str() : nullptr;
  given.fallback = static_cast<lc_fallback>(options.fallback);
  given.verify = static_cast<lc_verify>(options.verify);
  given.prefer = static_cast<lc_prefer>(options.prefer);
  given.pinned_bytes = options.pinned_bytes;
  given.time_limit_ms = options.time_limit_ms;
  given.prime_pool = options.prime_pool;
  given.cores = options.cores;
  given.service = options.service.c_str();
  given.service_owner = options.service_owner ? options.service_owner->c_str() : nullptr;
  if (const lc_status status = lc_open(&given, &context_); status != LC_OK)
    raise({status, lc_last_error()});
  open_contexts().insert(this);
}

Context::~Context() { close(); }

bool Context::is_open() const { return !is_ending && !closing_; }

void Context::close() {
  if (context_ == nullptr) return;
  if (Inside::is_here(*this))
    raise(PyExc_RuntimeError, "a context cannot be closed in a callback of one of its calls");
  closing_ = true;
  if (counted_in_ != forks()) inside_ = 0;
  while (inside_ > 0) {
    const nb::gil_scoped_release released;
    std::this_thread::sleep_for(kTurn);
  }
  if (lent_ > 0 && !is_ending) return;  // take_back() calls close() again
  // Another thread may have closed it in the meantime.
  lc_context *const context = std::exchange(context_, nullptr);
  open_contexts().erase(this);
  if (context == nullptr) return;
  const nb::gil_scoped_release released;
  lc_close(context);
}

void Context::take_back() {
  if (--lent_ == 0 && closing_) close();
}

uint32_t Context::device_count() {
  uint32_t count = 0;
  check(call([&](lc_context *context) { return lc_device_count(context, &count); }));
  return count;
}

lc_device_info Context::device(uint32_t index) {
  lc_device_info info = {};
  info.struct_size = sizeof info;
  check(call([&](lc_context *context) { return lc_device_get(context, index, &info); }));
  return info;
}

uint32_t Context::index_of(const std::string &id) {
  if (const auto found = indices_.find(id); found != indices_.end()) return found->second;
  const uint32_t count = device_count();
  for (uint32_t index = 0; index < count; ++index) indices_[device(index).id] = index;
  const auto found = indices_.find(id);
  if (found == indices_.end())
    raise({LC_ERROR_NO_DEVICE, "this context has no device " + id + " (see devices())"});
  return found->second;
}

uint32_t Context::place(lc_cipher cipher, lc_direction direction, uint32_t key_bytes,
                        uint64_t messages, uint64_t bytes) {
  if (threshold_bytes_) return bytes >= *threshold_bytes_ ? LC_ANY_DEVICE : LC_CPU;
  if (bytes < kLeastBytesForDevice) return LC_CPU;
  lc_cipher_question question = {};
  question.struct_size = sizeof question;
  question.cipher = cipher;
  question.direction = direction;
  question.key_bytes = key_bytes;
  question.streams = static_cast<uint32_t>(messages < UINT32_MAX ? messages : UINT32_MAX);
  question.bytes = bytes;
  uint32_t device = LC_CPU;
  (void)call([&](lc_context *context) {
    (void)lc_cipher_place(context, &question, &device);
    return LC_OK;
  });
  return device;
}

uint32_t Context::place_rsa(uint32_t bits, uint64_t operations, uint64_t bytes) {
  if (threshold_bytes_) return bytes >= *threshold_bytes_ ? LC_ANY_DEVICE : LC_CPU;
  if (has_service_) return LC_ANY_DEVICE;
  const auto in_line = static_cast<uint32_t>(operations < UINT32_MAX ? operations : UINT32_MAX);
  bool prefers_device = false;
  (void)call([&](lc_context *context) {
    prefers_device = lc_rsa_prefers_device(context, bits, in_line) != 0;
    if (!prefers_device) lc_rsa_report_cpu_time(context, bits, 0);
    return LC_OK;
  });
  return prefers_device ? LC_ANY_DEVICE : LC_CPU;
}

uint32_t Context::place_hash(uint64_t bytes) const {
  // The library chooses by the lengths of the messages.
  if (!threshold_bytes_ || bytes >= *threshold_bytes_) return LC_ANY_DEVICE;
  return LC_CPU;
}

void Context::wait_for_stream(uint32_t device, void *stream) {
  // A job in the stream completes after all earlier work of the stream.
  static constexpr uint8_t kNoSecret[16] = {};
  check(call([&](lc_context *context) {
    void *block = nullptr;
    lc_status status = lc_alloc_device(context, device, sizeof kNoSecret, &block);
    if (status != LC_OK) return status;
    lc_message message = {};
    message.key = message.iv = kNoSecret;
    message.in = message.out = block;
    message.length = sizeof kNoSecret;
    lc_cipher_job job = {};
    job.struct_size = sizeof job;
    job.cipher = LC_AES_CTR;
    job.key_bytes = sizeof kNoSecret;
    job.memory = LC_MEMORY_DEVICE;
    job.device = device;
    job.has_device = 1;
    job.stream = stream;
    job.messages = &message;
    job.message_count = 1;
    job.message_size = sizeof message;
    status = lc_run(context, &job, nullptr);
    (void)lc_free_device(context, device, block);
    return status;
  }));
}

nb::list Context::devices() {
  static constexpr const char *kStates[] = {"untried", "ready", "unusable", "lost"};
  nb::list all;
  const uint32_t count = device_count();
  for (uint32_t index = 0; index < count; ++index) {
    const lc_device_info info = device(index);
    nb::dict row;
    row["id"] = info.id;
    row["api"] = info.api;
    row["name"] = info.name;
    row["driver"] = info.driver;
    row["reason"] = info.reason;
    row["memory_bytes"] = info.memory_bytes;
    row["compute_units"] = info.compute_units;
    row["is_gpu"] = info.is_gpu != 0;
    row["selected"] = info.selected != 0;
    row["state"] = kStates[info.state & 3];
    row["rsa_state"] = kStates[info.rsa_state & 3];
    all.append(row);
  }
  return all;
}

nb::dict Context::counters() {
  nb::dict all;
  const auto add = [&](const char *name, uint32_t index) {
    lc_counters counters = {};
    counters.struct_size = sizeof counters;
    check(call([&](lc_context *context) { return lc_counters_get(context, index, &counters); }));
    nb::dict row;
    row["jobs"] = counters.jobs;
    row["bytes"] = counters.bytes;
    row["launches"] = counters.launches;
    row["failures"] = counters.failures;
    row["operations"] = counters.operations;
    all[name] = row;
  };
  const uint32_t count = device_count();
  for (uint32_t index = 0; index < count; ++index) add(device(index).id, index);
  add("cpu", LC_CPU);
  return all;
}

uint32_t Context::device_of(const View &view) {
  return view.memory_space() == MemorySpace::kDevice
             ? static_cast<uint32_t>(view.ordinal())
             : index_of("cuda:" + std::to_string(view.ordinal()));
}

nb::object Context::read(const View &view, uint64_t offset, uint64_t bytes) {
  view.check_range(offset, bytes);
  const std::unique_ptr<View> copy = View::of_new_bytes(bytes);
  if (bytes == 0) return copy->owner();
  if (view.memory_space() == MemorySpace::kHost) {
    std::memcpy(copy->data(), view.data() + offset, bytes);
  } else {
    const uint32_t device = device_of(view);
    check(call([&](lc_context *context) {
      return lc_copy_from_device(context, device, copy->data(), view.data() + offset, bytes);
    }));
  }
  return copy->owner();
}

void Context::write(const View &view, uint64_t offset, nb::handle data) {
  const View from(data, false, {});
  if (from.memory_space() != MemorySpace::kHost)
    raise(PyExc_ValueError, "what is copied there must lie in host memory");
  view.check_range(offset, from.bytes());
  if (from.bytes() == 0) return;
  if (view.memory_space() == MemorySpace::kHost) {
    std::memcpy(view.data() + offset, from.data(), from.bytes());
  } else {
    const uint32_t device = device_of(view);
    check(call([&](lc_context *context) {
      return lc_copy_to_device(context, device, view.data() + offset, from.data(), from.bytes());
    }));
  }
}

void bind_context(nb::module_ &module) {
  nb::class_<Context>(module, "Context")
      .def(
          "__init__",
          [](Context *self, std::optional<std::string> devices, int fallback, int verify,
             int prefer, uint64_t pinned_bytes, uint32_t time_limit_ms, uint32_t prime_pool,
             uint32_t cores, std::string service, std::optional<std::string> service_owner,
             std::optional<uint64_t> threshold_bytes) {
            new (self) Context({.devices = std::move(devices),
                                .fallback = fallback,
                                .verify = verify,
                                .prefer = prefer,
                                .pinned_bytes = pinned_bytes,
                                .time_limit_ms = time_limit_ms,
                                .prime_pool = prime_pool,
                                .cores = cores,
                                .service = std::move(service),
                                .service_owner = std::move(service_owner),
                                .threshold_bytes = threshold_bytes});
          },
          nb::arg("devices").none(), nb::arg("fallback"), nb::arg("verify"), nb::arg("prefer"),
          nb::arg("pinned_bytes"), nb::arg("time_limit_ms"), nb::arg("prime_pool"),
          nb::arg("cores"), nb::arg("service"), nb::arg("service_owner").none(),
          nb::arg("threshold_bytes").none())
      .def("close", &Context::close)
      .def_prop_ro("closed", &Context::is_closed)
      .def("index_of", &Context::index_of, nb::arg("id"))
      .def("devices", &Context::devices,
           nb::sig("def devices(self) -> list[dict[str, typing.Any]]"))
      .def("counters", &Context::counters,
           nb::sig("def counters(self) -> dict[str, dict[str, int]]"))
      .def("device_of", &Context::device_of, nb::arg("view"))
      .def("read", &Context::read, nb::arg("view"), nb::arg("offset"), nb::arg("nbytes"),
           nb::sig("def read(self, view: View, offset: int, nbytes: int) -> bytes"))
      .def("write", &Context::write, nb::arg("view"), nb::arg("offset"), nb::arg("data"))
      .def(
          "wait_for_stream",
          [](Context &context, uint32_t device, uintptr_t stream) {
            context.wait_for_stream(device, reinterpret_cast<void *>(stream));
          },
          nb::arg("device"), nb::arg("stream"))
      .def(
          "test",
          [](Context &context, uint32_t device) {
            check(context.call([&](lc_context *c) { return lc_device_test(c, device); }));
          },
          nb::arg("device"));
  module.def("end", &end);
  module.def("after_fork", [] { ++fork_count; });
}

}  // namespace lanecrypt::python
