// What tests candidates for primes, as the search sees it: a device, or the CPU.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "batch/device_trust.h"
#include "cpu/rsa/prime_candidates.h"
#include "device/device.h"

namespace lanecrypt::runtime {

// One thread uses it. Numbers are big-endian, each of cpu::prime_stride_bytes().
class PrimeTester {
 public:
  virtual ~PrimeTester() = default;
  // The most trials that it should be given at once.
  virtual size_t most_trials(uint32_t bits) const = 0;
  // Makes memory for so many candidates, and for the bases of so many trials, that is left
  // out of core dumps. Its contents from before are lost.
  virtual Status reserve(uint32_t bits, size_t candidates, size_t trials) = 0;
  virtual std::span<uint8_t> candidates() = 0;
  virtual std::span<uint8_t> bases() = 0;
  // Sets survives[n] to 1 if no small prime divides candidate n, otherwise to 0. The table
  // must stay until another is given.
  virtual Status sieve(const std::shared_ptr<const cpu::SieveTable> &table, size_t count,
                       std::span<uint8_t> survives) = 0;
  // Takes the candidates of the last sieve(). Sets passed[n] to 1 if candidate trials[n]
  // passes a round of Miller and Rabin for base n, otherwise to 0. The base that is used may
  // be any one-to-one function of the one given.
  virtual Status test(uint32_t bits, std::span<const uint32_t> trials,
                      std::span<uint8_t> passed) = 0;
  // Wipes candidates and bases.
  virtual void forget() = 0;
  // Runs the self-test again, after a wrong result. A tester without one is not trusted again.
  virtual Status prove() { return Status(LC_ERROR_SELF_TEST, "it cannot prove itself"); }
  // As in BatchEngine.
  virtual bool is_stuck() const { return false; }
  // Kernels started since the last call.
  virtual uint64_t take_launches() { return 0; }
};

// Opens the device for this only, on the calling thread, and tests whether it tells a prime
// from another number. An error says why it cannot be used.
Result<std::unique_ptr<PrimeTester>> make_device_primes(const device::Found &found,
                                                        const DeviceTrust &trust = {});
// On `threads` threads of the CPU.
std::unique_ptr<PrimeTester> make_cpu_primes(unsigned threads);

}  // namespace lanecrypt::runtime
