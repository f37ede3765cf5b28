// CUDA devices, by the driver API, in the primary context that the CUDA
// runtime uses too: pointers and streams of the application are ours to use.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <utility>

#include "device/cuda/driver.h"
#include "device/device.h"
#include "device/open_once.h"

// The kernels of each set, for every architecture (cmake/kernels.cmake).
#define LC_FATBIN(name, ...) extern "C" const unsigned char lanecrypt_##name##_fatbin[];
LC_KERNEL_SETS(LC_FATBIN)
#undef LC_FATBIN

namespace lanecrypt::device {
namespace {

using namespace cuda;

#define LC_FATBIN(name, ...) lanecrypt_##name##_fatbin,
constexpr const unsigned char *kFatbins[] = {LC_KERNEL_SETS(LC_FATBIN)};
#undef LC_FATBIN

constexpr int kOldestMajor = 7, kOldestMinor = 5;
constexpr uint64_t kPageBytes = 4096;

Status check(const Driver &driver, CUresult result, const char *what) {
  return result == kSuccess ? Status() : error(driver, result, what);
}

// An object of what the driver has given, from its parts. If there is no memory for the object,
// `give_back` returns that to the driver.
template <class Base, class Made, class GiveBack, class... Parts>
Result<std::unique_ptr<Base>> own(const GiveBack &give_back, Parts &&...parts) {
  if (auto *const made = new (std::nothrow) Made(std::forward<Parts>(parts)...))
    return std::unique_ptr<Base>(made);
  give_back();
  return Status(LC_ERROR_MEMORY, "out of memory");
}

class CudaBuffer : public Buffer {
 public:
  // `owned` is what the driver gave, 0 for a view.
  CudaBuffer(const Driver &driver, MemoryKind kind, uint64_t address, uint64_t bytes,
             uint64_t owned)
      : Buffer(kind, address, bytes), driver_(driver), owned_(owned) {}
  // Failures are ignored: at exit the driver may be gone before us.
  ~CudaBuffer() override {
    if (owned_ == 0) return;
    if (kind() == MemoryKind::kDevice)
      (void)driver_.memory_free(owned_);
    else
      (void)driver_.host_free(reinterpret_cast<void *>(owned_));
  }

 private:
  const Driver &driver_;
  uint64_t owned_;
};

// The caller's pages that this process has pinned for now, by their first byte. What else the
// driver calls pinned, such as pinned tensors of PyTorch's, the program has pinned itself.
struct PinnedByUs {
  std::mutex mutex;
  std::map<uint64_t, uint64_t> ends;

  static PinnedByUs &of_process() {
    static auto &all = *new PinnedByUs();
    return all;
  }
  // Under the lock.
  bool overlap(uint64_t begin, uint64_t end) const {
    const auto behind = ends.lower_bound(end);
    return behind != ends.begin() && std::prev(behind)->second > begin;
  }
};

// Pages of the caller's. They go on a thread that is attached to the device.
class CudaPinnedPages : public Buffer {
 public:
  static Result<std::unique_ptr<Buffer>> pin(const Driver &driver, void *start, uint64_t bytes) {
    PinnedByUs &ours = PinnedByUs::of_process();
    const std::lock_guard lock(ours.mutex);
    const auto begin = reinterpret_cast<uint64_t>(start);
    // First, since there may be no memory for it. Another job may have the same pages.
    const auto [entry, is_new] = ours.ends.try_emplace(begin, begin + bytes);
    const Status status =
        check(driver, driver.host_register(start, bytes, 0), "pinning host memory");
    Result<std::unique_ptr<Buffer>> pages =
        status.ok() ? own<Buffer, CudaPinnedPages>([&] { (void)driver.host_unregister(start); },
                                                   driver, begin, bytes)
                    : status;
    if (!pages.ok() && is_new) ours.ends.erase(entry);
    return pages;
  }
  // Of pages that the driver has pinned.
  CudaPinnedPages(const Driver &driver, uint64_t start, uint64_t bytes)
      : Buffer(MemoryKind::kPinned, start, bytes), driver_(driver) {}
  ~CudaPinnedPages() override {
    PinnedByUs &ours = PinnedByUs::of_process();
    const std::lock_guard lock(ours.mutex);
    (void)driver_.host_unregister(host());
    ours.ends.erase(address());
  }

