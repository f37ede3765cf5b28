// Tests prime candidates on a device.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <vector>

#include "cpu/random.h"
#include "cpu/rsa/prime_key.h"
#include "job/round_up.h"
#include "kernels/rsa/prime_layout.h"
#include "primes/prime_tester.h"
#include "rsa/open_for_rsa.h"
#include "verify/rsa_known_answers.h"
#include "verify/self_test.h"

namespace lanecrypt::runtime {
namespace {

using device::Argument;
using device::Buffer;
using device::MemoryKind;

// A device is too slow to use if it tests fewer 1024-bit numbers within its time limit, or if a
// thread that has its own number tests fewer of them one after another.
constexpr double kTestsOfLimit = 8192, kTestsOfThread = 16;

class DevicePrimes : public PrimeTester {
 public:
  DevicePrimes(std::unique_ptr<device::Device> device, RsaArithmetic arithmetic, DeviceTrust trust)
      : device_(std::move(device)), launch_(*device_, arithmetic), time_limit_(trust.time_limit) {
    if (time_limit_.count() == 0) time_limit_ = default_time_limit(device_->properties());
  }
  ~DevicePrimes() override { forget(); }

  Status open() {
    Result<std::unique_ptr<device::Stream>> stream = device_->make_stream();
    if (!stream.ok()) return stream.status();
    stream_ = std::move(*stream);
    Result<std::unique_ptr<device::Event>> event = device_->make_event();
    if (!event.ok()) return event.status();
    done_ = std::move(*event);
    return Status();
  }
  Status self_test();
  void begin_service() {
    (void)take_launches();
    device_->begin_service();
  }

  size_t most_trials(uint32_t bits) const override {
    // The emulator and OpenCL do not report that.
    if (device_->properties().api != "cuda")
      return std::max<size_t>(8 * size_t{device_->properties().compute_units}, 16);
    // An RSA operation has two powers.
    return 2 * launch_.most_at_once(rsa_class(rsa_kind(2 * bits)));
  }

  Status reserve(uint32_t bits, size_t candidates, size_t trials) override {
    // Nothing is in flight here: the caller waits for each search.
    memory_.free_outgrown();
    const uint64_t stride = cpu::prime_stride_bytes(bits);
    LC_TRY(reserve(candidates_, candidates * stride));
    return reserve(bases_, trials * stride);
  }
  std::span<uint8_t> candidates() override { return {candidates_.here->host(), candidates_.used}; }
  std::span<uint8_t> bases() override { return {bases_.here->host(), bases_.used}; }

  Status sieve(const std::shared_ptr<const cpu::SieveTable> &table, size_t count,
               std::span<uint8_t> survives) override {
    const Status status = start_sieve(table, count);
    return status.ok() ? take_results(count, survives) : finished(status);
  }

  Status test(uint32_t bits, std::span<const uint32_t> trials, std::span<uint8_t> passed) override {
    const Status status = start_test(bits, trials);
    return status.ok() ? take_results(trials.size(), passed) : finished(status);
  }

  void forget() override {
    wipe(candidates_);
    wipe(bases_);
    (void)finish();
  }
  Status prove() override {
    const Status status = self_test();
    (void)take_launches();
    forget();
    return status;
  }
  bool is_stuck() const override { return is_stuck_; }

  uint64_t take_launches() override {
    const uint64_t all = launch_.launches() + sieve_launches_;
    return all - std::exchange(launches_told_, all);
  }

 private:
  // Numbers in host memory, and their copy on the device.
  struct Numbers {
    std::unique_ptr<Buffer> here, there;
    uint64_t used = 0;
  };

  Status reserve(Numbers &numbers, uint64_t bytes) {
    // A buffer that is too short is freed without being wiped, so it is wiped here.
    if (numbers.here != nullptr && numbers.here->bytes() < bytes) {
      wipe(numbers);
      LC_TRY(finish());
    }
    LC_TRY(memory_.grow(numbers.here, MemoryKind::kPinned, bytes));
    LC_TRY(memory_.grow(numbers.there, MemoryKind::kDevice, bytes));
    numbers.used = std::max(numbers.used, bytes);
    return Status();
  }

  void wipe(Numbers &numbers) {
    if (numbers.here != nullptr) secure::wipe(numbers.here->host(), numbers.used);
    if (numbers.there != nullptr && numbers.used != 0 && !is_stuck_)
      (void)stream_->zero(*numbers.there, 0, numbers.used);
    numbers.used = 0;
  }

  // Waits for all enqueued work, for at most `shares` times the time limit, or for the time limit
  // if `shares` is below 1.
  Status finish(double shares = 1) {
    if (done_ == nullptr) return Status();
    if (is_stuck_) return stuck_status(time_limit_);
    LC_TRY(stream_->mark(*done_));
    const std::chrono::milliseconds limit(
        int64_t(double(time_limit_.count()) * std::max(shares, 1.0)));
    is_stuck_ = !await_within(*done_, limit);
    return is_stuck_ ? stuck_status(limit) : done_->wait();
  }

