// Parameter sets of the draft SP 800-230 on devices that fail, at every stage, on the emulator: no
// wrong signature is released, the caller is told that the device failed, and no secret stays in
// memory. The sets here have small trees, and otherwise follow the draft.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "cpu/digest.h"
#include "placement/dispatcher.h"
#include "slh/slh_engine.h"
#include "unit/slh/slh_dsa_job.h"
#include "unit/support/devices.h"
#include "unit/support/faulty_device.h"
#include "unit/support/watched_device.h"
#include "verify/hex.h"

namespace lanecrypt::test {
namespace {

using namespace std::chrono_literals;
using runtime::BatchItem;
using runtime::SlhKeys;
using runtime::SlhRequest;
using runtime::SlhSignatures;

// For each hash family one set whose tree has kept nodes, and one that is too small to have any.
constexpr SlhSet kSha2 = {.number = LC_SLH_DSA_SHA2_128_24,
                          .name = "small SHA2",
                          .shake = false,
                          .n = 16,
                          .height = 10,
                          .layers = 1,
                          .tree_height = 10,
                          .fors_height = 6,
                          .fors_trees = 6,
                          .lg_w = 2};
constexpr SlhSet kShake = {.number = LC_SLH_DSA_SHAKE_192_24,
                           .name = "small SHAKE",
                           .shake = true,
                           .n = 24,
                           .height = 10,
                           .layers = 1,
                           .tree_height = 10,
                           .fors_height = 6,
                           .fors_trees = 9,
                           .lg_w = 3};
constexpr SlhSet low(SlhSet set) {
  set.height = set.tree_height = 5;
  return set;
}
constexpr SlhSet kLowSha2 = low(kSha2), kLowShake = low(kShake);
// PK.root of the key that each set makes from the bytes 0, 1, 2, ...
// (tests/vectors/slh_dsa_draft.txt).
constexpr const char *kLowSha2Root = "256bb52ba421c37a75976be41232a4e0";
constexpr const char *kLowShakeRoot = "bb5fe65648f30d111dc805fcb36b82bb6b16e05d75a79683";

std::shared_ptr<SlhKey> prepared(const SlhSet &set, const SlhBytes &bytes,
                                 std::vector<uint32_t> tree) {
  const auto key = std::make_shared<SlhKey>(set, bytes, RandomSource{});
  key->tree = std::move(tree);
  const Status status = cpu::prepare(*key);
  EXPECT_TRUE(status.ok()) << status.text();
  return key;
}

std::shared_ptr<SlhKey> low_key(bool is_shake) {
  const SlhSet &set = is_shake ? kLowShake : kLowSha2;
  SlhBytes bytes(set.seed_bytes());
  std::iota(bytes.begin(), bytes.end(), uint8_t{0});
  for (const uint8_t byte : verify::from_hex(is_shake ? kLowShakeRoot : kLowSha2Root))
    bytes.push_back(byte);
  return prepared(set, bytes, {});
}

// A new key with its tree.
struct Made {
  explicit Made(const SlhSet &of)
      : set(of), seeds(of.seed_bytes()), key(of.private_bytes()), tree(of.kept_bytes()) {
    for (size_t n = 0; n < seeds.size(); ++n) seeds[n] = uint8_t(77 + 5 * n);
  }
  std::shared_ptr<SlhKeys> request() {
    const auto keys = std::make_shared<SlhKeys>(SlhGeneration{.set = &set,
                                                              .count = 1,
                                                              .seeds = seeds.data(),
                                                              .keys = key.data(),
                                                              .trees = tree.data(),
                                                              .random = {}},
                                                nullptr);
    EXPECT_TRUE(keys->take_seeds().ok());
    return keys;
  }
  // Returns the key with the kept nodes of its tree.
  std::shared_ptr<SlhKey> prepared() const {
    std::vector<uint32_t> nodes(tree.size() / 4);
    std::memcpy(nodes.data(), tree.data(), tree.size());
    return test::prepared(set, key, std::move(nodes));
  }

  const SlhSet &set;
  SlhBytes seeds, key, tree;
};

// A deterministic signature of one message.
struct Signed {
  explicit Signed(const std::shared_ptr<SlhKey> &key) : signature(key->set.signature_bytes()) {
    SlhJob job;
    job.is_deterministic = true;
    job.keys = {key};
    job.messages.push_back({.key = 0, .message = {}, .context = {}, .signature = signature.data()});
    request = std::make_shared<SlhSignatures>(job, nullptr);
    EXPECT_TRUE(request->hash(nullptr).ok());
  }
  bool is_untouched() const { return signature == SlhBytes(signature.size()); }

