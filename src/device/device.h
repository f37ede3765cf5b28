// The interface between Lanecrypt and GPUs: a device has memory, streams, and kernels that are
// launched by name. One folder next to this file implements the interface for each API; no code
// outside that folder knows the API.
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

// What is known of a device. Some APIs report more when the device is open.
struct Properties {
  std::string id;        // "cuda:0": the API and the device's number in it
  std::string api;       // "cuda", "opencl", "gl", "host"
  std::string name;      // the model
  std::string driver;    // version of the driver or platform
  std::string platform;  // OpenCL: the platform; otherwise the API again
  std::string unusable;  // why it cannot be opened; empty if it can
  uint64_t memory_bytes = 0;
  uint32_t compute_units = 0;
  uint32_t shared_bytes = 0;           // shared memory that one thread block may use
  uint32_t max_thread_block_size = 0;  // most threads per thread block
  // If set, a kernel runs only in thread blocks of the size in its KERNEL line, or of
  // max_thread_block_size if that is less.
  bool fixed_thread_block_size = false;
  // If fixed_thread_block_size is set: the threads per thread block of kernels in which a thread
  // processes a stream, if smaller than that of the other kernels (LC_CHAIN_THREADS); 0 if not
  // smaller. A few thousand streams reach every multiprocessor only in small thread blocks.
  uint32_t chain_thread_block_size = 0;
  uint32_t warp_threads = 1;   // WARP_THREADS of platform.h, as compiled for this device
  bool banked_shared = false;  // shared memory is on-chip, in 32 banks of 4 bytes
  bool bit_matrices = false;   // LC_BIT_MATRICES of platform.h; thread blocks are whole warps
  bool warp_shuffle = false;   // HAS_WARP_SHUFFLE of platform.h; thread blocks are whole warps
  bool is_gpu = false;
  bool pairs_launches = false;  // see Launch::overlaps_previous
  // The device has the RSA kernels that multiply in FP64, and FP64 units that are fast enough for
  // them.
  bool fast_fp64 = false;
  // Different buffers may be used by one launch through their addresses, and kernels accept any
  // part of a buffer.
  bool flat_addresses = false;
  // Kernels can read and write kPinned memory of allocate() by its address.
  bool reaches_pinned = false;
  // LC_STREAM_LEGACY and LC_STREAM_PER_THREAD name streams of this device.
  bool default_streams = false;
  // The sets of kernels that the device has, a bit_of() each; known before the device is open.
  uint32_t kernel_sets = ~uint32_t{0};
  bool has(KernelSet set) const { return (kernel_sets & bit_of(set)) != 0; }
  // SINGLE_THREAD_SUBGROUPS of kernels/number/subgroup.h: each thread has a number of RSA for
  // itself.
  bool single_thread_subgroups = true;
  // The names of the device's kernels; empty if it has all of kernels/. If an API reports them only
  // when the device is open, Device::properties() has them.
  std::vector<std::string> kernels;
  // The PCI address (domain, bus, device), by which two APIs identify the same card; 0 if unknown.
  uint64_t pci_address = 0;
};

enum class MemoryKind {
  kDevice,  // on the device; the host cannot access it
  kPinned,  // on the host; the device's copy engines can read and write it, and so can its kernels
            // if Properties::reaches_pinned is set
};

// An owned range of memory, freed by the destructor. For kDevice, `address` is unique in the
// process, aligned to 256 bytes, and may be offset by arithmetic. For kPinned, `address` is the
// host pointer.
class Buffer {
 public:
  virtual ~Buffer() = default;
  uint64_t address() const { return address_; }
  uint64_t bytes() const { return bytes_; }
  MemoryKind kind() const { return kind_; }
  // The host pointer; kPinned only.
  uint8_t *host() const { return reinterpret_cast<uint8_t *>(address_); }

 protected:
  Buffer(MemoryKind kind, uint64_t address, uint64_t bytes)
      : kind_(kind), address_(address), bytes_(bytes) {}

 private:
  MemoryKind kind_;
  uint64_t address_, bytes_;
};

// A part of a kPinned buffer that a kernel reads or writes. It does not own the memory, and the
// buffer must outlive it.
class PinnedPart : public Buffer {
 public:
  PinnedPart(const Buffer &whole, uint64_t at, uint64_t bytes)
      : Buffer(MemoryKind::kPinned, whole.address() + at, bytes) {}
};

