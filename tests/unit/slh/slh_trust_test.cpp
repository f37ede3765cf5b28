// SLH-DSA on devices that fail, at every stage, on the emulator. The caller gets the right
// signature, from the CPU if need be, and never a signature that allows a grafting attack.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "cpu/slh/cpu_slh.h"
#include "placement/dispatcher.h"
#include "unit/slh/slh_dsa_job.h"
#include "unit/support/devices.h"
#include "unit/support/faulty_device.h"
#include "unit/support/forwarding_device.h"

namespace lanecrypt::test {
namespace {

using namespace std::chrono_literals;
using runtime::Dispatcher;
using runtime::DispatcherOptions;
using runtime::SlhKeys;
using runtime::SlhSignatures;

const SlhSet &small_set() { return *find_slh_set(uint32_t(LC_SLH_DSA_SHA2_128F)); }

std::shared_ptr<SlhKey> make_key(uint8_t first) {
  const SlhSet &set = small_set();
  SlhBytes key(set.private_bytes());
  EXPECT_TRUE(cpu::slh_make_key(set, slh_seeds(set.number, first), key).ok());
  const auto made = std::make_shared<SlhKey>(set, key, RandomSource{});
  EXPECT_TRUE(cpu::prepare(*made).ok());
  return made;
}

// Deterministic signatures of one message, with the expected results.
class Signing {
 public:
  explicit Signing(SlhKeyPointer key, size_t count, const char *message = "a message")
      : made_(count, SlhBytes(key->set.signature_bytes())) {
    job_.is_deterministic = true;
    job_.keys = {key};
    for (SlhBytes &signature : made_)
      job_.messages.push_back(
          {.key = 0,
           .message = {reinterpret_cast<const uint8_t *>(message), strlen(message)},
           .context = {},
           .signature = signature.data()});
    request_ = std::make_shared<SlhSignatures>(job_, nullptr);
    EXPECT_TRUE(request_
                    ->hash([](size_t parts, const std::function<void(size_t)> &part) {
                      for (size_t n = 0; n < parts; ++n) part(n);
                    })
                    .ok());
  }
  Status run(Dispatcher &dispatcher) {
    LC_TRY(dispatcher.submit(runtime::SlhRequestPointer(request_)));
    return request_->wait();
  }
  // Checks the signature of a key that has not signed anything yet.
  void expect_right(uint8_t first) {
    const std::shared_ptr<SlhKey> key = make_key(first);
    SlhBytes expected(key->set.signature_bytes());
    ASSERT_TRUE(cpu::slh_sign(*key, request_->hashed(0), expected).ok());
    for (const SlhBytes &signature : made_) ASSERT_EQ(expected, signature);
  }
  const lc_result &result() const { return request_->result; }
  const SlhBytes &made() const { return made_.front(); }
  const std::shared_ptr<SlhSignatures> &request() const { return request_; }

 private:
  SlhJob job_;
  std::vector<SlhBytes> made_;
  std::shared_ptr<SlhSignatures> request_;
};

class SlhTrust : public testing::Test {
 protected:
  void open(const std::string &fault, lc_verify verify = LC_VERIFY_SAMPLED) {
    dispatcher_.reset();
    fault_.reset();  // restores the old value
    DispatcherOptions options;
    options.devices = "host";
    fault_ = std::make_unique<ScopedEnvironment>("LANECRYPT_HOST_FAULT", fault.c_str());
    options.pipeline.verify = verify;
    options.pipeline.time_limit = 120s;
    options.pipeline.skip_self_test = true;
    dispatcher_ = std::make_unique<Dispatcher>(options);
  }
  runtime::DeviceService service() const {
    return dispatcher_->service(0, device::KernelSet::kSlh);
  }

