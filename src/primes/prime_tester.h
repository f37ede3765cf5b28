// The interface of what tests prime candidates: a device, or the CPU.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "batch/device_trust.h"
#include "cpu/rsa/prime_candidates.h"
#include "device/device.h"

namespace lanecrypt::runtime {

// `PrimeTester` tests candidates. Not thread-safe. Numbers are big-endian, each of
// cpu::prime_stride_bytes() bytes.
class PrimeTester {
 public:
  virtual ~PrimeTester() = default;
  // Returns the most trials that it should be given at once.
  virtual size_t most_trials(uint32_t bits) const = 0;
  // Makes memory for `candidates` candidates and for the bases of `trials` trials. The memory is
  // excluded from core dumps. Its previous contents are lost.
  virtual Status reserve(uint32_t bits, size_t candidates, size_t trials) = 0;
  virtual std::span<uint8_t> candidates() = 0;
  virtual std::span<uint8_t> bases() = 0;
  // Sets survives[n] to 1 if no small prime divides candidate n, otherwise to 0. The tester keeps a
  // reference to `table` until it gets another one.
  virtual Status sieve(const std::shared_ptr<const cpu::SieveTable> &table, size_t count,
                       std::span<uint8_t> survives) = 0;
  // Tests candidates of the last sieve(). Sets passed[n] to 1 if candidate trials[n] passes a round
  // of the Miller-Rabin test (FIPS 186-5, Appendix B.3.1) with base n, otherwise to 0. A tester may
  // apply any bijection to the bases.
  virtual Status test(uint32_t bits, std::span<const uint32_t> trials,
                      std::span<uint8_t> passed) = 0;
  // Wipes candidates and bases.
  virtual void forget() = 0;
  // Runs the self-test again, after a wrong result. A tester without one is not trusted again.
  virtual Status prove() { return Status(LC_ERROR_SELF_TEST, "it cannot prove itself"); }
  // As in BatchEngine.
  virtual bool is_stuck() const { return false; }
  // Returns the number of kernels launched since the last call.
  virtual uint64_t take_launches() { return 0; }
};

// Opens the device for primality tests only, on the calling thread, and checks that it
// distinguishes a prime from a composite number. An error says why the device cannot be used.
Result<std::unique_ptr<PrimeTester>> make_device_primes(const device::Found &found,
                                                        const DeviceTrust &trust = {});
// Makes a tester that uses `threads` threads of the CPU.
std::unique_ptr<PrimeTester> make_cpu_primes(unsigned threads);

}  // namespace lanecrypt::runtime
