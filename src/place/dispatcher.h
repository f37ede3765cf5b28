// Which device does a job, and what becomes of it when that device fails.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "cipher/cpu_worker.h"
#include "cipher/executor.h"
#include "device/survey.h"
#include "job/placement.h"
#include "primes/rsa_generator.h"
#include "rsa/rsa_dispatcher.h"

namespace lanecrypt::schedule {

struct DispatcherOptions {
  // A list as lc_options.devices has it; "" chooses by itself.
  std::string devices;
  lc_fallback fallback = LC_FALLBACK_CPU;
  PipelineOptions pipeline;
  size_t prime_pool = 0;
  unsigned cores = 0;  // as lc_options has it
  uint64_t least_shared_bytes = kLeastSharedBytes;
  // Those there are; by default a survey of the APIs that `devices` names.
  std::function<device::Survey()> find;
};

// The devices of the APIs that are named, with the queue of each. Any thread.
class Dispatcher {
 public:
  // Looks for devices, and loads no driver.
  explicit Dispatcher(DispatcherOptions options);
  ~Dispatcher() { stop(); }
  // Finishes what is under way and ends all threads; what comes later is refused.
  // hurry() has it leave undone what is not begun.
  void stop();
  void hurry();

  // Where `devices` named what is not here; every job then fails with it.
  const Status &status() const { return status_; }

  size_t device_count() const { return executors_.size(); }
  // Selected ones first, in order of preference. nullptr beyond the last.
  Executor *device(uint32_t index) const;
  // What a set of kernels is to a device. Of RSA's, which operations and new keys use, the
  // worse of the two. The reason names the device.
  DeviceService service(uint32_t index, device::KernelSet set) const;
  bool is_selected(uint32_t index) const { return index < selected_count_; }
  const Counters &cpu_counters() const { return cpu_.counters(); }
  // At most, at one request that is the CPU's.
  unsigned cores() const { return cpu_.cores(); }
  // Whether the threads that would be at it have nothing to do.
  bool cores_are_idle() const { return cpu_.is_idle() && movers_.waiting_bytes == 0; }
  PinnedMemory &pinned() { return pinned_; }
  // Whether so much, which may go to any device, goes to several at once.
  bool is_for_several(const CipherKind &kind, uint64_t bytes, size_t messages) const;
  // Threads for what one would take too long for.
  Workers &workers() { return movers_.workers; }
  // The first selected device that can be used, made ready; nullptr: none.
  Executor *first_ready();

  // Starts a request; it ends by itself. An error starts nothing.
  Status submit(const RequestPointer &request);
  Status submit(const RsaRequestPointer &request);
  // Callers' memory on a device, so that jobs in it go there.
  void add_device_memory(uint32_t device, const void *at, uint64_t bytes);
  void remove_device_memory(const void *at);
  RsaDispatcher &rsa() { return rsa_; }
  // Makes RSA keys, and gives them to the caller on the calling thread.
  Status generate(RsaGeneration what, lc_result *result);
  RsaGenerator &generator() { return generator_; }

 private:
  void find_devices();
  // Those that do such a thing, but for those that it was on.
  std::vector<uint32_t> able(const CipherKind &kind, const std::vector<uint32_t> &tried) const;
  uint32_t soonest(const std::vector<uint32_t> &devices, uint64_t bytes) const;
  Status submit_on_devices(const RequestPointer &request);
  Result<std::vector<uint32_t>> find_messages(const CipherJob &job);
  // Where a request goes that no device is named for, or that one could not do.
  Placement decide(const Request &request) const;
  // False where no device takes it, and the CPU may not.
  bool place(const RequestPointer &request);
  // False where its device takes nothing more.
  bool run(const RequestPointer &request, const Placement &place);
  bool share(const RequestPointer &request);
  void take_over(const RequestPointer &request, const Status &why);
  // Why it has no place.
  Status no_place(const CipherKind &kind) const;
  // Of a job for which a device has the set of kernels, or the CPU does it.
  Status place_by_set(device::KernelSet set, uint32_t *number) const;

  DispatcherOptions options_;
  Status status_;
  PinnedMemory pinned_;
  Movers movers_;
  CpuWorker cpu_;
  std::vector<std::unique_ptr<Executor>> executors_;
  size_t selected_count_ = 0;
  struct Allocation {
    uint64_t bytes;
    uint32_t device;
  };
  std::mutex mutex_;
  std::map<uint64_t, Allocation> device_memory_;  // by address
  DeviceTrust trust_{options_.pipeline.verify, options_.pipeline.time_limit,
                     options_.pipeline.skip_self_test};
  RsaDispatcher rsa_{cpu_.counters(), options_.fallback, trust_};
  // Whose operations are done in batches. Each is told of the devices, and stopped.
  struct Family {
    device::KernelSet set;
    BatchDispatcher *batches;
  };
  const std::vector<Family> families_{{device::KernelSet::kRsa, &rsa_}};
  RsaGenerator generator_{cpu_.counters(), options_.fallback, trust_, options_.prime_pool};
};

}  // namespace lanecrypt::schedule
