// The emulator: runs the kernels as plain C++ on threads of this process, for tests, fuzzers and
// sanitizers. It is only used if it is named. Each stream has its own thread, so that operations
// that overlap on a GPU overlap here too.
//
// Environment variables for tests, read when the device is opened:
//   LANECRYPT_HOST_FAULT             injects faults, see host_fault.h
//   LANECRYPT_HOST_THREADS=N         thread blocks of N threads, each on its own CPU thread
//   LANECRYPT_HOST_SUBGROUPS=1       reports that threads share a number of RSA, as on CUDA, with
//                                    warps of one thread
//   LANECRYPT_HOST_DEVICES=N         N identical devices
//   LANECRYPT_HOST_KERNELS=PREFIX,...  the first device has only kernels whose names begin so, like
//                                    an API that lacks some; after a semicolon follows the list of
//                                    the next device
//
// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <system_error>
#include <thread>

#include "device/device.h"
#include "device/host/host_device.h"
#include "device/host/host_fault.h"
#include "device/host/host_kernels.h"
#include "device/host/host_thread_blocks.h"
#include "job/round_up.h"
#include "process/diagnostics.h"
#include "process/of_process.h"

namespace lanecrypt::device {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t kPageBytes = 4096;

// The callers' pages that any emulator of the process has pinned.
struct PinnedPages {
  std::mutex mutex;
  std::map<uint64_t, uint64_t> ranges;  // start and end
  uint64_t ever = 0;
};

PinnedPages &pinned_pages() {
  static constinit process::OfProcess<PinnedPages> pages;
  return pages.get();
}

class HostPinnedPages : public Buffer {
 public:
  HostPinnedPages(uint64_t start, uint64_t bytes) : Buffer(MemoryKind::kPinned, start, bytes) {}
  ~HostPinnedPages() override {
    PinnedPages &pages = pinned_pages();
    std::lock_guard lock(pages.mutex);
    pages.ranges.erase(address());
  }
};

// The addresses and sizes of the device's buffers. Buffers may be destroyed on any thread, and
// after the device.
struct HostMemory {
  std::mutex mutex;
  std::map<uint64_t, uint64_t> buffers;
};

class HostBuffer : public Buffer {
 public:
  // Owns `memory` and registers it in `book`; a null `book` makes a view.
  HostBuffer(MemoryKind kind, void *memory, uint64_t bytes, std::shared_ptr<HostMemory> book)
      : Buffer(kind, reinterpret_cast<uint64_t>(memory), bytes), book_(std::move(book)) {
    if (book_ == nullptr || kind != MemoryKind::kDevice) return;
    std::lock_guard lock(book_->mutex);
    book_->buffers[address()] = bytes;
  }
  ~HostBuffer() override {
    if (book_ == nullptr) return;
    if (kind() == MemoryKind::kDevice) {
      std::lock_guard lock(book_->mutex);
      book_->buffers.erase(address());
    }
    free(reinterpret_cast<void *>(address()));
  }

 private:
  std::shared_ptr<HostMemory> book_;
};

// The state that a mark shares with its waiters. It may outlive the event.
class HostPoint {
 public:
  Status wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return done_ == marked_; });
    return status_;
  }
  bool reached() {
    std::lock_guard lock(mutex_);
    return done_ == marked_;
  }
  Clock::time_point time() const { return time_; }

  uint64_t begin_mark() {
    std::lock_guard lock(mutex_);
    return ++marked_;
  }
  void end_mark(uint64_t mark, const Status &status) {
    {
      std::lock_guard lock(mutex_);
      done_ = mark;
      status_ = status;
      time_ = Clock::now();
    }
    changed_.notify_all();
  }
  uint64_t last_mark() {
    std::lock_guard lock(mutex_);
    return marked_;
  }
  Status wait_for(uint64_t mark) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return done_ >= mark; });
    return status_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t marked_ = 0, done_ = 0;
  Status status_;
  Clock::time_point time_;
};