  SlhBytes signature;
  std::shared_ptr<SlhSignatures> request;
};

class SlhDraftTrust : public testing::Test {
 protected:
  void open(const std::string &fault) {
    dispatcher_.reset();
    fault_.reset();  // restores the old value
    runtime::DispatcherOptions options;
    options.devices = "host";
    fault_ = std::make_unique<ScopedEnvironment>("LANECRYPT_HOST_FAULT", fault.c_str());
    options.pipeline.time_limit = 120s;
    options.pipeline.skip_self_test = true;
    dispatcher_ = std::make_unique<runtime::Dispatcher>(options);
  }
  Status run(const std::shared_ptr<SlhRequest> &request) {
    LC_TRY(dispatcher_->submit(runtime::SlhRequestPointer(request)));
    return request->wait();
  }
  Made new_key() {
    Made made(kSha2);
    open("");
    EXPECT_TRUE(run(made.request()).ok());
    return made;
  }
  // In each run something fails one step later, until nothing fails. `once` runs an operation, and
  // returns whether nothing wrong was released.
  template <typename Once>
  void fail_at_every_stage(const std::string &kind, uint64_t least, const Once &once) {
    constexpr uint64_t kMost = 16;
    uint64_t n = 0;
    for (bool struck = true; struck && n < kMost; ++n) {
      const std::string fault = kind + (":" + std::to_string(n));
      SCOPED_TRACE(fault);
      open(fault);
      const Status status = once();
      struck = !status.ok();
      if (!struck) continue;
      EXPECT_EQ(LC_ERROR_DEVICE, status.code()) << status.text();
      EXPECT_EQ(std::string::npos, status.text().find("only a device")) << status.text();
    }
    EXPECT_LT(n, kMost) << kind << " strikes for ever";
    EXPECT_GT(n, least) << kind;
  }

  std::unique_ptr<ScopedEnvironment> fault_;
  std::unique_ptr<runtime::Dispatcher> dispatcher_;
};

struct Fault {
  const char *kind;
  uint64_t least;  // the least number of stages that must show the fault
};

TEST_F(SlhDraftTrust, EveryFaultOfASignature) {
  const auto expect_right = [&](const std::shared_ptr<SlhKey> &key,
                                std::initializer_list<Fault> faults) {
    open("");
    Signed right(key);
    ASSERT_TRUE(run(right.request).ok());
    for (const Fault &fault : faults)
      fail_at_every_stage(fault.kind, fault.least, [&] {
        Signed one(key);
        const Status status = run(one.request);
        if (status.ok())
          EXPECT_EQ(right.signature, one.signature);
        else
          EXPECT_TRUE(one.is_untouched());
        EXPECT_EQ(status.ok() ? 1u : 0u, one.request->result.device_operations);
        return status;
      });
  };
  expect_right(low_key(false), {{"lost-upload", 1},
                                {"lost-after", 5},
                                {"lost-download", 1},
                                {"fail-launch", 5},
                                {"drop-kernel", 5},
                                {"drop-download", 1},
                                {"flip-bit", 1}});
  // With kept nodes, these are uploaded, and the part of the tree below them is computed first.
  expect_right(new_key().prepared(), {{"lost-upload", 2}, {"drop-kernel", 6}});
}

TEST_F(SlhDraftTrust, EveryFaultOfANewKey) {
  const Made right = new_key();
  for (const Fault &fault : {Fault{"lost-after", 3}, Fault{"drop-kernel", 3}, Fault{"flip-bit", 2}})
    fail_at_every_stage(fault.kind, fault.least, [&] {
      Made made(kSha2);
      const Status status = run(made.request());
      EXPECT_EQ(status.ok() ? right.key : SlhBytes(made.key.size()), made.key);
      EXPECT_EQ(status.ok() ? right.tree : SlhBytes(made.tree.size()), made.tree);
      return status;
    });
}

// Later callers too are told which device has failed.
TEST_F(SlhDraftTrust, ALostDevice) {
  open("lost-after:0");
  Signed first(low_key(false)), second(low_key(false));
  EXPECT_EQ(LC_ERROR_DEVICE, run(first.request).code());
  const Status status = run(second.request);
  EXPECT_EQ(LC_ERROR_NO_DEVICE, status.code());
  EXPECT_NE(std::string::npos, status.text().find("the device was lost")) << status.text();
  EXPECT_TRUE(second.is_untouched());
}

// Searches the memory when the signature has been made but not released yet.
class SeeingStream : public ForwardingStream {
 public:
  using See = std::function<void()>;
  SeeingStream(std::unique_ptr<device::Stream> inner, const See &see)
      : ForwardingStream(std::move(inner)), see_(see) {}
  Status launch(const device::Launch &launch) override {
    if (std::string(launch.kernel).ends_with("_reveal")) {
      LC_TRY(finish());
      see_();
    }
    return ForwardingStream::launch(launch);
  }