// An argument of a kernel, in the order of its parameters: a GLOBAL pointer (to the start of a
// buffer; nullptr passes a null pointer, on devices with flat addresses) or a scalar.
//
// A kPinned buffer, on devices that reach it, is output of the kernel from end to end. The host may
// read it after waiting for an event that follows the launch, in the same stream or in one that
// awaited it. Pinned memory that a kernel only reads is passed by its address, as a scalar; the
// host must not change it before such an event.
using Argument = std::variant<const Buffer *, uint32_t, uint64_t>;

// A launch of `thread_blocks` thread blocks of `thread_block_size` threads each. `shared_bytes` is
// the size of the kernel's shared memory parameter; 0 if it has none.
struct Launch {
  const char *kernel;
  uint32_t thread_blocks;
  uint32_t thread_block_size;
  uint32_t shared_bytes;
  std::span<const Argument> arguments;
  // On devices with pairs_launches (programmatic dependent launch): this launch may begin when all
  // thread blocks of the stream's last launch have called LET_NEXT_BEGIN(). Both then run
  // concurrently, this one in the resources that the other leaves free on each multiprocessor. Its
  // kernel ends with AWAIT_BEFORE(), or begins with it if it needs the results of the last launch.
  bool overlaps_previous = false;
  // For kernels whose threads process chained streams: the longest stream in bytes, for devices
  // that must not run one launch for long. 0 for other kernels.
  uint64_t longest_bytes = 0;
};

// A point in a stream. Unless Device::waits_on_one_thread() is true, any thread that has called
// Device::attach_thread() may wait for it, while no other thread marks it.
class Event {
 public:
  virtual ~Event() = default;
  // Blocks until the point is reached. Returns the first error of the work before it in its stream.
  virtual Status wait() = 0;
  // As wait(), but gives up the core at once. For waits that are not the last step before a caller
  // can continue.
  virtual Status wait_long() { return wait(); }
  // Whether the point is reached; does not block.
  virtual bool reached() = 0;
  // Whether the point is reached and wait() would succeed.
  virtual bool ended_well() { return reached() && wait().ok(); }
  // Returns the nanoseconds of device time from `earlier` to this event, both reached; 0 if the
  // device does not measure time.
  virtual uint64_t nanoseconds_since(Event &earlier) = 0;
};

// A queue of work that runs in order, concurrently with other streams. Calls return at once; host
// memory that they name must stay valid until an event after them is reached. Used by one thread at
// a time.
class Stream {
 public:
  virtual ~Stream() = default;
  // Copies from and to any host memory. Only kPinned memory gets full speed and overlaps with other
  // work.
  virtual Status upload(const Buffer &to, uint64_t offset, const void *from, uint64_t bytes) = 0;
  virtual Status download(void *to, const Buffer &from, uint64_t offset, uint64_t bytes) = 0;
  // Copies between two kDevice buffers that do not overlap.
  virtual Status copy(const Buffer &to, uint64_t to_offset, const Buffer &from,
                      uint64_t from_offset, uint64_t bytes) = 0;
  virtual Status zero(const Buffer &buffer, uint64_t offset, uint64_t bytes) = 0;
  virtual Status launch(const Launch &launch) = 0;
  // Marks this point of the stream. A later mark() may reuse the event.
  virtual Status mark(Event &event) = 0;
  // Makes all later work in this stream wait for the event's last mark.
  virtual Status await(Event &event) = 0;
  // Blocks until all work is done.
  virtual Status finish() = 0;
};