class HostEvent : public Event {
 public:
  Status wait() override { return point_->wait(); }
  bool reached() override { return point_->reached(); }
  uint64_t nanoseconds_since(Event &earlier) override {
    const auto span = point_->time() - static_cast<HostEvent &>(earlier).point_->time();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(span).count();
  }
  const std::shared_ptr<HostPoint> &point() const { return point_; }

 private:
  const std::shared_ptr<HostPoint> point_ = std::make_shared<HostPoint>();
};

}  // namespace

// Runs work in order, on its own thread.
class HostQueue {
 public:
  HostQueue() {
    thread_ = std::thread([this] { run(); });
  }
  ~HostQueue() {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
      changed_.notify_all();
    }
    thread_.join();
  }
  HostQueue(const HostQueue &) = delete;

  void push(std::function<void()> work) {
    {
      std::lock_guard lock(mutex_);
      queue_.push_back(std::move(work));
    }
    changed_.notify_all();
  }
  // Only for the queue's thread.
  HostThreadBlocks &thread_blocks() { return thread_blocks_; }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return stopping_ || !queue_.empty(); });
      if (queue_.empty()) return;
      running_ = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      running_();
      running_ = nullptr;
      lock.lock();
    }
  }

  // Only for the queue's thread. Leak checkers find here what a stuck kernel was given; otherwise
  // only the stack of a thread that never ends would refer to it.
  std::function<void()> running_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  bool stopping_ = false;
  HostThreadBlocks thread_blocks_;
  std::thread thread_;
};

namespace {

class HostStream : public Stream {
 public:
  HostStream(HostFault &fault, uint32_t threads, std::shared_ptr<HostQueue> queue)
      : fault_(fault), threads_(threads), queue_(std::move(queue)) {}

  Status upload(const Buffer &to, uint64_t offset, const void *from, uint64_t bytes) override {
    return push_copy(reinterpret_cast<void *>(to.address() + offset), from, bytes,
                     CopyDirection::kUp);
  }
  Status download(void *to, const Buffer &from, uint64_t offset, uint64_t bytes) override {
    return push_copy(to, reinterpret_cast<const void *>(from.address() + offset), bytes,
                     CopyDirection::kDown);
  }
  Status copy(const Buffer &to, uint64_t to_offset, const Buffer &from, uint64_t from_offset,
              uint64_t bytes) override {
    return push_copy(reinterpret_cast<void *>(to.address() + to_offset),
                     reinterpret_cast<const void *>(from.address() + from_offset), bytes,
                     CopyDirection::kWithin);
  }
  Status zero(const Buffer &buffer, uint64_t offset, uint64_t bytes) override {
    void *memory = reinterpret_cast<void *>(buffer.address() + offset);
    return push([=, this] {
      if (!fault_.drops_zero()) memset(memory, 0, bytes);
      return Status();
    });
  }
  Status launch(const Launch &launch) override {
    LC_TRY(fault_.on_launch());
    const HostKernelEntry *kernel = find_host_kernel(launch.kernel);
    if (kernel == nullptr)
      return Status(LC_ERROR_INTERNAL, std::string("no kernel ") + launch.kernel);
    std::vector<uint64_t> arguments;
    std::vector<std::pair<uint8_t *, uint64_t>> pinned;
    for (const Argument &argument : launch.arguments) {
      arguments.push_back(value_of(argument));
      const auto *buffer = std::get_if<const Buffer *>(&argument);
      if (buffer != nullptr && *buffer != nullptr && (*buffer)->kind() == MemoryKind::kPinned)
        pinned.emplace_back((*buffer)->host(), (*buffer)->bytes());
    }
    if (!pinned.empty() && !fault_.lets_kernels_reach())
      return Status(LC_ERROR_INTERNAL,
                    std::string("pinned memory is out of reach of ") + launch.kernel);
    if (arguments.size() + (launch.shared_bytes != 0 ? 1 : 0) != kernel->parameters)
      return Status(LC_ERROR_INTERNAL,
                    std::string("wrong number of arguments for ") + launch.kernel);
    // Refused, as on GPUs.
    if (launch.thread_blocks == 0 || launch.thread_block_size == 0)
      return Status(LC_ERROR_INTERNAL, std::string("an empty launch of ") + launch.kernel);
    const HostGrid grid = {launch.thread_blocks, launch.thread_block_size, launch.shared_bytes};
    return push([=, this] {
      LC_TRY(fault_.on_run());
      if (fault_.drops_kernel()) return Status();
      queue_->thread_blocks().run(*kernel, arguments, grid, threads_);
      for (const auto &[written, bytes] : pinned) LC_TRY(fault_.after_kernel(written, bytes));
      return Status();
    });
  }
  Status mark(Event &event) override {
    const std::shared_ptr<HostPoint> point = static_cast<HostEvent &>(event).point();
    const uint64_t mark = point->begin_mark();
    return push_always([point, mark, outcome = outcome_] { point->end_mark(mark, *outcome); });
  }
  Status await(Event &event) override {
    const std::shared_ptr<HostPoint> point = static_cast<HostEvent &>(event).point();
    const uint64_t mark = point->last_mark();
    return push_always([point, mark, outcome = outcome_] {
      const Status status = point->wait_for(mark);
      if (outcome->ok()) *outcome = status;
    });
  }
  Status finish() override {
    HostEvent event;
    LC_TRY(mark(event));
    return event.wait();
  }

