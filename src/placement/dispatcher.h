// Chooses the device for a job, and another or the CPU if that device fails.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cipher/cpu_worker.h"
#include "cipher/executor.h"
#include "device/device_enumeration.h"
#include "hash/hash_dispatcher.h"
#include "job/placement.h"
#include "ml_dsa/ml_dsa_dispatcher.h"
#include "primes/rsa_generator.h"
#include "rsa/rsa_dispatcher.h"
#include "slh/slh_dispatcher.h"

namespace lanecrypt::runtime {

struct DispatcherOptions {
  // A list as in lc_options.devices. "": the dispatcher chooses.
  std::string devices;
  lc_fallback fallback = LC_FALLBACK_CPU;
  PipelineOptions pipeline;
  size_t prime_pool = 0;
  unsigned cores = 0;  // as in lc_options
  uint64_t least_shared_bytes = kLeastSharedBytes;
  // Finds the devices of this machine. By default an enumeration of the APIs that `devices` names.
  std::function<device::DeviceEnumeration()> find;
};

// The devices of the named APIs, each with its queue. Any thread.
class Dispatcher {
 public:
  // Looks for devices, and loads no driver.
  explicit Dispatcher(DispatcherOptions options);
  ~Dispatcher() { stop(); }
  // Finishes the work under way and ends all threads. Later requests are refused. After
  // cancel_pending() it leaves undone what has not begun.
  void stop();
  void cancel_pending();

  // An error if `devices` names a device that is not here. Every job then fails with it.
  const Status &status() const { return status_; }

  size_t device_count() const { return executors_.size(); }
  // Selected ones first, in order of preference. nullptr beyond the last.
  Executor *device(uint32_t index) const;
  // The state of a device as far as this set of kernels goes. RSA's set serves operations and new
  // keys: this is the worse state of the two. The reason names the device.
  DeviceService service(uint32_t index, device::KernelSet set) const;
  bool is_selected(uint32_t index) const { return index < selected_count_; }
  const Counters &cpu_counters() const { return cpu_.counters(); }
  // The most cores that work at one request on the CPU.
  unsigned cores() const { return cpu_.cores(); }
  // Whether the threads for these cores have nothing to do.
  bool cores_are_idle() const { return cpu_.is_idle() && copy_threads_.waiting_bytes == 0; }
  PinnedMemory &pinned() { return pinned_; }
  // Whether so much work, if it may go to any device, goes to several at once.
  bool is_for_several(const CipherKind &kind, uint64_t bytes, size_t messages) const;
  // Threads for work that one thread would take too long for.
  Workers &workers() { return copy_threads_.workers; }
  // The first selected device that can be used, made ready, or nullptr.
  Executor *first_ready();

  // The device on which a request in device memory will run, which it then names. Of messages
  // on several devices LC_ERROR_ARGUMENT.
  Result<Executor *> settle_on_device(Request &request);
  // Starts a request, which ends by itself. After an error nothing was started.
  Status submit(const RequestPointer &request);
  Status submit(const RsaRequestPointer &request);
  Status submit(const SlhRequestPointer &request);
  Status submit(const MlDsaRequestPointer &request);
  Status submit(const HashRequestPointer &request);
  // Callers' memory on a device. Jobs in that memory go there.
  void add_device_memory(uint32_t device, const void *at, uint64_t bytes);
  void remove_device_memory(const void *at);
  RsaDispatcher &rsa() { return rsa_; }
  SlhDispatcher &slh() { return slh_; }
  MlDsaDispatcher &ml_dsa() { return ml_dsa_; }
  // Makes RSA keys, and gives them to the caller on the calling thread.
  Status generate(RsaGeneration what, lc_result *result);
  RsaGenerator &generator() { return generator_; }

 private:
  void find_devices();
  // The devices that do such a request, without those that have tried it.
  std::vector<uint32_t> able(const CipherKind &kind, const std::vector<uint32_t> &tried) const;
  uint32_t soonest(const std::vector<uint32_t> &devices, uint64_t bytes) const;
  Status submit_on_devices(const RequestPointer &request);
  Status check_other_memory() const;
  Result<std::vector<uint32_t>> find_messages(const CipherJob &job);
  // The device of memory of lc_alloc_device(). Under the lock.
  std::optional<uint32_t> find_memory(const void *at) const;
  Result<uint32_t> find_messages(const HashJob &job);
  // Where a request goes for which no device is named, or which a device could not do.
  Placement decide(const Request &request) const;
  // False if no device takes it and the CPU may not.
  bool place(const RequestPointer &request);
  // False if its device takes no more requests.
  bool run(const RequestPointer &request, const Placement &place);
  bool share(const RequestPointer &request);
  void take_over(const RequestPointer &request, const Status &why,
                 std::optional<uint32_t> from = {}) noexcept;
  // Why such a request has no place.
  Status no_place(const CipherKind &kind) const;
  // For a job for which a device has the set of kernels, or which the CPU does.
  Status place_by_set(device::KernelSet set, uint32_t *number) const;

  DispatcherOptions options_;
  Status status_;
  PinnedMemory pinned_;
  CopyThreads copy_threads_;
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
  SlhDispatcher slh_{cpu_.counters(), options_.fallback, trust_};
  MlDsaDispatcher ml_dsa_{cpu_.counters(), options_.fallback, trust_};
  // Whose operations are done in batches. Each is told of the devices, and stopped.
  struct Family {
    device::KernelSet set;
    BatchDispatcher *batches;
  };
  const std::vector<Family> families_{{device::KernelSet::kRsa, &rsa_},
                                      {device::KernelSet::kSlh, &slh_},
                                      {device::KernelSet::kMlDsa, &ml_dsa_}};
  HashDispatcher hashes_{cpu_.counters(), options_.fallback, trust_, options_.pipeline.pinned_bytes,
                         cpu_.cores()};
  RsaGenerator generator_{cpu_.counters(), options_.fallback, trust_, options_.prime_pool};
};

}  // namespace lanecrypt::runtime
