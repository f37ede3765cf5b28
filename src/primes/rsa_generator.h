// Makes RSA keys. Chooses the device that searches for primes, and another if that fails, and
// runs the threads that make keys of the primes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "primes/prime_worker.h"

namespace lanecrypt::runtime {

// There is a worker for each device, and one for the CPU. Any thread.
class RsaGenerator {
 public:
  using MakeTester = std::function<Result<std::unique_ptr<PrimeTester>>(const device::Found &,
                                                                        const DeviceTrust &)>;

  // prime_pool: as lc_options has it.
  RsaGenerator(Counters &cpu_counters, lc_fallback fallback, DeviceTrust trust = {},
               size_t prime_pool = 0, MakeTester make_tester = make_device_primes);
  ~RsaGenerator() { stop(); }
  // Called before the first job, in the order of the devices' numbers.
  void add_device(const device::Found &found, Counters &counters, bool is_selected);
  void stop();

  // Makes all keys and gives them to the caller, on the calling thread.
  Status run(RsaGeneration what, lc_result *result);

  // As in RsaDispatcher.
  DeviceService service(uint32_t number) const { return workers_[number]->service(); }

  // Whether there is a device for single keys. If threads share a number, a single key is soon
  // made. If each thread has a number for itself, it takes as long as one thread needs to test a
  // prime, which is seconds to minutes for the longest keys. Such a device is only for many
  // keys at once.
  bool has_device_for_one() const;
  // Whether a device for single keys is open and works.
  bool is_open_for_one() const;
  // Begins to open such a device, and does not wait.
  void warm_up_for_one();
  // Whether a selected device is open and works, whatever it is for.
  bool is_open() const;
  const PrimePool &pool() const { return pool_; }

 private:
  std::shared_ptr<const cpu::SieveTable> table_for(const RsaGeneration &what);
  // for_one: only devices that are for single keys.
  PrimeWorker *choose(bool for_one) const;
  Status start(const GenerationPointer &job);
  Status start_on_cpu(const GenerationPointer &job);
  Status start_anywhere(const GenerationPointer &job);
  Status nowhere(const PrimeWorker *named) const;
  void take_over(const GenerationPointer &job, const Status &why);
  void make_keys(Generation &job);
  PrimePool *pool_for(const RsaGeneration &what);
  void take_from_pool(Generation &job);

  const lc_fallback fallback_;
  const DeviceTrust trust_;
  const MakeTester make_tester_;
  // Whether callers with a random function of their own share the pool.
  const bool pool_is_for_all_;
  PrimePool pool_;
  std::vector<std::unique_ptr<PrimeWorker>> workers_;
  struct Selected {
    PrimeWorker *worker;
    bool is_for_one;
  };
  std::vector<Selected> selected_;
  PrimeWorker cpu_;
  std::atomic<unsigned> makers_ = 0;  // threads that make keys now

  // The tables of the last lengths and exponents that were asked for.
  struct Table {
    std::vector<uint8_t> exponent;
    std::shared_ptr<const cpu::SieveTable> table;
  };
  std::mutex mutex_;
  std::list<Table> tables_;
};

}  // namespace lanecrypt::runtime