 private:
  static uint64_t value_of(const Argument &argument) {
    if (const auto *buffer = std::get_if<const Buffer *>(&argument))
      return *buffer == nullptr ? 0 : (*buffer)->address();
    if (const auto *word = std::get_if<uint32_t>(&argument)) return *word;
    return std::get<uint64_t>(argument);
  }

  enum class CopyDirection { kUp, kDown, kWithin };
  Status push_copy(void *to, const void *from, uint64_t bytes, CopyDirection direction) {
    return push([=, this] {
      uint64_t copied = bytes;
      if (direction == CopyDirection::kUp) copied = fault_.on_upload(bytes);
      if (direction == CopyDirection::kDown) copied = fault_.on_download(bytes);
      if (direction == CopyDirection::kDown && fault_.drops_download()) return Status();
      if (copied != 0) memcpy(to, from, copied);  // an empty buffer may have a null address
      if (copied < bytes) return HostFault::lost();
      if (direction == CopyDirection::kDown) fault_.after_download(to, bytes);
      return Status();
    });
  }

  // As on a real device, work after a failure in a stream does not run.
  Status push(std::function<Status()> work) {
    return push_always([outcome = outcome_, work = std::move(work)] {
      if (outcome->ok()) *outcome = work();
    });
  }
  Status push_always(std::function<void()> work) {
    queue_->push(std::move(work));
    return Status();
  }

  HostFault &fault_;
  const uint32_t threads_;
  // Only for the queue's thread. Shared, since a caller's stream continues after this object is
  // destroyed.
  const std::shared_ptr<Status> outcome_ = std::make_shared<Status>();
  const std::shared_ptr<HostQueue> queue_;
};

// The callers' streams that exist now, and the legacy stream that all threads share.
struct CallersStreams {
  std::mutex mutex;
  std::map<const void *, std::shared_ptr<HostQueue>> queues;
  std::shared_ptr<HostQueue> legacy;  // created at its first use
};

CallersStreams &callers_streams() {
  static constinit process::OfProcess<CallersStreams> all;
  return all.get();
}

std::shared_ptr<HostQueue> queue_of(const void *handle) {
  if (handle == LC_STREAM_PER_THREAD) handle = HostCallersStream::of_this_thread().handle();
  CallersStreams &all = callers_streams();
  std::lock_guard lock(all.mutex);
  if (handle == LC_STREAM_LEGACY) {
    if (all.legacy == nullptr) all.legacy = std::make_shared<HostQueue>();
    return all.legacy;
  }
  const auto at = all.queues.find(handle);
  return at == all.queues.end() ? nullptr : at->second;
}

class HostDevice : public Device {
 public:
  explicit HostDevice(Properties properties) : properties_(std::move(properties)) {
    properties_.reaches_pinned = fault_.lets_kernels_reach();
  }
  ~HostDevice() override { fault_.release(); }

