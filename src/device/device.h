// What a GPU is to Lanecrypt: a device with memory, streams and kernels that
// are launched by name. One folder beside this file implements it for each
// API; nothing outside that folder knows the API.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "device/kernel_sets.h"
#include "job/status.h"

namespace lanecrypt::device {

// What is known of a device; of some APIs more when it is open.
struct Properties {
  std::string id;        // "cuda:0": the API and the number among its devices
  std::string api;       // "cuda", "opencl", "gl", "host"
  std::string name;      // the model
  std::string driver;    // version of the driver or platform
  std::string platform;  // OpenCL: the platform; otherwise the API again
  std::string unusable;  // why it cannot be opened; empty when it can
  uint64_t memory_bytes = 0;
  uint32_t compute_units = 0;
  uint32_t shared_bytes = 0;           // local (shared) memory one thread block may use
  uint32_t max_thread_block_size = 0;  // most threads of one thread block
  // A kernel runs only in thread blocks of as many threads as its KERNEL line names, or
  // of max_thread_block_size where that is less.
  bool fixed_thread_block_size = false;
  // Then: the threads of kernels that take a stream a thread, where they are fewer than
  // those of the others (LC_CHAIN_THREADS); 0: they are not. A few thousand streams
  // reach every multiprocessor only in small thread blocks.
  uint32_t chain_thread_block_size = 0;
  uint32_t warp_threads = 1;   // WARP_THREADS of platform.h as compiled for this device
  bool banked_shared = false;  // shared memory is on the chip, in 32 banks of 4 bytes
  bool bit_matrices = false;   // LC_BIT_MATRICES of platform.h, and thread blocks of whole warps
  bool warp_shuffle = false;   // HAS_WARP_SHUFFLE of platform.h, and the same thread blocks
  bool is_gpu = false;
  bool pairs_launches = false;  // see Launch::overlaps_previous
  // Has the kernels of RSA that multiply in FP64, and units as fast as they want.
  bool fast_fp64 = false;
  // Addresses of different buffers may share one launch, and kernels take any part of one.
  bool flat_addresses = false;
  // Kernels read and write kPinned memory of allocate() by its address.
  bool reaches_pinned = false;
  // LC_STREAM_LEGACY and LC_STREAM_PER_THREAD are streams here.
  bool default_streams = false;
  // The sets of kernels that it has, each by its bit_of(); known before a device is open.
  uint32_t kernel_sets = ~uint32_t{0};
  bool has(KernelSet set) const { return (kernel_sets & bit_of(set)) != 0; }
  bool single_thread_subgroups =
      true;  // SINGLE_THREAD_SUBGROUPS of warps.h: a thread has a number of RSA for itself
  // The names of its kernels; empty: all that kernels/ has. Of an API that does
  // not tell before a device is open, Device::properties() has them.
  std::vector<std::string> kernels;
  // A number that two APIs give alike to one card (PCI domain, bus, device); 0: unknown.
  uint64_t pci_address = 0;
};

enum class MemoryKind {
  kDevice,  // on the device; the host cannot touch it
  kPinned,  // on the host, readable and writable by the device's copy engines, and
            // by its kernels where Properties::reaches_pinned says so
};

// A piece of memory, freed when it goes. Of kDevice, `address` is unique in
// the process, aligned to 256 bytes, and may be offset by arithmetic. Of
// kPinned, `address` is the host pointer.
class Buffer {
 public:
  virtual ~Buffer() = default;
  uint64_t address() const { return address_; }
  uint64_t bytes() const { return bytes_; }
  MemoryKind kind() const { return kind_; }
  // kPinned only.
  uint8_t *host() const { return reinterpret_cast<uint8_t *>(address_); }

 protected:
  Buffer(MemoryKind kind, uint64_t address, uint64_t bytes)
      : kind_(kind), address_(address), bytes_(bytes) {}