 private:
  const Driver &driver_;
};

// Whether all of it is in one allocation of pinned memory.
bool is_pinned(const Driver &driver, uint64_t begin, uint64_t bytes) {
  unsigned type = 0;
  uint64_t start = 0;
  size_t size = 0;
  return driver.pointer_attribute(&type, kMemoryType, begin) == kSuccess &&
         type == kMemoryTypeHost &&
         driver.pointer_attribute(&start, kRangeStart, begin) == kSuccess &&
         driver.pointer_attribute(&size, kRangeSize, begin) == kSuccess && start <= begin &&
         bytes <= size && begin - start <= size - bytes;
}

class CudaEvent : public Event {
 public:
  CudaEvent(const Driver &driver, CUevent event) : driver_(driver), event_(event) {}
  ~CudaEvent() override { (void)driver_.event_destroy(event_); }

  Status wait() override {
    // A short job is over before a sleep would end; a long one must not keep
    // a core busy.
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
  // The driver may take more than a microsecond to say again that an event was reached.
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

// One that wakes nobody: an interrupt for who might sleep takes the card 3 us at each mark, more than
// a short kernel. Who waits for long sleeps and looks again. To tell the time takes 2 us more.
class CudaQuietEvent : public CudaEvent {
 public:
  using CudaEvent::CudaEvent;

  Status wait_long() override {
    using std::chrono::microseconds;
    const auto begin = std::chrono::steady_clock::now();
    for (;;) {
      const CUresult result = query();
      if (result != kErrorNotReady) return check(driver_, result, "cuEventQuery");
      // A 64th of the wait so far is little against the wait. The system sleeps some 50 us more.
      const auto waited =
          std::chrono::duration_cast<microseconds>(std::chrono::steady_clock::now() - begin);
      std::this_thread::sleep_for(std::clamp(waited / 64, microseconds(10), microseconds(1000)));
    }
  }
};

// A kernel as it was loaded, and the shared memory that it is allowed.
struct Kernel {
  CUfunction function = nullptr;
  uint32_t local_bytes = 0;
};

// A set of kernels, loaded once for all who use it. Any thread that has the card's context;
// so has the one on which it goes.
class LoadedSet {
 public:
  LoadedSet(const Driver &driver, CUmodule module) : driver_(driver), module_(module) {
    if (driver.module_global(&key_slot_, &key_slot_bytes_, module, "block_key_slot") != kSuccess)
      key_slot_bytes_ = 0;
  }
  ~LoadedSet() { (void)driver_.module_unload(module_); }
  LoadedSet(const LoadedSet &) = delete;

  CUdeviceptr key_slot() const { return key_slot_; }
  size_t key_slot_bytes() const { return key_slot_bytes_; }
  Result<Kernel> find(const std::string &name, uint32_t local_bytes) {
    const std::lock_guard lock(mutex_);
    Kernel &kernel = kernels_[name];
    if (kernel.function == nullptr)
      LC_TRY(check(driver_, driver_.module_function(&kernel.function, module_, name.c_str()),
                   name.c_str()));
    // Beyond 48 KiB a kernel must be allowed its shared memory; never less than others want.
    if (local_bytes > kernel.local_bytes) {
      LC_TRY(check(driver_,
                   driver_.function_set(kernel.function, kMaxDynamicSharedSizeBytes,
                                        static_cast<int>(local_bytes)),
                   name.c_str()));
      kernel.local_bytes = local_bytes;
    }
    return kernel;
  }

 private:
  const Driver &driver_;
  const CUmodule module_;
  CUdeviceptr key_slot_ = 0;
  size_t key_slot_bytes_ = 0;
  std::mutex mutex_;
  std::map<std::string, Kernel> kernels_;
};

// A card while anybody uses it: its primary context, and the sets that were wanted so far.
class OpenCard {
 public:
  OpenCard(const Driver &driver, CUdevice device, CUcontext context)
      : driver_(driver), device_(device), context_(context) {}
  ~OpenCard() { (void)driver_.primary_release(device_); }
  OpenCard(const OpenCard &) = delete;

  static Result<std::shared_ptr<OpenCard>> open(const Driver &driver, CUdevice device) {
    static auto &all = *new OpenOnce<CUdevice, OpenCard>();
    return all.get(device, [&]() -> Result<std::shared_ptr<OpenCard>> {
      CUcontext context = nullptr;
      LC_TRY(check(driver, driver.primary_retain(&context, device), "opening the device"));
      return std::make_shared<OpenCard>(driver, device, context);
    });
  }

  CUcontext context() const { return context_; }
  // On a thread that has the context. Who wants a set that is being loaded waits for that.
  Result<std::shared_ptr<LoadedSet>> load(KernelSet set) {
    Place &place = sets_[static_cast<uint32_t>(set)];
    const std::lock_guard lock(place.mutex);
    if (std::shared_ptr<LoadedSet> shared = place.loaded.lock()) return shared;
    CUmodule module = nullptr;
    LC_TRY(check(driver_, driver_.module_load(&module, kFatbins[static_cast<uint32_t>(set)]),
                 "loading the kernels"));
    auto loaded = std::make_shared<LoadedSet>(driver_, module);
    // Who launches kernels that read the slot must have it for himself.
    if (loaded->key_slot_bytes() == 0) place.loaded = loaded;
    return loaded;
  }

 private:
  struct Place {
    std::mutex mutex;
    std::weak_ptr<LoadedSet> loaded;
  };
  const Driver &driver_;
  const CUdevice device_;
  const CUcontext context_;
  std::array<Place, std::size(kKernelSets)> sets_;
};

// What a launch needs of a kernel; shared by the streams of one user, who takes no lock for a
// kernel that he has launched before.
class Kernels {
 public:
  Kernels(const Driver &driver, std::shared_ptr<LoadedSet> set)
      : driver_(driver), set_(std::move(set)) {}

  const LoadedSet &set() const { return *set_; }
  Result<CUfunction> find(const char *name, uint32_t local_bytes) {
    Kernel &kernel = known(name).kernel;
    if (kernel.function == nullptr || local_bytes > kernel.local_bytes) {
      Result<Kernel> found = set_->find(name, local_bytes);
      if (!found.ok()) return found.status();
      kernel = *found;
    }
    return kernel.function;
  }
  // Of such groups, how many a multiprocessor has at once. The driver is asked where that is not
  // what was asked last.
  uint32_t groups_at_once(const char *name, uint32_t lanes, uint32_t local_bytes) {
    Residency &last = known(name).residency;
    if (last.groups != 0 && last.lanes == lanes && last.local_bytes == local_bytes)
      return last.groups;
    int groups = 0;
    Result<CUfunction> function = find(name, local_bytes);
    const bool is_told =
        function.ok() &&
        driver_.occupancy(&groups, *function, static_cast<int>(lanes), local_bytes) == kSuccess;
    const uint32_t at_least_one = groups > 0 ? static_cast<uint32_t>(groups) : 1;
    if (is_told) last = {lanes, local_bytes, at_least_one};
    return at_least_one;
  }

 private:
  struct Residency {
    uint32_t lanes = 0, local_bytes = 0, groups = 0;
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
    return check(
        driver_,
        driver_.copy_across(to.address() + to_offset, from.address() + from_offset, bytes, stream_),
        "copy on the device");
  }
  Status zero(const Buffer &buffer, uint64_t offset, uint64_t bytes) override {
    return check(driver_, driver_.fill(buffer.address() + offset, 0, bytes, stream_),
                 "clearing device memory");
  }
  Status launch(const Launch &launch) override {
    Result<CUfunction> function = kernels_.find(launch.kernel, launch.local_bytes);
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
    LaunchAttribute beside = {};
    beside.id = kProgrammaticStreamSerialization;
    beside.value = 1;
    const LaunchConfig config = {.grid_x = launch.groups,
                                 .grid_y = 1,
                                 .grid_z = 1,
                                 .block_x = launch.group_lanes,
                                 .block_y = 1,
                                 .block_z = 1,
                                 .shared_bytes = launch.local_bytes,
                                 .stream = stream_,
                                 .attributes = &beside,
                                 .attribute_count = launch.beside_last ? 1u : 0u};
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

// While the program captures a stream into a graph, no thread of the process may allocate
// memory or wait, unless the thread says that its calls have nothing to do with the capture.
// Those of our threads never have.
void stay_out_of_captures(const Driver &driver) {
  int mode = kCaptureRelaxed;
  (void)driver.exchange_capture_mode(&mode);
}

// What a caller's thread has while it is ours: our context, on top of its own if that is another,
// and no part in captures. It goes back when this goes.
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
  int mode_ = kCaptureRelaxed;  // the other one, which the driver exchanges for it
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
    // Near the end of what a number holds, the page below, and what the driver rounds up
    // by itself, would come out as a few bytes.
    if (bytes > INT64_MAX)
      return Status(LC_ERROR_MEMORY, "no memory for " + std::to_string(bytes) + " bytes");
    if (kind == MemoryKind::kDevice) {
      CUdeviceptr memory = 0;
      LC_TRY(check(driver_, driver_.memory_allocate(&memory, bytes), "device memory"));
      return own<Buffer, CudaBuffer>([&] { (void)driver_.memory_free(memory); }, driver_, kind,
                                     memory, bytes, memory);
    }
    // The driver packs small allocations together, off the page.
    void *memory = nullptr;
    LC_TRY(check(driver_,
                 driver_.host_allocate(&memory, bytes + kPageBytes - 1, kMemHostAllocPortable),
                 "pinned host memory"));
    const uint64_t owned = reinterpret_cast<uint64_t>(memory);
    const uint64_t page = (owned + kPageBytes - 1) / kPageBytes * kPageBytes;
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
    // The legacy stream must not be touched while another one is captured.
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
  uint32_t resident_groups(const char *kernel, uint32_t group_lanes,
                           uint32_t local_bytes) override {
    return properties_.compute_units * kernels_->groups_at_once(kernel, group_lanes, local_bytes);
  }
  Result<std::unique_ptr<Buffer>> pin_in_place(void *start, uint64_t bytes) override {
    return CudaPinnedPages::pin(driver_, start, bytes);
  }
  bool pins_in_place() const override { return true; }
  bool program_has_pinned(const void *start, uint64_t bytes) override {
    const auto begin = reinterpret_cast<uint64_t>(start);
    if (!is_pinned(driver_, begin, bytes)) return false;
    // What another job has pinned goes when that ends.
    PinnedByUs &ours = PinnedByUs::of_process();
    const std::lock_guard lock(ours.mutex);
    return !ours.overlap(begin, begin + bytes) && is_pinned(driver_, begin, bytes);
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
  // Priorities are 0 and, the greater, below.
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

Properties describe(const Driver &driver, CUdevice device, int number) {
  const auto attribute = [&](int which) {
    int value = 0;
    (void)driver.device_attribute(&value, which, device);
    return value;
  };
  Properties properties;
  char name[128] = "unknown";
  (void)driver.device_name(name, sizeof name, device);
  size_t memory = 0;
  (void)driver.device_memory(&memory, device);
  int version = 0;
  (void)driver.driver_version(&version);
  const int major = attribute(kComputeCapabilityMajor), minor = attribute(kComputeCapabilityMinor);
  properties.id = "cuda:" + std::to_string(number);
  properties.api = properties.platform = "cuda";
  properties.name = name;
  properties.driver =
      "CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
  properties.memory_bytes = memory;
  properties.compute_units = static_cast<uint32_t>(attribute(kMultiprocessorCount));
  properties.local_bytes = static_cast<uint32_t>(attribute(kMaxSharedMemoryPerBlockOptin));
  properties.max_group_lanes = static_cast<uint32_t>(attribute(kMaxThreadsPerBlock));
  properties.team_lanes = 32;
  properties.lone_teams = false;
  properties.banked_local = true;
  properties.bit_matrices = major >= 8;
  properties.word_of_lane = true;
  properties.is_gpu = true;
  properties.pairs_launches = major >= 9;
  properties.flat_addresses = properties.default_streams = true;
  // Then kernels have all that cuMemHostAlloc() gives at the address that the host has
  // it, whatever the flags.
  properties.reaches_pinned = attribute(kUnifiedAddressing) != 0;
  // As FAST_FP64 in teams.h.
  properties.fast_fp64 = minor == 0 && major >= 8 && major <= 10;
  properties.pci_address = static_cast<uint64_t>(attribute(kPciDomainId)) << 16 |
                           static_cast<uint64_t>(attribute(kPciBusId)) << 8 |
                           static_cast<uint64_t>(attribute(kPciDeviceId)) << 3;
  if (major < kOldestMajor || (major == kOldestMajor && minor < kOldestMinor))
    properties.unusable = "compute capability " + std::to_string(major) + "." +
                          std::to_string(minor) + " is too old: 7.5 is needed";
  return properties;
}

}  // namespace

std::vector<Found> find_cuda() {
  std::vector<Found> found;
  Status why;
  const Driver *driver = cuda::driver(&why);
  if (driver == nullptr) {
    // A driver that is there and cannot be used is worth a word; none is not.
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