  const Properties &properties() const override { return properties_; }
  Result<std::unique_ptr<Buffer>> allocate(MemoryKind kind, uint64_t bytes) override {
    LC_TRY(fault_.on_allocation());
    // Refuse sizes near the largest integer, whose rounding to pages would wrap to 0.
    std::unique_ptr<void, decltype(&free)> memory(
        bytes > UINT64_MAX - (kPageBytes - 1)
            ? nullptr
            : aligned_alloc(kPageBytes, round_up(bytes, kPageBytes)),
        &free);
    if (memory == nullptr)
      return Status(LC_ERROR_MEMORY, "no memory for " + std::to_string(bytes) + " bytes");
    std::unique_ptr<Buffer> made(new HostBuffer(kind, memory.get(), bytes, book_));
    (void)memory.release();
    return made;
  }
  Result<std::unique_ptr<Buffer>> view(uint64_t address, uint64_t bytes) override {
    std::lock_guard lock(book_->mutex);
    auto at = book_->buffers.upper_bound(address);
    if (at == book_->buffers.begin() || address - (--at)->first >= at->second ||
        bytes > at->second - (address - at->first))
      return Status(LC_ERROR_ARGUMENT, "the memory is not inside a buffer of " + properties_.id);
    return std::unique_ptr<Buffer>(
        new HostBuffer(MemoryKind::kDevice, reinterpret_cast<void *>(address), bytes, nullptr));
  }
  Result<std::unique_ptr<Stream>> make_stream() override {
    try {
      return std::unique_ptr<Stream>(
          new HostStream(fault_, properties_.compute_units, std::make_shared<HostQueue>()));
    } catch (const std::system_error &error) {
      return Status(LC_ERROR_MEMORY, std::string("no thread for a stream: ") + error.what());
    }
  }
  // Has no priority here, but code that uses one can be tested without a GPU.
  Result<std::unique_ptr<Stream>> make_urgent_stream() override { return make_stream(); }
  Result<std::unique_ptr<Stream>> adopt_stream(void *handle) override {
    const std::shared_ptr<HostQueue> queue = queue_of(handle);
    if (queue == nullptr)
      return Status(LC_ERROR_ARGUMENT, "this is no stream of " + properties_.id);
    return std::unique_ptr<Stream>(new HostStream(fault_, properties_.compute_units, queue));
  }
  Result<std::unique_ptr<Event>> make_event() override {
    return std::unique_ptr<Event>(new HostEvent());
  }
  uint32_t resident_thread_blocks(const char *, uint32_t, uint32_t) override {
    return properties_.compute_units;
  }
  Result<std::unique_ptr<Buffer>> pin_in_place(void *memory, uint64_t bytes) override {
    LC_TRY(fault_.on_pin());
    const uint64_t start = reinterpret_cast<uint64_t>(memory);
    if (start % kPageBytes != 0 || bytes % kPageBytes != 0 || bytes == 0)
      return Status(LC_ERROR_ARGUMENT, "only whole pages can be pinned");
    PinnedPages &pages = pinned_pages();
    std::lock_guard lock(pages.mutex);
    const auto next = pages.ranges.upper_bound(start);
    if ((next != pages.ranges.end() && next->first < start + bytes) ||
        (next != pages.ranges.begin() && std::prev(next)->second > start))
      return Status(LC_ERROR_ARGUMENT, "these pages are pinned already");
    pages.ranges[start] = start + bytes;
    ++pages.ever;
    return std::unique_ptr<Buffer>(new HostPinnedPages(start, bytes));
  }
  bool pins_in_place() const override { return true; }
  void begin_service() override { fault_.begin_service(); }

