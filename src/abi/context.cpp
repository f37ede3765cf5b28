// SPDX-License-Identifier: Apache-2.0
#include "abi/context.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstring>

#include "abi/process_end.h"
#include "schedule/signals.h"

namespace lanecrypt {

using schedule::Executor;

namespace {

// How often this process, or one that it came from, was forked into being: to
// ask the system for the process's number would cost each operation a call.
std::atomic<uint64_t> forks{0};
const int fork_is_noted = pthread_atfork(nullptr, nullptr, [] { ++forks; });

}  // namespace

struct Context::Process {
  explicit Process(const schedule::DispatcherOptions &options)
      : pid(getpid()), born_in(forks), dispatcher(options) {
    note_loaded_drivers();
    at_end.begin(
        [this] {
          dispatcher.stop();
          end_opening();
        },
        [this] { dispatcher.hurry(); });
  }

  ~Process() { end_opening(); }
  void end_opening() {
    std::lock_guard lock(mutex);
    if (opening.joinable()) opening.join();
  }
  // nullptr where nothing was measured.
  std::shared_ptr<const tune::CostModel> model(uint32_t index);
  // On a thread of its own, one device at a time.
  void open_meanwhile(Executor &executor);

  struct Pinned {
    Executor *executor;  // nullptr: ordinary memory
    std::unique_ptr<device::Buffer> buffer;
  };

  const pid_t pid;
  const uint64_t born_in;
  AtProcessEnd at_end;
  schedule::Dispatcher dispatcher;
  std::mutex mutex;
  std::map<void *, Pinned> pinned;
  // By device; nullptr: looked for in vain.
  std::map<uint32_t, std::shared_ptr<const tune::CostModel>> models;
  std::atomic<bool> is_opening{false};
  std::thread opening;
};

std::shared_ptr<const tune::CostModel> Context::Process::model(uint32_t index) {
  std::lock_guard lock(mutex);
  const auto [at, is_new] = models.try_emplace(index);
  if (is_new) {
    const std::string device = tune::describe_device(dispatcher.device(index)->properties());
    if (const auto stored = tune::load(tune::describe_machine(), device))
      at->second = std::make_shared<tune::CostModel>(*stored);
  }
  return at->second;
}

void Context::Process::open_meanwhile(Executor &executor) {
  if (is_opening.exchange(true)) return;
  std::lock_guard lock(mutex);
  if (opening.joinable()) opening.join();  // it is over
  const schedule::SignalsBlocked blocked;
  opening = std::thread([this, &executor] {
    (void)executor.make_ready();
    is_opening = false;
  });
}

// A child of fork cannot destroy what it inherited, so it forgets it. Two
// threads that come first at once may both make one; one of them wins.
Context::Process &Context::process() {
  Process *current = process_.load();
  if (current != nullptr && current->pid == getpid()) return *current;
  auto made = std::make_unique<Process>(options_);
  if (process_.compare_exchange_strong(current, made.get())) return *made.release();
  if (!made->at_end.withdraw()) (void)made.release();
  return *current;
}

// Asks the devices of `context` only if they were looked for already.
struct Context::Chooser {
  explicit Chooser(Context &whole)
      : born_in(forks), context(whole), choice(devices(), std::thread::hardware_concurrency()) {
    at_end.begin([this] { end_warming(); }, [] {});
  }
  ~Chooser() { end_warming(); }
  void end_warming() {
    std::lock_guard lock(mutex);
    is_warming = true;  // or never will be
    if (warming.joinable()) warming.join();
  }

  schedule::RsaDispatcher *found() const {
    Process *current = context.process_.load();
    return current != nullptr && current->born_in == born_in ? &current->dispatcher.rsa() : nullptr;
  }
  schedule::RsaChoice::Devices devices() {
    using Duration = schedule::RsaChoice::Duration;
    return {.load = [this] { return found() == nullptr ? 0 : found()->load(); },
            .estimate = [this](uint32_t bits, Duration guess) -> std::optional<Duration> {
              if (found() == nullptr) return std::nullopt;
              return found()->estimate(bits, guess);
            },
            .warm_up = [this] { warm_up(); }};
  }
  // On a thread of its own: to look for devices takes a while.
  void warm_up() {
    if (is_warming) return;
    std::lock_guard lock(mutex);
    if (is_warming.exchange(true)) return;
    const schedule::SignalsBlocked blocked;
    warming = std::thread([this] { context.dispatcher().rsa().warm_up(); });
  }

