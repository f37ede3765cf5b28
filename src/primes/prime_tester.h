// Who tests candidates for primes, as the search sees it: a device, or the CPU.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "batch/device_trust.h"
#include "cpu/rsa/prime_candidates.h"
#include "device/device.h"

namespace lanecrypt::schedule {

// Used by one thread. Numbers are big-endian, cpu::prime_stride_bytes() each.
class PrimeTester {
 public:
  virtual ~PrimeTester() = default;
  // The most trials that are well made at once.
  virtual size_t most_trials(uint32_t bits) const = 0;
  // Memory for so many candidates and for the bases of so many trials, out of
  // core dumps; what was there before is lost.
  virtual Status reserve(uint32_t bits, size_t candidates, size_t trials) = 0;
  virtual std::span<uint8_t> candidates() = 0;
  virtual std::span<uint8_t> bases() = 0;
  // survives[n] = 1 where trial division leaves candidate n, else 0. The table
  // stays until another is given.
  virtual Status sieve(const std::shared_ptr<const cpu::SieveTable> &table, size_t count,
                       std::span<uint8_t> survives) = 0;
  // Of the candidates that sieve() had last:
  // passed[n] = 1 where candidate trials[n] passes a round of Miller and Rabin
  // for base n, else 0. A base means any one-to-one function of itself.
  virtual Status test(uint32_t bits, std::span<const uint32_t> trials,
                      std::span<uint8_t> passed) = 0;
  // Wipes what is left of candidates and bases.
  virtual void forget() = 0;
  // As RsaEngine has it.
  virtual bool is_stuck() const { return false; }
  // Kernels started since the last call.
  virtual uint64_t take_launches() { return 0; }
};

// Opens the device for this alone, on the calling thread, and has it tell a prime
// from a number that is none. An error says why it cannot be used.
Result<std::unique_ptr<PrimeTester>> make_device_primes(const device::Found &found,
                                                        const DeviceTrust &trust = {});
// On `threads` threads of the CPU.
std::unique_ptr<PrimeTester> make_cpu_primes(unsigned threads);

}  // namespace lanecrypt::schedule
