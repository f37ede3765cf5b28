// CUDA devices, by the driver API. They use the primary context, which the CUDA runtime uses too,
// so the application's pointers and streams can be used directly.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "device/cuda/driver.h"
#include "device/cuda/info.h"
#include "device/cuda/memory.h"
#include "device/cuda/open_card.h"
#include "device/cuda/own.h"
#include "device/device.h"
#include "job/round_up.h"

namespace lanecrypt::device {
namespace {

using namespace cuda;

constexpr uint64_t kPageBytes = 4096;

class CudaEvent : public Event {
 public:
  CudaEvent(const Driver &driver, CUevent event) : driver_(driver), event_(event) {}
  ~CudaEvent() override { (void)driver_.event_destroy(event_); }

  Status wait() override {
    // Polls first: a short job is over before a sleep would end. A long job must not keep a core
    // busy.
    for (int i = 0; i < 200; ++i) {
      const CUresult result = query();
      if (result != kErrorNotReady) return check(driver_, result, "cuEventQuery");
    }
    return wait_long();
  }
  Status wait_long() override {
    return check(driver_, driver_.event_synchronize(event_), "cuEventSynchronize");
  }
  bool reached() override { return query() != kErrorNotReady; }
  bool ended_well() override { return query() == kSuccess; }
  uint64_t nanoseconds_since(Event &earlier) override {
    float milliseconds = 0;
    const CUresult result =
        driver_.event_elapsed(&milliseconds, static_cast<CudaEvent &>(earlier).event_, event_);
    return result == kSuccess ? static_cast<uint64_t>(milliseconds * 1e6) : 0;
  }
  CUresult mark_in(CUstream stream) {
    has_ended_well_.store(false, std::memory_order_relaxed);
    return driver_.event_record(event_, stream);
  }
  CUevent get() const { return event_; }

 protected:
  // Caches success: the driver may take more than a microsecond to report again that an event was
  // reached.
  CUresult query() {
    if (has_ended_well_.load(std::memory_order_acquire)) return kSuccess;
    const CUresult result = driver_.event_query(event_);
    if (result == kSuccess) has_ended_well_.store(true, std::memory_order_release);
    return result;
  }

  const Driver &driver_;
  CUevent event_;

 private:
  std::atomic<bool> has_ended_well_ = false;  // since its last mark
};

// An event without a blocking wait in the driver. The interrupt that a blocking wait needs costs
// the card 3 us at each mark, more than a short kernel. A long wait sleeps and polls instead. An
// event that also measures time takes 2 us more.
class CudaQuietEvent : public CudaEvent {
 public:
  using CudaEvent::CudaEvent;

  Status wait_long() override {
    using std::chrono::microseconds;
    const auto begin = std::chrono::steady_clock::now();
    for (;;) {
      const CUresult result = query();
      if (result != kErrorNotReady) return check(driver_, result, "cuEventQuery");
      // Sleeps for a 64th of the wait so far, which adds little to it. The system adds some 50 us
      // to each sleep.
      const auto waited =
          std::chrono::duration_cast<microseconds>(std::chrono::steady_clock::now() - begin);
      std::this_thread::sleep_for(std::clamp(waited / 64, microseconds(10), microseconds(1000)));
    }
  }
};

// What launches need of the kernels. Shared by the streams of one user, which takes no lock for a
// kernel that it has launched before.
class Kernels {
 public:
  Kernels(const Driver &driver, std::shared_ptr<LoadedSet> set)
      : driver_(driver), set_(std::move(set)) {}

  const LoadedSet &set() const { return *set_; }
  Result<CUfunction> find(const char *name, uint32_t shared_bytes) {
    Kernel &kernel = known(name).kernel;
    if (kernel.function == nullptr || shared_bytes > kernel.shared_bytes) {
      Result<Kernel> found = set_->find(name, shared_bytes);
      if (!found.ok()) return found.status();
      kernel = *found;
    }
    return kernel.function;
  }
  // Returns how many such thread blocks a multiprocessor runs at once. Queries the driver only if
  // this is not the same question as the last one.
  uint32_t thread_blocks_at_once(const char *name, uint32_t threads, uint32_t shared_bytes) {
    Residency &last = known(name).residency;
    if (last.thread_blocks != 0 && last.threads == threads && last.shared_bytes == shared_bytes)
      return last.thread_blocks;
    int thread_blocks = 0;
    Result<CUfunction> function = find(name, shared_bytes);
    const bool is_told =
        function.ok() && driver_.occupancy(&thread_blocks, *function, static_cast<int>(threads),
                                           shared_bytes) == kSuccess;
    const uint32_t at_least_one = thread_blocks > 0 ? static_cast<uint32_t>(thread_blocks) : 1;
    if (is_told) last = {threads, shared_bytes, at_least_one};
    return at_least_one;
  }