  Status start_sieve(const std::shared_ptr<const cpu::SieveTable> &table, size_t count) {
    LC_TRY(use_table(table));
    sieve_shape_ = {.count = static_cast<u32>(count),
                    .stride_bytes = table->stride_bytes,
                    .blocks = table->blocks,
                    .unused = 0};
    LC_TRY(memory_.grow(sieve_shape_there_, MemoryKind::kDevice, sizeof sieve_shape_));
    LC_TRY(memory_.grow(results_, MemoryKind::kDevice, count * sizeof(uint32_t)));
    LC_TRY(stream_->upload(*sieve_shape_there_, 0, &sieve_shape_, sizeof sieve_shape_));
    LC_TRY(stream_->upload(*candidates_.there, 0, candidates_.here->host(),
                           count * uint64_t{table->stride_bytes}));
    const Argument arguments[] = {sieve_shape_there_.get(), primes_.get(), powers_.get(),
                                  candidates_.there.get(), results_.get()};
    const uint32_t threads = launch_.threads_of_block();
    const uint64_t thread_blocks = std::min<uint64_t>(
        divide_up(count, threads), device_->resident_thread_blocks("prime_sieve", threads, 0));
    LC_TRY(stream_->launch(
        {"prime_sieve", static_cast<uint32_t>(thread_blocks), threads, 0, arguments}));
    ++sieve_launches_;
    return Status();
  }

  Status start_test(uint32_t bits, std::span<const uint32_t> trials) {
    const uint32_t limbs = launch_.limbs_of(rsa_class(rsa_kind(2 * bits)));
    const RsaSubgroups subgroups = launch_.choose(limbs, trials.size(), RsaPart::kPrime);
    test_shape_ = {.count = static_cast<u32>(trials.size()),
                   .subgroup = subgroups.threads,
                   .bits = bits,
                   .stride_bytes = cpu::prime_stride_bytes(bits)};
    const uint32_t thread_blocks = launch_.thread_blocks_of(subgroups, "prime_test", trials.size());
    const uint64_t table_bytes = uint64_t{thread_blocks} * RSA_THREAD_BLOCK * PRIME_ROWS *
                                 subgroups.limbs * launch_.limb_bytes();
    const uint64_t base_bytes = trials.size() * uint64_t{test_shape_.stride_bytes};
    LC_TRY(memory_.grow(test_shape_there_, MemoryKind::kDevice, sizeof test_shape_));
    LC_TRY(memory_.grow(trials_, MemoryKind::kDevice, trials.size_bytes()));
    LC_TRY(memory_.grow(results_, MemoryKind::kDevice, trials.size() * sizeof(uint32_t)));
    LC_TRY(memory_.grow(table_, MemoryKind::kDevice, table_bytes));
    trials_here_.assign(trials.begin(), trials.end());
    LC_TRY(stream_->upload(*test_shape_there_, 0, &test_shape_, sizeof test_shape_));
    LC_TRY(stream_->upload(*trials_, 0, trials_here_.data(), trials.size_bytes()));
    LC_TRY(stream_->upload(*bases_.there, 0, bases_.here->host(), base_bytes));
    const Argument arguments[] = {test_shape_there_.get(),
                                  candidates_.there.get(),
                                  trials_.get(),
                                  bases_.there.get(),
                                  table_.get(),
                                  results_.get()};
    LC_TRY(launch_.launch(*stream_, subgroups, "prime_test", thread_blocks, arguments));
    const double length = bits / 1024.0;
    const double shares_of_one = std::max(double(trials.size()) / kTestsOfLimit,
                                          subgroups.threads == 1 ? 1 / kTestsOfThread : 0);
    shares_ = shares_of_one * length * length * length;
    return stream_->zero(*table_, 0, table_bytes);
  }

  // Waits, so that enqueued work no longer uses its caller's memory.
  Status finished(Status status) {
    (void)finish(std::exchange(shares_, 0));
    return status;
  }

  // Uploads the table, which must stay valid meanwhile: table_of_sieve_ keeps it.
  Status use_table(const std::shared_ptr<const cpu::SieveTable> &table) {
    if (table == table_of_sieve_) return Status();
    const uint64_t prime_bytes = table->primes.size() * sizeof(SmallPrime),
                   power_bytes = table->powers.size() * sizeof(uint32_t);
    LC_TRY(memory_.grow(primes_, MemoryKind::kDevice, prime_bytes));
    LC_TRY(memory_.grow(powers_, MemoryKind::kDevice, power_bytes));
    LC_TRY(stream_->upload(*primes_, 0, table->primes.data(), prime_bytes));
    LC_TRY(stream_->upload(*powers_, 0, table->powers.data(), power_bytes));
    table_of_sieve_ = table;
    return finish();
  }

