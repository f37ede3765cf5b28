// Creates the parts of a context at their first use, once per process.
//
// SPDX-License-Identifier: Apache-2.0
#include "abi/context.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "abi/process_end.h"
#include "cpu/core_count.h"
#include "job/kept_memory.h"
#include "process/forks.h"

namespace lanecrypt {

using process::forks;
using runtime::Executor;

struct Context::Process {
  Process(const runtime::DispatcherOptions &options, placement::Prefer prefer)
      : born_in(forks()), dispatcher(options), choice(dispatcher, prefer) {
    at_end.begin([this] { dispatcher.stop(); }, [this] { dispatcher.cancel_pending(); });
  }

  struct Pinned {
    Executor *executor;  // nullptr: ordinary memory
    std::unique_ptr<device::Buffer> buffer;
  };

  const uint64_t born_in;
  // Initialised before we start threads.
  const placement::OwnCpuTime own_time = placement::OwnCpuTime::without_present_threads();
  AtProcessEnd at_end;
  runtime::Dispatcher dispatcher;
  placement::CipherChoice choice;
  std::mutex mutex;
  std::map<void *, Pinned> pinned;
};

// process() returns the part that belongs to this process. A child of fork() cannot destroy what it
// inherited, so it abandons it and creates its own. If two threads create one concurrently, one of
// the two is kept.
Context::Process &Context::process() {
  Process *current = process_.load();
  if (current != nullptr && current->born_in == forks()) return *current;
  runtime::DispatcherOptions options = options_;
  if (!options.find) options.find = [this] { return background_probe().wait_for_devices(); };
  auto made = std::make_unique<Process>(options, prefer_);
  if (process_.compare_exchange_strong(current, made.get())) return *made.release();
  if (!made->at_end.withdraw()) (void)made.release();
  return *current;
}

Context::Process *Context::found() const {
  Process *current = process_.load();
  return current != nullptr && current->born_in == forks() ? current : nullptr;
}

struct Context::RemoteProcess {
  explicit RemoteProcess(const remote::Service &service) : born_in(forks()), operations(service) {
    at_end.begin([this] { operations.stop(); }, [this] { operations.cancel_pending(); });
  }

  const uint64_t born_in;
  AtProcessEnd at_end;
  remote::PrivateOperations operations;
};

remote::PrivateOperations *Context::remote_operations() {
  if (!service_) return nullptr;
  RemoteProcess *current = remote_.load();
  if (current != nullptr && current->born_in == forks()) return &current->operations;
  auto made = std::make_unique<RemoteProcess>(*service_);
  if (remote_.compare_exchange_strong(current, made.get())) return &made.release()->operations;
  if (!made->at_end.withdraw()) (void)made.release();
  return &current->operations;
}

// Chooser has the choices of all families. They use the devices of `context` only if those were
// already enumerated.
struct Context::Chooser {
  using Devices = runtime::BatchChoice::Devices;
  using Family = runtime::BatchDispatcher &(*)(runtime::Dispatcher &);

  explicit Chooser(Context &whole) : context(whole) {}

  // devices() returns access to the devices of one family, which are opened for it once.
  Devices devices(Family family, std::atomic<bool> &is_warm) {
    using Duration = runtime::BatchChoice::Duration;
    const auto found = [this, family]() -> runtime::BatchDispatcher * {
      Process *const current = context.found();
      return current != nullptr ? &family(current->dispatcher) : nullptr;
    };
    return {
        .load = [found] { return found() == nullptr ? 0 : found()->load(); },
        .estimate = [found](runtime::BatchKind kind, Duration guess) -> std::optional<Duration> {
          if (found() == nullptr) return std::nullopt;
          return found()->estimate(kind, guess);
        },
        // Devices are enumerated in the background. The first caller after that waits until they
        // are open.
        .warm_up =
            [this, family, &is_warm] {
              if (is_warm || !context.background_probe().knows_devices() || is_warm.exchange(true))
                return;
              family(context.dispatcher()).warm_up();
            }};
  }