 private:
  struct Residency {
    uint32_t threads = 0, shared_bytes = 0, thread_blocks = 0;
  };
  struct Known {
    Kernel kernel;
    Residency residency;
  };

  Known &known(const char *name) {
    const auto found = kernels_.find(name);
    return found != kernels_.end() ? found->second : kernels_[name];
  }

  const Driver &driver_;
  const std::shared_ptr<LoadedSet> set_;
  std::map<std::string, Known, std::less<>> kernels_;
};

class CudaStream : public Stream {
 public:
  CudaStream(const Driver &driver, Kernels &kernels, CUstream stream, bool owned)
      : driver_(driver), kernels_(kernels), stream_(stream), owned_(owned) {}
  ~CudaStream() override {
    if (owned_) (void)driver_.stream_destroy(stream_);
  }

  Status upload(const Buffer &to, uint64_t offset, const void *from, uint64_t bytes) override {
    return check(driver_, driver_.copy_up(to.address() + offset, from, bytes, stream_),
                 "copy to the device");
  }
  Status download(void *to, const Buffer &from, uint64_t offset, uint64_t bytes) override {
    return check(driver_, driver_.copy_down(to, from.address() + offset, bytes, stream_),
                 "copy from the device");
  }
  Status copy(const Buffer &to, uint64_t to_offset, const Buffer &from, uint64_t from_offset,
              uint64_t bytes) override {
    return check(driver_,
                 driver_.copy_on_device(to.address() + to_offset, from.address() + from_offset,
                                        bytes, stream_),
                 "copy on the device");
  }
  Status zero(const Buffer &buffer, uint64_t offset, uint64_t bytes) override {
    return check(driver_, driver_.fill(buffer.address() + offset, 0, bytes, stream_),
                 "clearing device memory");
  }
  Status launch(const Launch &launch) override {
    Result<CUfunction> function = kernels_.find(launch.kernel, launch.shared_bytes);
    if (!function.ok()) return function.status();
    constexpr size_t kMostArguments = 16;
    if (launch.arguments.size() > kMostArguments)
      return Status(LC_ERROR_INTERNAL, "too many kernel arguments");
    uint64_t values[kMostArguments];
    void *parameters[kMostArguments];
    for (size_t n = 0; n < launch.arguments.size(); ++n) {
      parameters[n] = &values[n];
      const Argument &argument = launch.arguments[n];
      if (const auto *buffer = std::get_if<const Buffer *>(&argument))
        values[n] = *buffer == nullptr ? 0 : (*buffer)->address();
      else if (const auto *word = std::get_if<uint32_t>(&argument))
        values[n] = *word;  // the driver reads its first four bytes
      else
        values[n] = std::get<uint64_t>(argument);
    }
    LaunchAttribute overlap = {};
    overlap.id = kProgrammaticStreamSerialization;
    overlap.value = 1;
    const LaunchConfig config = {.grid_x = launch.thread_blocks,
                                 .grid_y = 1,
                                 .grid_z = 1,
                                 .block_x = launch.thread_block_size,
                                 .block_y = 1,
                                 .block_z = 1,
                                 .shared_bytes = launch.shared_bytes,
                                 .stream = stream_,
                                 .attributes = &overlap,
                                 .attribute_count = launch.overlaps_previous ? 1u : 0u};
    return check(driver_, driver_.launch(&config, *function, parameters, nullptr), launch.kernel);
  }
  Status mark(Event &event) override {
    return check(driver_, static_cast<CudaEvent &>(event).mark_in(stream_), "cuEventRecord");
  }
  Status await(Event &event) override {
    return check(driver_, driver_.stream_wait(stream_, static_cast<CudaEvent &>(event).get(), 0),
                 "cuStreamWaitEvent");
  }
  Status finish() override {
    return check(driver_, driver_.stream_synchronize(stream_), "cuStreamSynchronize");
  }

 private:
  const Driver &driver_;
  Kernels &kernels_;
  CUstream stream_;
  bool owned_;
};

// While the program captures a stream into a graph, no thread of the process may allocate memory or
// wait, unless the thread declares that its calls have nothing to do with the capture. This
// declares it for the calling thread, one of Lanecrypt's own.
void stay_out_of_captures(const Driver &driver) {
  int mode = kCaptureRelaxed;
  (void)driver.exchange_capture_mode(&mode);
}

// Prepares a thread of the caller for use by Lanecrypt: makes our context current, above the
// thread's own if that is another, and excludes the thread from captures. The destructor restores
// both.
class AsBefore {
 public:
  AsBefore(const Driver &driver, CUcontext ours) : driver_(driver) {
    CUcontext its = nullptr;
    const bool is_there = driver.get_current(&its) == kSuccess && its == ours;
    was_pushed_ = !is_there && driver.push_current(ours) == kSuccess;
    has_ours_ = is_there || was_pushed_;
    if (has_ours_) (void)driver.exchange_capture_mode(&mode_);
  }
  ~AsBefore() {
    if (has_ours_) (void)driver_.exchange_capture_mode(&mode_);
    CUcontext ours = nullptr;
    if (was_pushed_) (void)driver_.pop_current(&ours);
  }
  AsBefore(const AsBefore &) = delete;

