// Generates RSA keys (FIPS 186-5, Appendix A.1.3). Chooses the device that searches for primes, and
// another one if that fails, and runs the threads that make keys of the primes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "primes/prime_worker.h"

namespace lanecrypt::runtime {

// `RsaGenerator` has a worker for each device and one for the CPU. Thread-safe.
class RsaGenerator {
 public:
  using MakeTester = std::function<Result<std::unique_ptr<PrimeTester>>(const device::Found &,
                                                                        const DeviceTrust &)>;

  // `prime_pool` is lc_options.prime_pool.
  RsaGenerator(Counters &cpu_counters, lc_fallback fallback, DeviceTrust trust = {},
               size_t prime_pool = 0, MakeTester make_tester = make_device_primes);
  ~RsaGenerator() { stop(); }
  // To be called before the first job, in the order of the devices' indices.
  void add_device(const device::Found &found, Counters &counters, bool is_selected);
  void stop();

  // Generates all keys and passes them to the caller's callback, on the calling thread.
  Status run(RsaGeneration what, lc_result *result);

  // As in RsaDispatcher.
  DeviceService service(uint32_t number) const { return workers_[number]->service(); }

  // Returns whether there is a device for single keys. If threads share a number, a single key is
  // made quickly. If each thread has its own number, a key takes as long as one thread needs to
  // test a prime, which is seconds to minutes for the longest keys. Such a device is used only for
  // many keys at once.
  bool has_device_for_one() const;
  // Returns whether a device for single keys is open and works.
  bool is_open_for_one() const;
  // Begins to open such a device, without waiting.
  void warm_up_for_one();
  // Returns whether any selected device is open and works.
  bool is_open() const;
  const PrimePool &pool() const { return pool_; }

 private:
  std::shared_ptr<const cpu::SieveTable> table_for(const RsaGeneration &what);
  // `for_one` restricts the choice to devices for single keys.
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
  // Whether callers with their own random function share the pool.
  const bool pool_is_for_all_;
  PrimePool pool_;
  std::vector<std::unique_ptr<PrimeWorker>> workers_;
  struct Selected {
    PrimeWorker *worker;
    bool is_for_one;
  };
  std::vector<Selected> selected_;
  PrimeWorker cpu_;
  std::atomic<unsigned> makers_ = 0;  // threads that are making keys

  // The tables of the most recent lengths and exponents.
  struct Table {
    std::vector<uint8_t> exponent;
    std::shared_ptr<const cpu::SieveTable> table;
  };
  std::mutex mutex_;
  std::list<Table> tables_;
};

}  // namespace lanecrypt::runtime