 private:
  const See &see_;
};

class SeeingDevice : public WatchedDevice {
 public:
  SeeingDevice(std::unique_ptr<device::Device> inner, WatchedMemory &memory,
               const SeeingStream::See &see)
      : WatchedDevice(std::move(inner), memory), see_(see) {}
  Result<std::unique_ptr<device::Stream>> make_stream() override {
    Result<std::unique_ptr<device::Stream>> made = inner().make_stream();
    if (!made.ok()) return made;
    return std::unique_ptr<device::Stream>(std::make_unique<SeeingStream>(std::move(*made), see_));
  }

 private:
  const SeeingStream::See &see_;
};

class SlhDraftWiped : public testing::TestWithParam<bool> {
 protected:
  static bool is_shake() { return GetParam(); }
  void open(const std::string &faults) {
    engine_.reset();
    memory_ = WatchedMemory();
    const device::Found found =
        wrapped(with_faults(find_device("host:0"), faults), [this](auto inner) {
          return std::make_unique<SeeingDevice>(std::move(inner), memory_, see_);
        });
    Result<std::unique_ptr<runtime::BatchEngine>> engine =
        runtime::make_slh_engine(found, {.skip_self_test = true});
    ASSERT_TRUE(engine.ok()) << engine.status().text();
    engine_ = std::move(*engine);
  }
  // Returns LC_ERROR_DEVICE if the device found the result wrong.
  Status run(const std::shared_ptr<SlhRequest> &request) {
    const BatchItem item{request, 0};
    runtime::ItemResults results(1);
    const runtime::BatchEngine::Started started =
        engine_->start(request->kind_of(0), {&item, 1}, results);
    if (!started.failure.ok()) return started.failure.status();
    while (!started.batch->is_done()) std::this_thread::sleep_for(std::chrono::microseconds(100));
    LC_TRY(started.batch->finish(results).status());
    return results.is_right(0) ? Status() : Status(LC_ERROR_DEVICE, "wrong");
  }
  // Whether memory holds the secret, as bytes or as the words of the kernels.
  static bool holds(const WatchedMemory &memory, const SlhBytes &secret) {
    SlhBytes words = secret;
    for (size_t at = 0; at < words.size(); at += 4)
      std::reverse(words.begin() + ptrdiff_t(at), words.begin() + ptrdiff_t(at) + 4);
    return memory.holds(secret) || memory.holds(words);
  }
  static SlhBytes seed_of(const SlhKey &key) {
    return {key.parts.sk_seed.begin(), key.parts.sk_seed.end()};
  }
  // Returns the secret at the head of a chain (PRF of FIPS 205, sections 11.1 and 11.2).
  static SlhBytes head_of(const SlhKey &key, uint32_t leaf, uint32_t chain) {
    constexpr uint8_t kWotsPrf = 5;
    SlhBytes address(32);
    address[19] = kWotsPrf;
    for (size_t n = 0; n < 4; ++n) {
      address[20 + n] = uint8_t(leaf >> (24 - 8 * n));
      address[24 + n] = uint8_t(chain >> (24 - 8 * n));
    }
    const size_t n = key.set.n;
    const SlhBytes padding(is_shake() ? 0 : 64 - n);
    if (!is_shake()) {
      // The compressed address of FIPS 205, section 11.2: the layer, the tree, the type and what
      // follows it.
      address.erase(address.begin() + 16, address.begin() + 19);
      address.erase(address.begin() + 4, address.begin() + 8);
      address.erase(address.begin(), address.begin() + 3);
    }
    SlhBytes made(is_shake() ? n : 32);
    EXPECT_TRUE(cpu::digest(is_shake() ? cpu::Digest::kShake256 : cpu::Digest::kSha256,
                            {key.parts.pk_seed, padding, address, key.parts.sk_seed}, made)
                    .ok());
    made.resize(n);
    return made;
  }
  // Returns SK.seed, and the heads of some chains of the signing leaf that the signature does not
  // reveal.
  static std::vector<SlhBytes> secrets_of(const SlhKey &key, const Signed &one) {
    SlhItem item;
    one.request->put_item(0, item);
    std::vector<SlhBytes> secrets{seed_of(key)};
    for (uint32_t chain = 0; chain < key.set.chains(); ++chain)
      if (SlhBytes head = head_of(key, item.leaf, chain);
          std::search(one.signature.begin(), one.signature.end(), head.begin(), head.end()) ==
          one.signature.end())
        secrets.push_back(std::move(head));
    // the signature reveals some heads, so they are computed correctly
    EXPECT_LT(secrets.size(), key.set.chains());
    // Searching for all heads takes long.
    constexpr size_t kSome = 4;
    EXPECT_LT(kSome, secrets.size());
    secrets.resize(kSome);
    return secrets;
  }
  void expect_none(const std::vector<SlhBytes> &secrets) {
    for (const SlhBytes &secret : secrets) EXPECT_FALSE(holds(memory_, secret));
  }
  // Signs without a fault, and checks that the secrets are in memory before the signature is
  // released. This shows that the test can fail.
  std::vector<SlhBytes> sign_well(const std::shared_ptr<SlhKey> &key) {
    open("");
    Signed right(key);
    EXPECT_TRUE(run(right.request).ok());
    const std::vector<SlhBytes> secrets = secrets_of(*key, right);
    expect_none(secrets);
    bool were_there = false;
    see_ = [&] { were_there = holds(memory_, secrets.front()) && holds(memory_, secrets.back()); };
    Signed again(key);
    EXPECT_TRUE(run(again.request).ok());
    see_ = [] {};
    EXPECT_TRUE(were_there);
    expect_none(secrets);
    return secrets;
  }

