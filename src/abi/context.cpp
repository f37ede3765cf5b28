// SPDX-License-Identifier: Apache-2.0
#include "abi/context.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstring>

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
      : pid(getpid()), born_in(forks), dispatcher(options) {}

  struct Pinned {
    Executor *executor;  // nullptr: ordinary memory
    std::unique_ptr<device::Buffer> buffer;
  };

  const pid_t pid;
  const uint64_t born_in;
  schedule::Dispatcher dispatcher;
  std::mutex mutex;
  std::map<void *, Pinned> pinned;
};

// A child of fork cannot destroy what it inherited, so it forgets it. Two
// threads that come first at once may both make one; one of them wins.
Context::Process &Context::process() {
  Process *current = process_.load();
  if (current != nullptr && current->pid == getpid()) return *current;
  auto made = std::make_unique<Process>(options_);
  if (process_.compare_exchange_strong(current, made.get())) return *made.release();
  return *current;
}

// Asks the devices of `context` only if they were looked for already.
struct Context::Chooser {
  explicit Chooser(Context &whole)
      : born_in(forks), context(whole), choice(devices(), std::thread::hardware_concurrency()) {}
  ~Chooser() {
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
    if (is_warming.exchange(true)) return;
    const schedule::SignalsBlocked blocked;
    warming = std::thread([this] { context.dispatcher().rsa().warm_up(); });
  }

  const uint64_t born_in;
  Context &context;
  std::atomic<bool> is_warming{false};
  std::thread warming;
  schedule::RsaChoice choice;
};

schedule::RsaChoice &Context::rsa_choice() {
  Chooser *current = chooser_.load();
  if (current != nullptr && current->born_in == forks) return current->choice;
  auto made = std::make_unique<Chooser>(*this);
  if (chooser_.compare_exchange_strong(current, made.get())) return made.release()->choice;
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

Context::~Context() {
  if (Chooser *chooser = chooser_.load(); chooser != nullptr && chooser->born_in == forks)
    delete chooser;
  Process *current = process_.load();
  if (current == nullptr || current->pid != getpid()) return;
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
  (void)memory.executor->call([&](device::Device &, schedule::DeviceMemory &) {
    memory.buffer.reset();
    return Status();
  });
}

}  // namespace lanecrypt