// An open device. It is used by one thread at a time, the one that opened it (Lanecrypt's worker
// thread for the device), except as noted.
class Device {
 public:
  virtual ~Device() = default;
  virtual const Properties &properties() const = 0;
  virtual Result<std::unique_ptr<Buffer>> allocate(MemoryKind kind, uint64_t bytes) = 0;
  // Returns a view of `bytes` bytes of memory that the caller owns. `address` lies inside a buffer
  // of this device or, on CUDA, in any memory of the primary context. Fails with LC_ERROR_ARGUMENT
  // otherwise.
  virtual Result<std::unique_ptr<Buffer>> view(uint64_t address, uint64_t bytes) = 0;
  virtual Result<std::unique_ptr<Stream>> make_stream() = 0;
  // Creates a stream whose thread blocks are scheduled before waiting thread blocks of other
  // streams; nullptr if the device has no priorities.
  virtual Result<std::unique_ptr<Stream>> make_urgent_stream() { return std::unique_ptr<Stream>(); }
  // Wraps a stream of the caller, given as the API's handle. It is not closed by the destructor.
  // LC_STREAM_PER_THREAD means the default stream of each thread that uses the result. Any thread
  // may call this. Fails with LC_ERROR_UNSUPPORTED for a stream that is being captured into a
  // graph: memory that a launch names is reused when the launch is over, but a graph would name it
  // forever.
  virtual Result<std::unique_ptr<Stream>> adopt_stream(void *handle) = 0;
  // Wraps a stream that is being captured: each launch of the graph repeats what is launched in it.
  // Memory that those launches name must stay valid as long as the graph.
  virtual Result<std::unique_ptr<Stream>> adopt_captured_stream(void *) {
    return Status(LC_ERROR_UNSUPPORTED, properties().id + " captures no graphs");
  }
  // Runs `work`, which creates and uses events and adopted streams, on the calling thread, which
  // belongs to the application. Afterwards the thread's API state is as before. If the API does not
  // allow this, `work` does not run.
  virtual void on_callers_thread(const std::function<void()> &work) { work(); }
  virtual Result<std::unique_ptr<Event>> make_event() = 0;
  // Creates an event whose nanoseconds_since() is not used and for which long waits are rare. Some
  // devices record such events faster.
  virtual Result<std::unique_ptr<Event>> make_quiet_event() { return make_event(); }
  // As make_quiet_event(), for events whose nanoseconds_since() is used.
  virtual Result<std::unique_ptr<Event>> make_timed_quiet_event() { return make_event(); }
  // Returns how many thread blocks of such a launch the device can run at once, at least 1. This is
  // the grid of a kernel whose thread blocks stay for the whole launch.
  virtual uint32_t resident_thread_blocks(const char *kernel, uint32_t thread_block_size,
                                          uint32_t shared_bytes) = 0;
  // Returns the buffer from which kernels named ..._slot_... read the only key schedule of a
  // launch. All streams share it, so a launch must have finished with it before another one fills
  // it. nullptr if the device has no such kernels.
  virtual const Buffer *key_slot() { return nullptr; }
  // Pins whole pages of the caller in place, so that copies from and to them behave like kPinned
  // memory until the returned buffer is destroyed. Any thread that has called attach_thread() may
  // call this. It is slow: 20 to 40 microseconds per MiB. Fails without any effect for memory that
  // cannot be pinned: read-only, file-backed, already pinned, or beyond a limit.
  virtual Result<std::unique_ptr<Buffer>> pin_in_place(void *, uint64_t) {
    return Status(LC_ERROR_UNSUPPORTED, "this device pins no memory of the caller's");
  }
  virtual bool pins_in_place() const { return false; }
  // Whether the application has pinned all these bytes through the device's API. Only on the
  // device's thread.
  virtual bool program_has_pinned(const void *, uint64_t) { return false; }
  // Must be called once by each other thread that waits for events or pins memory.
  virtual void attach_thread() {}
  // Whether only the thread that uses the device may wait for its events.
  virtual bool waits_on_one_thread() const { return false; }
  // Called once, after the device has passed its self-test.
  virtual void begin_service() {}
};

// A device that was found. `open` may take a second, or much longer if the driver compiles the
// kernels. It is called on the thread that will use the device, and returns a Device for that user
// with one set of kernels. Several users at once share the open context and the loaded kernels.
struct Found {
  Properties properties;
  std::function<Result<std::unique_ptr<Device>>(KernelSet)> open;
};

// Returns `status` with the device's id before its text, unless the text already begins with it.
inline Status with_device_id(const Properties &properties, const Status &status) {
  const std::string head = properties.id + ": ";
  if (status.text().starts_with(head)) return status;
  return Status(status.code(), head + status.text());
}

// The error for LC_STREAM_LEGACY and LC_STREAM_PER_THREAD on devices without default streams.
inline Status no_default_streams(const Properties &properties) {
  return Status(LC_ERROR_UNSUPPORTED, properties.id + " has no default streams");
}

// The devices of each API, and the reason if there are none and more can be said. In a child of
// fork() whose parent has used the drivers, they are unusable: there, these functions load nothing
// and wait for nothing.
std::vector<Found> find_cuda();
std::string why_no_cuda();
std::vector<Found> find_opencl();
std::string why_no_opencl();
std::vector<Found> find_gl();
std::string why_no_gl();
std::vector<Found> find_host();
inline constexpr char kUsedByParent[] = "the driver was in use before this process was forked";

}  // namespace lanecrypt::device