  const uint64_t born_in = forks();
  Context &context;
  std::atomic<bool> rsa_is_warm{false}, slh_is_warm{false}, ml_dsa_is_warm{false};
  runtime::RsaChoice rsa{
      devices([](runtime::Dispatcher &all) -> runtime::BatchDispatcher & { return all.rsa(); },
              rsa_is_warm),
      cpu::usable_cores()};
  runtime::SlhChoice slh{
      devices([](runtime::Dispatcher &all) -> runtime::BatchDispatcher & { return all.slh(); },
              slh_is_warm),
      cpu::usable_cores()};
  runtime::MlDsaChoice ml_dsa{
      devices([](runtime::Dispatcher &all) -> runtime::BatchDispatcher & { return all.ml_dsa(); },
              ml_dsa_is_warm),
      cpu::usable_cores()};
};

Context::Chooser &Context::chooser() {
  Chooser *current = chooser_.load();
  if (current != nullptr && current->born_in == forks()) return *current;
  auto made = std::make_unique<Chooser>(*this);
  if (chooser_.compare_exchange_strong(current, made.get())) return *made.release();
  return *current;
}

runtime::RsaChoice &Context::rsa_choice() { return chooser().rsa; }
runtime::SlhChoice &Context::slh_choice() { return chooser().slh; }
runtime::MlDsaChoice &Context::ml_dsa_choice() { return chooser().ml_dsa; }

bool Context::generation_prefers_device(uint32_t bits) {
  // Generating such a key takes a core most of a second, and opening a device takes less. The CPU's
  // cores search until the device is open.
  constexpr uint32_t kLongBits = 4096;
  // After this many keys of a process, more are likely. One call then waits until a device is open,
  // which takes about as long as these keys did.
  constexpr uint32_t kMostWithoutDevice = 8;
  if (runtime::rsa_kind(bits) == 0) return false;
  const bool is_long = bits >= kLongBits;
  if (!is_long && keys_made_elsewhere_.fetch_add(1) < kMostWithoutDevice) return false;
  if (found() == nullptr && !is_long && !background_probe().knows_devices()) return false;
  runtime::RsaGenerator &generator = dispatcher().generator();
  if (generator.is_open_for_one()) return true;
  if (is_long) return generator.has_device_for_one();
  generator.warm_up_for_one();
  return false;
}

Result<placement::Calibration> Context::known_calibration(uint32_t index) {
  const Executor *executor = dispatcher().device(index);
  if (executor == nullptr)
    return Status(LC_ERROR_ARGUMENT, "there is no device " + std::to_string(index));
  const std::string device = placement::describe_device(executor->properties());
  std::optional<placement::Calibration> stored =
      placement::load(placement::describe_machine(), device);
  if (!stored) return Status(LC_ERROR_UNSUPPORTED, device + ": was not measured yet");
  return std::move(*stored);
}

Result<placement::Calibration> Context::calibrate(
    uint32_t index, placement::Depth depth,
    const std::function<bool(const placement::Point &)> &each) {
  Process &mine = process();
  Result<placement::Calibration> made =
      placement::measure(mine.dispatcher, index, depth, each, mine.own_time);
  if (!made.ok()) return made;
  placement::store(*made);
  mine.choice.learn(index, *made);
  return made;
}

struct Context::BackgroundProbeOfProcess {
  explicit BackgroundProbeOfProcess(const std::string &devices) : probe(devices) {}
  const uint64_t born_in = forks();
  BackgroundProbe probe;
};

BackgroundProbe &Context::background_probe() {
  BackgroundProbeOfProcess *current = background_probe_.load();
  if (current != nullptr && current->born_in == forks()) return current->probe;
  auto made = std::make_unique<BackgroundProbeOfProcess>(options_.devices);
  if (background_probe_.compare_exchange_strong(current, made.get())) return made.release()->probe;
  return current->probe;
}

Placement Context::place(const placement::Question &question) {
  // For fewer bytes, the transfer to a device and back takes longer than the CPU.
  constexpr uint64_t kLeastBytes = 64 << 10;
  // The enumeration of devices takes tenths of a second, and opening one about a second. A core
  // takes as long for this many bytes, in many requests (kPaysAfterBytes) or in one (kPaysAtBytes).
  constexpr uint64_t kPaysAfterBytes = uint64_t{1} << 30, kPaysAtBytes = uint64_t{4} << 30;
  if (question.bytes < kLeastBytes) return {LC_CHOICE_CPU};
  Process *mine = found();
  if (mine != nullptr && mine->choice.is_little(question)) return {LC_CHOICE_CPU};
  const bool pays = background_probe().count(question.bytes) >= kPaysAfterBytes;
  if (mine == nullptr && question.bytes < kPaysAtBytes &&
      !(pays && background_probe().knows_devices()))
    return {LC_CHOICE_CPU};
  if (mine == nullptr) mine = &process();
  return mine->choice.decide(question, pays ? &background_probe() : nullptr);
}

bool Context::is_open(bool opens_now) {
  Process *mine = found();
  for (uint32_t n = 0; mine != nullptr && mine->dispatcher.is_selected(n); ++n)
    if (mine->dispatcher.device(n)->state() == LC_DEVICE_READY) return true;
  return opens_now && background_probe().knows_devices() &&
         process().dispatcher.first_ready() != nullptr;
}

Context::~Context() {
  RemoteProcess *remote = remote_.load();
  if (remote != nullptr && remote->born_in == forks() && remote->at_end.withdraw()) delete remote;
  Chooser *chooser = chooser_.load();
  if (chooser != nullptr && chooser->born_in == forks()) delete chooser;
  BackgroundProbeOfProcess *probe = background_probe_.load();
  if (probe != nullptr && probe->born_in == forks()) delete probe;
  Process *current = process_.load();
  if (current == nullptr || current->born_in != forks() || !current->at_end.withdraw()) return;
  while (!current->pinned.empty()) free_pinned(current->pinned.begin()->first);
  delete current;
  free_kept();
}

runtime::Dispatcher &Context::dispatcher() { return process().dispatcher; }

Result<void *> Context::allocate_pinned(size_t bytes) {
  Process &mine = process();
  Executor *executor = mine.dispatcher.first_ready();
  Process::Pinned memory = {executor, nullptr};
  void *pointer = nullptr;
  if (executor != nullptr) {
    const Status status =
        executor->call([&](device::Device &device, runtime::DeviceMemory &) -> Status {
          auto buffer = device.allocate(device::MemoryKind::kPinned, bytes);
          if (!buffer.ok()) return buffer.status();
          memory.buffer = std::move(*buffer);
          return Status();
        });
    // The device was lost since, or is at its limit. Ordinary memory works as well, but is slower.
    if (!status.ok()) memory.executor = executor = nullptr;
  }
  if (executor != nullptr) {
    pointer = memory.buffer->host();
    mine.dispatcher.pinned().add(pointer, bytes);
  } else if (posix_memalign(&pointer, static_cast<size_t>(sysconf(_SC_PAGESIZE)), bytes) != 0) {
    return Status(LC_ERROR_MEMORY, "no memory for " + std::to_string(bytes) + " bytes");
  }
  memset(pointer, 0, bytes);
  std::lock_guard lock(mine.mutex);
  mine.pinned[pointer] = std::move(memory);
  return pointer;
}

void Context::free_pinned(void *pointer) {
  Process &mine = process();
  Process::Pinned memory;
  {
    std::lock_guard lock(mine.mutex);
    const auto found = mine.pinned.find(pointer);
    if (found == mine.pinned.end()) return;  // the parent process's, or not from here
    memory = std::move(found->second);
    mine.pinned.erase(found);
  }
  if (memory.executor == nullptr) {
    free(pointer);
    return;
  }
  mine.dispatcher.pinned().remove(pointer);
  const Status status =
      memory.executor->call([&](device::Device &, runtime::DeviceMemory &) -> Status {
        memory.buffer.reset();
        return Status();
      });
  // The device is closed, and its memory is gone with it.
  if (status.code() == LC_ERROR_STOPPED) (void)memory.buffer.release();
}

}  // namespace lanecrypt