 private:
  Properties properties_;
  HostFault fault_;
  std::shared_ptr<HostMemory> book_ = std::make_shared<HostMemory>();
};

}  // namespace

HostCallersStream::HostCallersStream() : queue_(std::make_shared<HostQueue>()) {
  CallersStreams &all = callers_streams();
  std::lock_guard lock(all.mutex);
  all.queues[queue_.get()] = queue_;
}

HostCallersStream::~HostCallersStream() {
  finish();
  CallersStreams &all = callers_streams();
  std::lock_guard lock(all.mutex);
  all.queues.erase(queue_.get());
}

HostCallersStream &HostCallersStream::of_this_thread() {
  thread_local HostCallersStream stream;
  return stream;
}

void HostCallersStream::run(std::function<void()> work) { queue_->push(std::move(work)); }

void HostCallersStream::finish() {
  const auto point = std::make_shared<HostPoint>();
  const uint64_t mark = point->begin_mark();
  queue_->push([point, mark] { point->end_mark(mark, Status()); });
  (void)point->wait();
}

uint64_t count_pinned_in_place() {
  PinnedPages &pages = pinned_pages();
  std::lock_guard lock(pages.mutex);
  return pages.ranges.size();
}

uint64_t pinnings_in_place() {
  PinnedPages &pages = pinned_pages();
  std::lock_guard lock(pages.mutex);
  return pages.ever;
}

std::vector<Found> find_host() {
  const char *threads = process::diagnostic_variable("LANECRYPT_HOST_THREADS");
  Properties properties;
  properties.api = "host";
  properties.platform = "host";
  properties.name = "emulator on the CPU, for tests";
  properties.driver = LC_VERSION_TEXT;
  properties.compute_units = std::clamp(std::thread::hardware_concurrency(), 1u, 64u);
  properties.memory_bytes = 0;
  properties.shared_bytes = 160 * 1024;
  properties.max_thread_block_size =
      threads == nullptr ? 1 : static_cast<uint32_t>(std::clamp(atoi(threads), 1, 64));
  properties.warp_threads = 1;
  properties.single_thread_subgroups =
      process::diagnostic_variable("LANECRYPT_HOST_SUBGROUPS") == nullptr;
  properties.bit_matrices = properties.warp_shuffle = properties.max_thread_block_size == 32;
  properties.flat_addresses = properties.reaches_pinned = properties.default_streams = true;
  properties.fast_fp64 = true;
  const char *kernels = process::diagnostic_variable("LANECRYPT_HOST_KERNELS");
  std::istringstream lists(kernels == nullptr ? "" : kernels);
  const char *count = process::diagnostic_variable("LANECRYPT_HOST_DEVICES");
  std::vector<Found> all;
  for (int n = 0; n < (count == nullptr ? 1 : std::clamp(atoi(count), 1, 16)); ++n) {
    properties.id = "host:" + std::to_string(n);
    std::string list;
    std::getline(lists, list, ';');
    properties.kernels = host_kernels_named(list);
    properties.kernel_sets = Properties().kernel_sets;
    if (!list.empty()) {
      properties.kernel_sets = 0;
      for (const std::string &kernel : properties.kernels)
        properties.kernel_sets |= bit_of(set_of_kernel(kernel));
    }
    all.push_back({properties, [properties](KernelSet) -> Result<std::unique_ptr<Device>> {
                     return std::unique_ptr<Device>(new HostDevice(properties));
                   }});
  }
  return all;
}

}  // namespace lanecrypt::device