  SeeingStream::See see_ = [] {};
  WatchedMemory memory_;
  std::unique_ptr<runtime::BatchEngine> engine_;
};

TEST_P(SlhDraftWiped, AfterASignature) {
  const std::shared_ptr<SlhKey> key = low_key(is_shake());
  const std::vector<SlhBytes> secrets = sign_well(key);
  for (const char *kind :
       {"fail-launch:", "no-memory:", "drop-kernel:", "drop-download:", "flip-bit:"}) {
    bool struck = true;
    for (int n = 0; n < 20 && struck; ++n) {
      SCOPED_TRACE(kind + std::to_string(n));
      open(kind + std::to_string(n));
      Signed one(key);
      struck = !run(one.request).ok();
      EXPECT_TRUE(!struck || one.is_untouched());
      expect_none(secrets);
      engine_.reset();
      expect_none(secrets);
    }
    EXPECT_FALSE(struck) << kind;
  }
}

TEST_P(SlhDraftWiped, AfterANewKey) {
  const SlhSet &set = is_shake() ? kShake : kSha2;
  for (const char *kind : {"", "fail-launch:"}) {
    bool struck = true;
    for (int n = 0; n < 20 && struck; ++n) {
      const std::string fault = *kind == 0 ? "" : kind + std::to_string(n);
      SCOPED_TRACE(fault);
      open(fault);
      Made made(set);
      struck = !run(made.request()).ok();
      const SlhBytes seed(made.seeds.begin(), made.seeds.begin() + ptrdiff_t(set.n));
      expect_none({seed});
      engine_.reset();
      expect_none({seed});
      if (*kind != 0 || struck) continue;
      // What signs with the kept nodes is wiped as well.
      sign_well(made.prepared());
    }
    EXPECT_FALSE(struck) << kind;
  }
}

INSTANTIATE_TEST_SUITE_P(Families, SlhDraftWiped, testing::Bool(),
                         [](const auto &one) { return one.param ? "Shake" : "Sha2"; });

}  // namespace
}  // namespace lanecrypt::test
