// SPDX-License-Identifier: Apache-2.0
#include "abi/context.h"

#include <stdlib.h>
#include <unistd.h>

#include <cstring>

namespace lanecrypt {

using schedule::Executor;

struct Context::Process {
  explicit Process(const schedule::DispatcherOptions &options)
      : pid(getpid()), dispatcher(options) {}

  struct Pinned {
    Executor *executor;  // nullptr: ordinary memory
    std::unique_ptr<device::Buffer> buffer;
  };

  const pid_t pid;
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

Context::~Context() {
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