  bool has_ours() const { return has_ours_; }

 private:
  const Driver &driver_;
  bool was_pushed_ = false, has_ours_ = false;
  int mode_ = kCaptureRelaxed;  // the driver exchanges it with the thread's mode
};

// One user of an open card, with one set of kernels.
class CudaDevice : public Device {
 public:
  CudaDevice(const Driver &driver, Properties properties, std::shared_ptr<OpenCard> card,
             std::shared_ptr<LoadedSet> set)
      : driver_(driver),
        properties_(std::move(properties)),
        card_(std::move(card)),
        kernels_(std::make_unique<Kernels>(driver, std::move(set))) {
    if (const LoadedSet &mine = kernels_->set(); mine.key_slot_bytes() != 0)
      key_slot_ = std::make_unique<CudaBuffer>(driver, MemoryKind::kDevice, mine.key_slot(),
                                               mine.key_slot_bytes(), false);
  }
  ~CudaDevice() override {
    kernels_.reset();
    (void)driver_.set_current(nullptr);
  }

  const Properties &properties() const override { return properties_; }

  Result<std::unique_ptr<Buffer>> allocate(MemoryKind kind, uint64_t bytes) override {
    // Refuse sizes near the largest integer: the additional page here, and the driver's own
    // rounding, would wrap to a few bytes.
    if (bytes > INT64_MAX)
      return Status(LC_ERROR_MEMORY, "no memory for " + std::to_string(bytes) + " bytes");
    if (kind == MemoryKind::kDevice) {
      CUdeviceptr memory = 0;
      LC_TRY(check(driver_, driver_.memory_allocate(&memory, bytes), "device memory"));
      return own<Buffer, CudaBuffer>([&] { (void)driver_.memory_free(memory); }, driver_, kind,
                                     memory, bytes, memory);
    }
    // The driver packs small allocations together, not aligned to pages.
    void *memory = nullptr;
    LC_TRY(check(driver_,
                 driver_.host_allocate(&memory, bytes + kPageBytes - 1, kMemHostAllocPortable),
                 "pinned host memory"));
    const uint64_t owned = reinterpret_cast<uint64_t>(memory);
    const uint64_t page = round_up(owned, kPageBytes);
    return own<Buffer, CudaBuffer>([&] { (void)driver_.host_free(memory); }, driver_, kind, page,
                                   bytes, owned);
  }
  Result<std::unique_ptr<Buffer>> view(uint64_t address, uint64_t bytes) override {
    CUdeviceptr start = 0;
    size_t room = 0;
    if (driver_.address_range(&start, &room, address) != kSuccess)
      return Status(LC_ERROR_ARGUMENT, "this is no address of device memory");
    if (bytes > room - (address - start))
      return Status(LC_ERROR_ARGUMENT, "it reaches past the end of its device memory");
    return std::unique_ptr<Buffer>(new CudaBuffer(driver_, MemoryKind::kDevice, address, bytes, 0));
  }
  Result<std::unique_ptr<Stream>> make_stream() override { return stream_of(0); }
  Result<std::unique_ptr<Stream>> make_urgent_stream() override {
    int least = 0, greatest = 0;
    LC_TRY(check(driver_, driver_.priorities(&least, &greatest), "cuCtxGetStreamPriorityRange"));
    return stream_of(greatest);
  }
  Result<std::unique_ptr<Stream>> adopt_stream(void *handle) override {
    int capturing = 0;
    const CUresult asked = driver_.stream_is_capturing(static_cast<CUstream>(handle), &capturing);
    // The legacy stream must not be used while another one is captured.
    if (capturing != 0 || asked == kErrorStreamCaptureImplicit)
      return Status(LC_ERROR_UNSUPPORTED, "the stream is being captured into a graph");
    if (asked != kSuccess)
      return Status(LC_ERROR_ARGUMENT, "this is no stream of " + properties_.id + ": " +
                                           error(driver_, asked, "cuStreamIsCapturing").text());
    return std::unique_ptr<Stream>(
        new CudaStream(driver_, *kernels_, static_cast<CUstream>(handle), false));
  }
  Result<std::unique_ptr<Stream>> adopt_captured_stream(void *handle) override {
    int capturing = kCaptureNone;
    LC_TRY(check(driver_, driver_.stream_is_capturing(static_cast<CUstream>(handle), &capturing),
                 "cuStreamIsCapturing"));
    if (capturing != kCaptureActive)
      return Status(LC_ERROR_ARGUMENT, capturing == kCaptureNone
                                           ? "the stream is not being captured into a graph"
                                           : "the stream's capture has failed before");
    return std::unique_ptr<Stream>(
        new CudaStream(driver_, *kernels_, static_cast<CUstream>(handle), false));
  }
  Result<std::unique_ptr<Event>> make_event() override {
    return event_of<CudaEvent>(kEventBlockingSync);
  }
  Result<std::unique_ptr<Event>> make_quiet_event() override {
    return event_of<CudaQuietEvent>(kEventDisableTiming);
  }
  Result<std::unique_ptr<Event>> make_timed_quiet_event() override {
    return event_of<CudaQuietEvent>(0);
  }
  const Buffer *key_slot() override { return key_slot_.get(); }
  uint32_t resident_thread_blocks(const char *kernel, uint32_t thread_block_size,
                                  uint32_t shared_bytes) override {
    return properties_.compute_units *
           kernels_->thread_blocks_at_once(kernel, thread_block_size, shared_bytes);
  }
  Result<std::unique_ptr<Buffer>> pin_in_place(void *start, uint64_t bytes) override {
    return pin_pages(driver_, start, bytes);
  }
  bool pins_in_place() const override { return true; }
  bool program_has_pinned(const void *start, uint64_t bytes) override {
    return cuda::program_has_pinned(driver_, start, bytes);
  }
  void attach_thread() override {
    (void)driver_.set_current(card_->context());
    stay_out_of_captures(driver_);
  }
  void on_callers_thread(const std::function<void()> &work) override {
    const AsBefore as_before(driver_, card_->context());
    if (as_before.has_ours()) work();
  }