  std::unique_ptr<ScopedEnvironment> fault_;
  std::unique_ptr<Dispatcher> dispatcher_;
};

// In each run something fails one step later, until nothing fails.
TEST_F(SlhTrust, EveryFaultAtEveryStage) {
  const struct {
    const char *kind;
    uint64_t least;  // the least number of stages that must show the fault
  } kinds[] = {{"lost-upload", 1}, {"lost-after", 5},  {"lost-download", 1},
               {"fail-launch", 5}, {"drop-kernel", 5}, {"drop-download", 1}};
  for (const auto &[kind, least] : kinds) {
    uint64_t n = 0;
    for (bool struck = true; struck && n < 12; ++n) {
      const std::string fault = kind + (":" + std::to_string(n));
      SCOPED_TRACE(fault);
      open(fault);
      Signing signing(make_key(5), 2);
      const Status status = signing.run(*dispatcher_);
      ASSERT_TRUE(status.ok()) << status.text();
      signing.expect_right(5);
      struck = signing.result().cpu_operations != 0;
      EXPECT_EQ(2u, signing.result().cpu_operations + signing.result().device_operations);
      if (struck && signing.result().failed_checks == 0) {
        EXPECT_EQ(LC_DEVICE_LOST, service().state);
        EXPECT_TRUE(service().reason.starts_with("host:0: SLH-DSA: ")) << service().reason;
      }
    }
    EXPECT_LT(n, 12u) << kind << " strikes for ever";
    EXPECT_GT(n, least) << kind;
  }
}

// Faults of verification and of key generation.
TEST_F(SlhTrust, FaultsOfOtherOperations) {
  Signing good(make_key(5), 1);
  open("");
  ASSERT_TRUE(good.run(*dispatcher_).ok());
  for (const char *kind : {"lost-upload:", "lost-after:", "lost-download:", "drop-kernel:"})
    for (int n = 0; n < 3; ++n) {
      const std::string fault = kind + std::to_string(n);
      SCOPED_TRACE(fault);
      open(fault);
      SlhBytes signature = good.made(), verdict = {0};
      SlhJob job;
      job.operation = LC_SLH_DSA_VERIFY;
      job.keys = {make_key(5)};
      job.verdicts = verdict.data();
      job.messages.push_back({.key = 0,
                              .message = {reinterpret_cast<const uint8_t *>("a message"), 9},
                              .context = {},
                              .signature = signature.data()});
      const auto verified = std::make_shared<SlhSignatures>(job, nullptr);
      ASSERT_TRUE(verified->hash(nullptr).ok());
      ASSERT_TRUE(dispatcher_->submit(runtime::SlhRequestPointer(verified)).ok());
      EXPECT_TRUE(verified->wait().ok());
      EXPECT_EQ(SlhBytes{1}, verdict);

      open(fault);
      const SlhSet &set = small_set();
      const SlhBytes seeds = slh_seeds(set.number, 5);
      SlhBytes key(set.private_bytes()), expected(set.private_bytes());
      ASSERT_TRUE(cpu::slh_make_key(set, seeds, expected).ok());
      const auto keys = std::make_shared<SlhKeys>(
          SlhGeneration{
              .set = &set, .count = 1, .seeds = seeds.data(), .keys = key.data(), .random = {}},
          nullptr);
      ASSERT_TRUE(keys->take_seeds().ok());
      ASSERT_TRUE(dispatcher_->submit(runtime::SlhRequestPointer(keys)).ok());
      EXPECT_TRUE(keys->wait().ok());
      EXPECT_EQ(expected, key);
    }
}

// A result that the device verified is changed on its way to the host.
TEST_F(SlhTrust, TheCpuLooksToo) {
  open("flip-bit:0");
  Signing signing(make_key(5), 2);
  ASSERT_TRUE(signing.run(*dispatcher_).ok());
  signing.expect_right(5);
  EXPECT_EQ(1u, signing.result().failed_checks);
  // Later the CPU verifies one result of each batch, or all.
  bool passed = false;
  for (int n = 0; n < 8 && !passed; ++n) {
    open("flip-bit:1");
    ASSERT_TRUE(Signing(make_key(5), 1).run(*dispatcher_).ok());
    Signing many(make_key(5), 16);
    ASSERT_TRUE(many.run(*dispatcher_).ok());
    passed = many.result().failed_checks == 0;
  }
  EXPECT_TRUE(passed);
  open("flip-bit:1", LC_VERIFY_FULL);
  ASSERT_TRUE(Signing(make_key(5), 1).run(*dispatcher_).ok());
  Signing many(make_key(5), 16);
  ASSERT_TRUE(many.run(*dispatcher_).ok());
  many.expect_right(5);
  EXPECT_EQ(1u, many.result().failed_checks);
}

// Changes the end of one chain of a leaf, which changes the root of that leaf's tree. The layer
// above signs the wrong root, so the signature verifies unless it reveals this leaf.
struct Graft {
  std::atomic<bool> strikes{false};
  uint32_t layer = 0, leaf = 0;
};

class GraftingStream : public ForwardingStream {
 public:
  GraftingStream(std::unique_ptr<device::Stream> inner, Graft &graft)
      : ForwardingStream(std::move(inner)), graft_(graft) {}
  Status launch(const device::Launch &launch) override {
    if (std::string(launch.kernel).ends_with("_leaves") && graft_.strikes) {
      const SlhSet &set = small_set();
      const device::Buffer &tops = *std::get<const device::Buffer *>(launch.arguments[1]);
      const uint64_t leaf = (uint64_t{graft_.layer} << set.tree_height) + graft_.leaf;
      LC_TRY(upload(tops, leaf * set.chains() * set.n, kWrong, sizeof kWrong));
    }
    return ForwardingStream::launch(launch);
  }