  const uint64_t born_in;
  AtProcessEnd at_end;
  Context &context;
  std::mutex mutex;
  std::atomic<bool> is_warming{false};
  std::thread warming;
  schedule::RsaChoice choice;
};

schedule::RsaChoice &Context::rsa_choice() {
  Chooser *current = chooser_.load();
  if (current != nullptr && current->born_in == forks) return current->choice;
  auto made = std::make_unique<Chooser>(*this);
  if (chooser_.compare_exchange_strong(current, made.get())) return made.release()->choice;
  if (!made->at_end.withdraw()) (void)made.release();
  return current->choice;
}

bool Context::generation_is_sooner(uint32_t bits) {
  // Longer keys take seconds on a core; to open a device takes about one.
  constexpr uint32_t kLongBits = 6144;
  // After so many keys of a process more will come.
  constexpr uint32_t kMostWithoutDevice = 2;
  if (schedule::rsa_kind(bits) == 0) return false;
  const bool is_long = bits >= kLongBits;
  if (!is_long && keys_made_elsewhere_.fetch_add(1) < kMostWithoutDevice) return false;
  schedule::RsaGenerator &generator = dispatcher().generator();
  if (generator.is_open()) return true;
  if (is_long) return generator.has_device();
  generator.warm_up();
  return false;
}

Result<tune::Calibration> Context::known_calibration(uint32_t index) {
  const Executor *executor = dispatcher().device(index);
  if (executor == nullptr)
    return Status(LC_ERROR_ARGUMENT, "there is no device " + std::to_string(index));
  const std::string device = tune::describe_device(executor->properties());
  std::optional<tune::Calibration> stored = tune::load(tune::describe_machine(), device);
  if (!stored) return Status(LC_ERROR_UNSUPPORTED, device + ": was not measured yet");
  return std::move(*stored);
}

Result<tune::Calibration> Context::calibrate(uint32_t index, tune::Depth depth,
                                             const std::function<bool(const tune::Point &)> &each) {
  Process &mine = process();
  Result<tune::Calibration> made = tune::measure(mine.dispatcher, index, depth, each);
  if (!made.ok()) return made;
  tune::store(*made);
  std::lock_guard lock(mine.mutex);
  mine.models[index] = std::make_shared<tune::CostModel>(*made);
  return made;
}

std::optional<bool> Context::is_for_device(const tune::Question &question) {
  // The way to a device and back takes longer than so little on the CPU.
  constexpr uint64_t kLeastBytes = 64 << 10;
  // To look for devices takes tenths of a second.
  constexpr uint64_t kLookAtBytes = 1 << 20, kLookAfterBytes = 64 << 20;
  // To open one takes about so long.
  constexpr uint64_t kOpenNs = 1000000000;
  if (question.bytes < kLeastBytes) return false;
  if (process_.load() == nullptr && question.bytes < kLookAtBytes &&
      (bytes_done_elsewhere_ += question.bytes) < kLookAfterBytes)
    return false;
  Process &mine = process();
  bool is_known = false;
  for (uint32_t n = 0; mine.dispatcher.is_selected(n); ++n) {
    Executor &executor = *mine.dispatcher.device(n);
    if (!executor.may_work()) continue;
    const std::shared_ptr<const tune::CostModel> model = mine.model(n);
    const tune::Load load = {.device_bytes = executor.load_bytes()};
    const std::optional<tune::Estimate> estimate =
        model == nullptr ? std::nullopt : model->estimate(question, load);
    if (!estimate) continue;
    is_known = true;
    if (!model->is_for_device(question, load, prefer_)) continue;
    if (executor.state() == LC_DEVICE_READY || estimate->cpu_ns > kOpenNs) return true;
    mine.open_meanwhile(executor);
  }
  return is_known ? std::optional(false) : std::nullopt;
}

Context::~Context() {
  Chooser *chooser = chooser_.load();
  if (chooser != nullptr && chooser->born_in == forks && chooser->at_end.withdraw()) delete chooser;
  Process *current = process_.load();
  if (current == nullptr || current->pid != getpid() || !current->at_end.withdraw()) return;
  while (!current->pinned.empty()) free_pinned(current->pinned.begin()->first);
  delete current;
}

schedule::Dispatcher &Context::dispatcher() { return process().dispatcher; }

Result<void *> Context::allocate_pinned(size_t bytes) {
  Process &mine = process();
  Executor *executor = mine.dispatcher.first_ready();
  Process::Pinned memory = {executor, nullptr};
  void *pointer = nullptr;
  if (executor != nullptr) {
    const Status status =
        executor->call([&](device::Device &device, schedule::DeviceMemory &) -> Status {
          auto buffer = device.allocate(device::MemoryKind::kPinned, bytes);
          if (!buffer.ok()) return buffer.status();
          memory.buffer = std::move(*buffer);
          return Status();
        });
    // Lost since, or at its limit: ordinary memory serves as well, but slower.
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
    if (found == mine.pinned.end()) return;  // of the parent, or not ours
    memory = std::move(found->second);
    mine.pinned.erase(found);
  }
  if (memory.executor == nullptr) {
    free(pointer);
    return;
  }
  mine.dispatcher.pinned().remove(pointer);
  const Status status =
      memory.executor->call([&](device::Device &, schedule::DeviceMemory &) -> Status {
        memory.buffer.reset();
        return Status();
      });
  // The device is closed, and had it.
  if (status.code() == LC_ERROR_STOPPED) (void)memory.buffer.release();
}

}  // namespace lanecrypt