 private:
  template <class Kind>
  Result<std::unique_ptr<Event>> event_of(unsigned flags) {
    CUevent event = nullptr;
    LC_TRY(check(driver_, driver_.event_create(&event, flags), "cuEventCreate"));
    return own<Event, Kind>([&] { (void)driver_.event_destroy(event); }, driver_, event);
  }
  // Priorities are 0 and, for more urgent streams, negative.
  Result<std::unique_ptr<Stream>> stream_of(int priority) {
    CUstream stream = nullptr;
    LC_TRY(check(driver_, driver_.stream_create(&stream, kStreamNonBlocking, priority),
                 "cuStreamCreateWithPriority"));
    return own<Stream, CudaStream>([&] { (void)driver_.stream_destroy(stream); }, driver_,
                                   *kernels_, stream, true);
  }

  const Driver &driver_;
  Properties properties_;
  const std::shared_ptr<OpenCard> card_;
  std::unique_ptr<Kernels> kernels_;
  std::unique_ptr<Buffer> key_slot_;
};

Result<std::unique_ptr<Device>> open_cuda(const Driver &driver, CUdevice device,
                                          const Properties &properties, KernelSet set) {
  Result<std::shared_ptr<OpenCard>> card = OpenCard::open(driver, device);
  if (!card.ok()) return card.status();
  LC_TRY(check(driver, driver.set_current((*card)->context()), "cuCtxSetCurrent"));
  stay_out_of_captures(driver);
  Result<std::shared_ptr<LoadedSet>> loaded = (*card)->load(set);
  if (!loaded.ok()) {
    (void)driver.set_current(nullptr);
    return loaded.status();
  }
  return std::unique_ptr<Device>(
      new CudaDevice(driver, properties, std::move(*card), std::move(*loaded)));
}

}  // namespace

std::string why_no_cuda() { return cuda::is_of_parent() ? kUsedByParent : ""; }

std::vector<Found> find_cuda() {
  std::vector<Found> found;
  Status why;
  const Driver *driver = cuda::driver(&why);
  if (driver == nullptr) {
    // A driver that exists but cannot be used is reported; a missing driver is not.
    if (why.code() == LC_ERROR_UNSUPPORTED) {
      Properties properties;
      properties.id = "cuda:0";
      properties.api = properties.platform = "cuda";
      properties.name = "NVIDIA driver";
      properties.unusable = why.text();
      properties.is_gpu = true;
      found.push_back(
          {properties, [why](KernelSet) -> Result<std::unique_ptr<Device>> { return why; }});
    }
    return found;
  }
  int count = 0;
  if (driver->device_count(&count) != kSuccess) return found;
  for (int number = 0; number < count; ++number) {
    CUdevice device = 0;
    if (driver->device_get(&device, number) != kSuccess) continue;
    const Properties properties = describe(*driver, device, number);
    found.push_back({properties, [driver, device, properties](KernelSet set) {
                       return open_cuda(*driver, device, properties, set);
                     }});
  }
  return found;
}

}  // namespace lanecrypt::device