 private:
  MemoryKind kind_;
  uint64_t address_, bytes_;
};

// A part of a kPinned buffer, which must stay: what a kernel is to read or to write.
class PinnedPart : public Buffer {
 public:
  PinnedPart(const Buffer &whole, uint64_t at, uint64_t bytes)
      : Buffer(MemoryKind::kPinned, whole.address() + at, bytes) {}
};

// An argument of a kernel, in order of its parameters: a GLOBAL pointer (the
// start of a buffer; nullptr passes a null pointer, where the device has flat
// addresses), or a scalar. A kPinned buffer, where the device reaches it, is output
// of the kernel from end to end, and the host's to read when an event after the launch
// is waited for, in that stream or in one that has awaited it. Such memory that a kernel only reads
// goes by its address, as a scalar; the host leaves it alone until such an event.
using Argument = std::variant<const Buffer *, uint32_t, uint64_t>;

// A launch of `thread_blocks` thread_blocks of `thread_block_size` threads. `shared_bytes` is the
// size of the kernel's SHARED parameter; 0 where it has none.
struct Launch {
  const char *kernel;
  uint32_t thread_blocks;
  uint32_t thread_block_size;
  uint32_t shared_bytes;
  std::span<const Argument> arguments;
  // Where the device pairs launches: this one may begin when all thread blocks of the
  // last in this stream have come to LET_NEXT_BEGIN(), and so runs beside it
  // in what it leaves of each multiprocessor. Its kernel ends by AWAIT_BEFORE(), or begins by it
  // where it needs what the last has made.
  bool overlaps_previous = false;
  // Of a kernel whose threads walk chains, the longest, for devices that must not
  // run one launch for long; 0 for others.
  uint64_t longest_bytes = 0;
};

// A point in a stream. Unless Device::waits_on_one_thread(), it may be waited for on
// any thread that Device::attach_thread() was called on, while no other marks it.
class Event {
 public:
  virtual ~Event() = default;
  // Blocks until the point is reached; the status is that of all that came
  // before it in its stream.
  virtual Status wait() = 0;
  // The same, for a wait that is not the last step of what someone waits for:
  // the core is given up at once.
  virtual Status wait_long() { return wait(); }
  virtual bool reached() = 0;
  // Whether it is reached and wait()'s status is that of success.
  virtual bool ended_well() { return reached() && wait().ok(); }
  // Nanoseconds of device time from `earlier` to this, both reached; 0 where
  // the device tells no time.
  virtual uint64_t nanoseconds_since(Event &earlier) = 0;
};

// A queue of work that runs in order, beside other streams. Calls return at
// once; host memory that they name must stay until an event after them. One
// thread at a time.
class Stream {
 public:
  virtual ~Stream() = default;
  // Any host memory; full speed and true overlap only from and to kPinned.
  virtual Status upload(const Buffer &to, uint64_t offset, const void *from, uint64_t bytes) = 0;
  virtual Status download(void *to, const Buffer &from, uint64_t offset, uint64_t bytes) = 0;
  // Between two kDevice buffers that do not overlap.
  virtual Status copy(const Buffer &to, uint64_t to_offset, const Buffer &from,
                      uint64_t from_offset, uint64_t bytes) = 0;
  virtual Status zero(const Buffer &buffer, uint64_t offset, uint64_t bytes) = 0;
  virtual Status launch(const Launch &launch) = 0;
  // Marks this point. The event can be recorded again by a later mark().
  virtual Status mark(Event &event) = 0;
  // What comes later in this stream waits for the event's last mark.
  virtual Status await(Event &event) = 0;
  // Blocks until all is done.
  virtual Status finish() = 0;
};

// An open device. Calls are made from one thread at a time, that which opened
// it (Lanecrypt's worker for the device), except where noted.
class Device {
 public:
  virtual ~Device() = default;
  virtual const Properties &properties() const = 0;
  virtual Result<std::unique_ptr<Buffer>> allocate(MemoryKind kind, uint64_t bytes) = 0;
  // Memory that the caller owns: a device address, either inside a buffer of
  // this device or, on CUDA, of the primary context. The view spans `bytes`
  // from it. Fails with LC_ERROR_ARGUMENT where it is no such address.
  virtual Result<std::unique_ptr<Buffer>> view(uint64_t address, uint64_t bytes) = 0;
  virtual Result<std::unique_ptr<Stream>> make_stream() = 0;
  // One whose thread blocks go before those of other streams that have not begun; nullptr
  // where streams are all alike.
  virtual Result<std::unique_ptr<Stream>> make_urgent_stream() { return std::unique_ptr<Stream>(); }
  // A stream of the caller's, as its API's handle. Not closed when it goes. With
  // LC_STREAM_PER_THREAD it is the stream of each thread that uses it. Any thread.
  // LC_ERROR_UNSUPPORTED for one that is being captured into a graph: what a launch names is
  // used again when it is over, and a graph would name it for ever.
  virtual Result<std::unique_ptr<Stream>> adopt_stream(void *handle) = 0;
  // One that is being captured: what is launched in it is done at each launch of the graph. What a
  // launch names must stay as long.
  virtual Result<std::unique_ptr<Stream>> adopt_captured_stream(void *) {
    return Status(LC_ERROR_UNSUPPORTED, properties().id + " captures no graphs");
  }
  // Runs `work`, which makes and uses events and adopted streams, on a thread of the caller's,
  // which is afterwards as it was before. Where the API does not let it, `work` does not run.
  virtual void on_callers_thread(const std::function<void()> &work) { work(); }
  virtual Result<std::unique_ptr<Event>> make_event() = 0;
  // One whose nanoseconds_since() is not asked for, and for which few wait long, where the device
  // marks such sooner.
  virtual Result<std::unique_ptr<Event>> make_quiet_event() { return make_event(); }
  // The same, but its nanoseconds_since() is asked for.
  virtual Result<std::unique_ptr<Event>> make_timed_quiet_event() { return make_event(); }
  // How many thread blocks of such a launch the device can run at once, at least 1:
  // the grid of a kernel whose thread blocks stay for the whole launch.
  virtual uint32_t resident_thread_blocks(const char *kernel, uint32_t thread_block_size,
                                          uint32_t shared_bytes) = 0;
  // Where kernels named ..._slot_... read the one key schedule of a launch, for
  // all streams alike: a launch must have done with it before another fills it.
  // nullptr where there are no such kernels.
  virtual const Buffer *key_slot() { return nullptr; }
  // Pins the caller's whole pages where they lie, so that copies from and to
  // them go as from and to kPinned, until the buffer that stands for them goes.
  // On any thread that attach_thread() was called on; slow (20 to 40
  // microseconds a MiB). Fails, and has changed nothing, for memory that cannot
  // be pinned: read-only, a file's, pinned already, or beyond a limit.
  virtual Result<std::unique_ptr<Buffer>> pin_in_place(void *, uint64_t) {
    return Status(LC_ERROR_UNSUPPORTED, "this device pins no memory of the caller's");
  }
  virtual bool pins_in_place() const { return false; }
  // Whether the program has pinned all these bytes, by the device's API. For the device's thread.
  virtual bool program_has_pinned(const void *, uint64_t) { return false; }
  // Called once by each other thread that waits for events or pins memory.
  virtual void attach_thread() {}
  // Events may be waited for by no other thread than the one that uses the device.
  virtual bool waits_on_one_thread() const { return false; }
  // Called once, when the device has passed its self-test.
  virtual void begin_service() {}
};

// A device that was found. `open` may take a second, or, where the driver
// compiles the kernels, many; it is called on the thread that will use the
// device, and gives that user's own, with one set of kernels. Several users
// at once share what is open of the device, and what is loaded.
struct Found {
  Properties properties;
  std::function<Result<std::unique_ptr<Device>>(KernelSet)> open;
};

// with_device_id: `status` with the device's id before its text, unless it is there already.
inline Status with_device_id(const Properties &properties, const Status &status) {
  const std::string head = properties.id + ": ";
  if (status.text().starts_with(head)) return status;
  return Status(status.code(), head + status.text());
}

// What is said of LC_STREAM_LEGACY and LC_STREAM_PER_THREAD where there are none.
inline Status no_default_streams(const Properties &properties) {
  return Status(LC_ERROR_UNSUPPORTED, properties.id + " has no default streams");
}

// One for each folder, and why it finds nothing, if there is more to say. Drivers are of no use in
// a child of fork whose parent has begun to use them. There these load nothing and wait for nobody.
std::vector<Found> find_cuda();
std::string why_no_cuda();
std::vector<Found> find_opencl();
std::string why_no_opencl();
std::vector<Found> find_gl();
std::string why_no_gl();
std::vector<Found> find_host();
inline constexpr char kUsedByParent[] = "the driver was in use before this process was forked";

}  // namespace lanecrypt::device