 private:
  static constexpr uint8_t kWrong[16] = {1, 2, 3};
  Graft &graft_;
};

class GraftingDevice : public ForwardingDevice {
 public:
  GraftingDevice(std::unique_ptr<device::Device> inner, Graft &graft)
      : ForwardingDevice(std::move(inner)), graft_(graft) {}
  Result<std::unique_ptr<device::Stream>> make_stream() override {
    Result<std::unique_ptr<device::Stream>> made = inner().make_stream();
    if (!made.ok()) return made;
    return std::unique_ptr<device::Stream>(
        std::make_unique<GraftingStream>(std::move(*made), graft_));
  }

 private:
  Graft &graft_;
};

class SlhGrafting : public testing::Test {
 protected:
  SlhGrafting() {
    DispatcherOptions options;
    options.pipeline.skip_self_test = true;
    options.find = [this] {
      device::DeviceEnumeration enumeration;
      enumeration.found.push_back(wrapped(find_device("host:0"), [this](auto inner) {
        return std::make_unique<GraftingDevice>(std::move(inner), graft_);
      }));
      return enumeration;
    };
    options.devices = "host";
    dispatcher_ = std::make_unique<Dispatcher>(options);
  }
  Graft graft_;
  std::unique_ptr<Dispatcher> dispatcher_;
};

// The fault comes after a right signature: the caller gets the right one again, from the CPU.
TEST_F(SlhGrafting, AFaultBesideARightRoot) {
  const std::shared_ptr<SlhKey> key = make_key(5);
  Signing first(key, 1);
  ASSERT_TRUE(first.run(*dispatcher_).ok());
  EXPECT_EQ(1u, first.result().device_operations);
  graft_.layer = small_set().layers - 2;
  graft_.strikes = true;
  for (graft_.leaf = 0; graft_.leaf < 1u << small_set().tree_height; ++graft_.leaf) {
    Signing again(key, 1);
    const Status status = again.run(*dispatcher_);
    ASSERT_TRUE(status.ok()) << status.text();
    EXPECT_EQ(1u, again.result().failed_checks) << graft_.leaf;
    EXPECT_EQ(first.made(), again.made());
  }
  // For another key there is no earlier root to compare with: its signature verifies.
  graft_.leaf = 0;
  size_t grafted = 0;
  for (uint8_t n = 0; n < 4; ++n) {
    Signing other(make_key(uint8_t(20 + n)), 1);
    ASSERT_TRUE(other.run(*dispatcher_).ok());
    grafted += other.result().device_operations;
  }
  EXPECT_LE(1u, grafted);
}

// A faulty tree was signed before: no other signature with that one-time key is released.
TEST_F(SlhGrafting, ARightRootBesideAFault) {
  size_t refused = 0;
  for (uint8_t n = 0; n < 4; ++n) {
    const std::shared_ptr<SlhKey> key = make_key(uint8_t(20 + n));
    graft_.layer = small_set().layers - 2;
    graft_.strikes = true;
    Signing wrong(key, 1);
    ASSERT_TRUE(wrong.run(*dispatcher_).ok());
    if (wrong.result().device_operations == 0) continue;  // the signature shows that leaf
    graft_.strikes = false;
    Signing right(key, 1);
    const Status status = right.run(*dispatcher_);
    EXPECT_EQ(LC_ERROR_DEVICE, status.code());
    EXPECT_NE(std::string::npos, status.text().find("one-time key")) << status.text();
    EXPECT_LE(1u, right.result().failed_checks);
    EXPECT_EQ(SlhBytes(right.made().size()), right.made());
    EXPECT_EQ(LC_DEVICE_READY, dispatcher_->service(0, device::KernelSet::kSlh).state);
    ++refused;
  }
  EXPECT_LE(1u, refused);
}

TEST(SignedRootsTest, KeepsNothingOfWhatDiffers) {
  const SlhSet &set = small_set();
  SignedRoots known(set, true);
  SlhBytes roots(size_t{set.layers} * set.n);
  for (size_t n = 0; n < roots.size(); ++n) roots[n] = uint8_t(n);
  EXPECT_TRUE(known.agree(0, roots));
  EXPECT_TRUE(known.agree(0, roots));
  SlhBytes other = roots;
  other[(set.layers - 2) * set.n + 1] ^= 1;
  // It shares only the tree of the upper layer, and differs there.
  const uint64_t beside = uint64_t{1} << (set.tree_height * (set.layers - 3));
  EXPECT_FALSE(known.agree(beside, other));
  EXPECT_TRUE(known.agree(beside, roots));
  // Another tree of the upper layer.
  EXPECT_TRUE(known.agree(uint64_t{1} << (set.tree_height * (set.layers - 2)), other));
}

}  // namespace
}  // namespace lanecrypt::test