  // Waits for the results.
  Status take_results(size_t count, std::span<uint8_t> to) {
    Status status = memory_.grow(host_results_, MemoryKind::kPinned, count * sizeof(uint32_t));
    if (status.ok())
      status = stream_->download(host_results_->host(), *results_, 0, count * sizeof(uint32_t));
    if (!status.ok()) return finished(status);
    LC_TRY(finish(std::exchange(shares_, 0)));
    for (size_t n = 0; n < count; ++n) {
      uint32_t result;
      memcpy(&result, host_results_->host() + n * sizeof result, sizeof result);
      // The two values with which the kernels report success; any other value is a failure.
      to[n] = result == 1 || result == UINT32_MAX ? 1 : 0;
    }
    return Status();
  }

  std::unique_ptr<device::Device> device_;
  RsaLaunch launch_;
  LaunchMemory memory_{*device_};
  std::chrono::milliseconds time_limit_;
  std::unique_ptr<device::Stream> stream_;
  std::unique_ptr<device::Event> done_;
  double shares_ = 0;  // time limits that the test in flight may take
  bool is_stuck_ = false;
  Numbers candidates_, bases_;
  std::unique_ptr<Buffer> table_, trials_, results_, host_results_, primes_, powers_;
  PrimeSieveShape sieve_shape_ = {};
  PrimeTestShape test_shape_ = {};
  // A copy, because a stuck device may read it after the caller's memory is freed.
  std::vector<uint32_t> trials_here_;
  std::unique_ptr<Buffer> sieve_shape_there_, test_shape_there_;
  std::shared_ptr<const cpu::SieveTable> table_of_sieve_;
  uint64_t sieve_launches_ = 0, launches_told_ = 0;
};

// In each variant of the kernel, a prime must pass and a composite number must not. The sieve must
// agree with the CPU's.
Status DevicePrimes::self_test() {
  Result<std::vector<verify::RsaKnownAnswer>> answers = verify::rsa_known_answers();
  if (!answers.ok()) return answers.status();
  const std::span<const uint8_t> prime = answers->front().key->numbers.p;
  const uint32_t bits = bits_of(prime), stride = cpu::prime_stride_bytes(bits);
  // The candidates are the prime, the prime plus 2, plus 4, and so on. Each variant draws new
  // bases.
  constexpr uint32_t kCount = 40;
  LC_TRY(reserve(bits, kCount, 2));
  for (uint32_t n = 0; n < kCount; ++n) {
    uint8_t *to = candidates().data() + n * stride;
    memset(to, 0, stride);
    memcpy(to + stride - prime.size(), prime.data(), prime.size());
    unsigned sum = 2 * n;
    for (uint32_t at = stride; at-- > 0 && sum != 0; sum >>= 8) to[at] = uint8_t(sum += to[at]);
  }
  const uint8_t e[] = {1, 0, 1};
  const auto table = std::make_shared<const cpu::SieveTable>(cpu::make_sieve_table(stride, e));
  std::vector<uint8_t> survives(kCount), passed(2);
  LC_TRY(sieve(table, kCount, survives));
  uint32_t other = 0;
  for (uint32_t n = 0; n < kCount; ++n) {
    const std::span<const uint8_t> candidate = candidates().subspan(n * stride, stride);
    if ((survives[n] != 0) != cpu::survives(*table, candidate.data()))
      return verify::failed_self_test("wrong answer of the sieve");
    if (n == 0 || other != 0) continue;
    LC_TRY(cpu::draw_bases(cpu::random_bytes, bits, candidate, {&other, 1}, bases()));
    Result<bool> passes = cpu::passes_round(candidate, bases().first(stride));
    if (!passes.ok()) return passes.status();
    if (!*passes) other = n;
  }
  const uint32_t trials[] = {0, other};
  const uint32_t limbs = launch_.limbs_of(rsa_class(rsa_kind(2 * bits)));
  const size_t variants = launch_.variants(limbs, RsaPart::kPrime).size();
  Status status;
  for (size_t variant = 0; variant < variants && status.ok(); ++variant) {
    launch_.force_variant(variant);
    LC_TRY(cpu::draw_bases(cpu::random_bytes, bits, candidates(), trials, bases()));
    status = test(bits, trials, passed);
    if (status.ok() && (passed[0] != 1 || passed[1] != 0))
      status = verify::failed_self_test("wrong answer of the test of a prime");
  }
  launch_.force_variant(SIZE_MAX);
  return status;
}

}  // namespace

Result<std::unique_ptr<PrimeTester>> make_device_primes(const device::Found &found,
                                                        const DeviceTrust &trust) {
  return open_for_rsa<PrimeTester, DevicePrimes>(found, trust);
}

}  // namespace lanecrypt::runtime
