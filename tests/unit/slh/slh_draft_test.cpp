// SLH-DSA with the parameter sets of the draft SP 800-230: on every device with trees that are
// small enough to build here and use the same kernels, and on the CPU with the sets themselves. The
// expected answers come from an independent program (tests/vectors/README.md).
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <numeric>
#include <sstream>

#include "cpu/digest.h"
#include "cpu/slh/cpu_slh.h"
#include "cpu/slh/host_slh.h"
#include "cpu/slh/slh_message.h"
#include "slh/slh_launch.h"
#include "unit/slh/slh_dsa_job.h"
#include "unit/support/devices.h"
#include "unit/support/faulty_device.h"
#include "verify/hex.h"
#include "verify/slh_known_answers.h"

namespace lanecrypt::test {
namespace {

using runtime::SlhLaunch;
using runtime::SlhWorkspace;

const SlhBytes kMessage(verify::kSlhMessage.begin(), verify::kSlhMessage.end());

std::vector<std::string> lines_of(const std::string &kind) {
  std::ifstream file(LANECRYPT_VECTORS "/slh_dsa_draft.txt");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(kind + " ")) lines.push_back(line.substr(kind.size() + 1));
  return lines;
}

SlhBytes counted(size_t size) {
  SlhBytes bytes(size);
  std::iota(bytes.begin(), bytes.end(), uint8_t{0});
  return bytes;
}

// A set with a small tree, and its expected key and signature.
struct Small {
  SlhSet set{};
  std::string root, signature_sha256;

  explicit Small(const std::string &line) {
    std::istringstream words(line);
    std::string family;
    set.name = "small";
    set.layers = 1;
    words >> family >> set.n >> set.tree_height >> set.fors_height >> set.fors_trees >> set.lg_w >>
        root >> signature_sha256;
    set.shake = family == "SHAKE";
    set.height = set.tree_height;
  }
};

// Returns a job of one message through the internal interface.
SlhJob job_of(lc_slh_dsa_operation operation, const std::shared_ptr<SlhKey> &key,
              uint8_t *signature) {
  SlhJob job;
  job.operation = operation;
  job.encoding = LC_MESSAGE_RAW;
  job.is_deterministic = true;
  job.keys = {key};
  job.messages.push_back({.key = 0, .message = kMessage, .context = {}, .signature = signature});
  return job;
}

std::shared_ptr<SlhKey> key_of(const SlhSet &set, const SlhBytes &bytes,
                               std::vector<uint32_t> tree = {}) {
  const auto key = std::make_shared<SlhKey>(set, bytes, RandomSource{});
  key->tree = std::move(tree);
  const Status status = cpu::prepare(*key);
  EXPECT_TRUE(status.ok()) << status.text();
  return key;
}

class SlhDraft : public testing::TestWithParam<DeviceCase> {
 protected:
  // Returns the small sets to test. OpenCL on a CPU compiles the six kernels of each n and family
  // for many seconds. There one set of each family is enough; in runs of every form, one of SHA-2
  // with SHA-512 is added.
  static std::vector<std::string> small_lines() {
    std::vector<std::string> lines = lines_of("small");
    if (GetParam().is_opencl_on_cpu())
      std::erase_if(lines, [](const std::string &line) {
        return !line.starts_with("SHA2 16 ") && !line.starts_with("SHAKE 24 ") &&
               !(wants_every_case() && line.starts_with("SHA2 32 "));
      });
    return lines;
  }
  void SetUp() override {
    if (GetParam().absent) GTEST_SKIP() << "there is no " << GetParam().id;
    const device::Found found = find_device(GetParam().id);
    ASSERT_EQ("", found.properties.unusable);
    Result<std::unique_ptr<device::Device>> device = found.open(device::KernelSet::kSlh);
    ASSERT_TRUE(device.ok()) << device.status().text();
    device_ = std::move(*device);
    launch_ = std::make_unique<SlhLaunch>(*device_, copiers_);
    stream_ = std::move(*device_->make_stream());
    event_ = std::move(*device_->make_event());
  }
  // Checks `status`, and waits for the stream.
  void finish(const Status &status) {
    ASSERT_TRUE(status.ok()) << status.text();
    ASSERT_TRUE(stream_->mark(*event_).ok());
    const Status ended = event_->wait();
    ASSERT_TRUE(ended.ok()) << ended.text();
  }
  void expect_launches(uint64_t count) {
    EXPECT_EQ(count, launch_->launches() - launches_);
    launches_ = launch_->launches();
  }

  // Returns the private key, and in `tree` the nodes of its tree that are kept, as bytes.
  SlhBytes make_key(const SlhSet &set, SlhBytes *tree) {
    SlhBytes key = counted(set.seed_bytes());
    finish(launch_->start_keys(*stream_, workspace_, set, 1, [&](uint32_t, SlhItem &item) {
      item = {};
      const std::span<const uint8_t> seeds(key);
      cpu::slh_put_key(set,
                       {.sk_seed = seeds.first(set.n),
                        .sk_prf = {},
                        .pk_seed = seeds.subspan(2 * set.n, set.n),
                        .pk_root = {}},
                       item);
    }));
    key.resize(set.private_bytes());
    SlhLaunch::take_root(workspace_, set, 0, &key[set.seed_bytes()]);
    tree->resize(set.kept_bytes());
    for (size_t at = 0; at < tree->size(); at += set.n)
      cpu::slh_bytes(set, SlhLaunch::kept_nodes(workspace_, set, 0) + at / 4, &(*tree)[at]);
    SlhLaunch::wipe_host(workspace_);
    return key;
  }
  // Signs. Returns whether the device verified its own signature.
  bool sign(const std::shared_ptr<SlhKey> &key, SlhBytes *signature) {
    signature->assign(key->set.signature_bytes(), 0);
    cpu::SlhHashed hashed;
    EXPECT_TRUE(cpu::hash_to_sign(job_of(LC_SLH_DSA_SIGN, key, signature->data()),
                                  job_of(LC_SLH_DSA_SIGN, key, signature->data()).messages[0], {},
                                  hashed)
                    .ok());
    finish(launch_->start_sign(
        *stream_, workspace_, key->set, 1,
        [&](uint32_t, SlhItem &item) { cpu::put_item(*key, hashed, item); }, key->tree));
    std::copy_n(SlhLaunch::signature(workspace_, key->set, 0), signature->size(),
                signature->begin());
    std::copy_n(hashed.r, key->set.n, signature->begin());
    const bool is_right = SlhLaunch::is_right(workspace_, key->set, 0);
    SlhLaunch::wipe_host(workspace_);
    return is_right;
  }
  // Returns the verdicts of the device and of the CPU.
  std::vector<bool> verdicts(const std::shared_ptr<SlhKey> &key, SlhBytes signature) {
    const SlhJob job = job_of(LC_SLH_DSA_VERIFY, key, signature.data());
    cpu::SlhHashed hashed;
    EXPECT_TRUE(cpu::hash_to_verify(job, job.messages[0], hashed).ok());
    finish(launch_->start_verify(
        *stream_, workspace_, key->set, 1,
        [&](uint32_t, SlhItem &item) { cpu::put_item(*key, hashed, item); },
        [&](uint32_t) { return signature.data(); }));
    Result<bool> verdict = SlhLaunch::verdict(workspace_, 0);
    EXPECT_TRUE(verdict.ok());
    bool on_cpu = false;
    EXPECT_TRUE(cpu::slh_verify(*key, hashed, signature, on_cpu).ok());
    return {verdict.ok() && *verdict, on_cpu};
  }

  std::unique_ptr<device::Device> device_;
  runtime::Workers copiers_{1};
  std::unique_ptr<SlhLaunch> launch_;
  std::unique_ptr<device::Stream> stream_;
  std::unique_ptr<device::Event> event_;
  SlhWorkspace workspace_;
  uint64_t launches_ = 0;
};

std::string hex_digest(const SlhBytes &bytes) {
  uint8_t digest[32];
  EXPECT_TRUE(cpu::digest(cpu::Digest::kSha256, {bytes}, digest).ok());
  return verify::to_hex(digest);
}

TEST_P(SlhDraft, KnownAnswersOfSmallTrees) {
  ASSERT_EQ(12u, lines_of("small").size());
  for (const std::string &line : small_lines()) {
    SCOPED_TRACE(line);
    const Small small(line);
    const SlhSet &set = small.set;
    const bool is_tall = set.kept_bytes() != 0;
    SlhBytes tree, signature;
    const SlhBytes bytes = make_key(set, &tree);
    ASSERT_EQ(small.root, verify::to_hex(std::span(bytes).last(set.n)));
    expect_launches(is_tall ? 3 : 2);

    const auto key = key_of(set, bytes);
    EXPECT_TRUE(sign(key, &signature));
    EXPECT_EQ(small.signature_sha256, hex_digest(signature));
    expect_launches(is_tall ? 6 : 5);
    EXPECT_EQ((std::vector<bool>{true, true}), verdicts(key, signature));
    // Changes a bit of each part: of R, of FORS, of a chain, of the path.
    const size_t chain = set.n * (1 + set.fors_trees * (set.fors_height + 1));
    for (const size_t at : {size_t{0}, size_t{set.n}, chain, signature.size() - 1}) {
      signature[at] ^= 1;
      EXPECT_EQ((std::vector<bool>{false, false}), verdicts(key, signature)) << "byte " << at;
      signature[at] ^= 1;
    }
    expect_launches(5);
  }
}

// A key with the kept nodes of its tree makes the same signature, and one with a wrong node makes
// none.
TEST_P(SlhDraft, AKeptTree) {
  for (const std::string &line : small_lines()) {
    SCOPED_TRACE(line);
    const Small small(line);
    const SlhSet &set = small.set;
    if (set.kept_bytes() == 0) continue;
    SlhBytes tree, signature;
    const SlhBytes bytes = make_key(set, &tree);
    std::vector<uint32_t> nodes(tree.size() / 4);
    std::memcpy(nodes.data(), tree.data(), tree.size());
    const auto key = key_of(set, bytes, nodes);
    launches_ = launch_->launches();
    EXPECT_TRUE(sign(key, &signature));
    EXPECT_EQ(small.signature_sha256, hex_digest(signature));
    expect_launches(6);
    // The CPU computes the same nodes, and the same root from them.
    SlhBytes made(set.n);
    for (const uint32_t part : {0u, set.kept_nodes() - 1}) {
      EXPECT_TRUE(cpu::slh_part(set, std::span(bytes).first(set.seed_bytes()), part, made).ok());
      EXPECT_TRUE(std::equal(made.begin(), made.end(), &tree[part * set.n]));
    }
    for (uint32_t &node : nodes) {
      node ^= 1;
      SlhKey other(set, bytes, RandomSource{});
      other.tree = nodes;
      EXPECT_EQ(LC_ERROR_ARGUMENT, cpu::prepare(other).code());
      // The device is given a wrong node all the same.
      if (&node == nodes.data()) {
        key->tree = other.tree;
        EXPECT_FALSE(sign(key, &signature));
      }
      node ^= 1;
    }
  }
}

// A key with a wrong PK.root signs nothing.
TEST_P(SlhDraft, AWrongRoot) {
  const Small small(small_lines().front());
  SlhBytes tree, signature;
  SlhBytes bytes = make_key(small.set, &tree);
  EXPECT_TRUE(sign(key_of(small.set, bytes), &signature));
  bytes.back() ^= 1;
  EXPECT_FALSE(sign(key_of(small.set, bytes), &signature));
}

INSTANTIATE_TEST_SUITE_P(Devices, SlhDraft, testing::ValuesIn([] {
                           std::vector<DeviceCase> all = devices_under_test();
                           std::erase_if(all, [](const DeviceCase &one) { return one.is_gl(); });
                           return all;
                         }()),
                         device_case_name);

// Random bytes as a signature: the computed root must be the reference's.
TEST(SlhDraftSets, LeadWhereTheReferenceSays) {
  const std::vector<std::string> lines = lines_of("draft");
  ASSERT_EQ(6u, lines.size());
  for (size_t at = 0; at < lines.size(); ++at) {
    SCOPED_TRACE(lines[at]);
    const SlhSet &set = *find_slh_set(uint32_t(LC_SLH_DSA_SHA2_128_24 + at));
    const std::string name = lines[at].substr(0, lines[at].find(' '));
    ASSERT_EQ(name, set.name);
    SlhBytes made(set.public_bytes() + set.signature_bytes());
    const std::span<const uint8_t> text(reinterpret_cast<const uint8_t *>(name.data()),
                                        name.size());
    ASSERT_TRUE(cpu::digest(cpu::Digest::kShake256, {text}, made).ok());
    const auto key = key_of(set, SlhBytes(made.begin(), made.begin() + set.public_bytes()));
    const SlhJob job = job_of(LC_SLH_DSA_VERIFY, key, &made[set.public_bytes()]);
    cpu::SlhHashed hashed;
    ASSERT_TRUE(cpu::hash_to_verify(job, job.messages[0], hashed).ok());
    SlhItem item;
    cpu::put_item(*key, hashed, item);
    bool valid = true;
    cpu::SlhRoots roots;
    ASSERT_TRUE(
        cpu::host_slh_verify(set, item, std::span(made).subspan(set.public_bytes()), valid, roots)
            .ok());
    EXPECT_FALSE(valid);
    EXPECT_EQ(lines[at].substr(name.size() + 1), verify::to_hex(std::span(roots).first(set.n)));
  }
}

TEST(SlhDraftSets, AreNamed) {
  const struct {
    lc_slh_dsa_set set;
    const char *name;
    size_t n, signature, tree;
  } all[] = {{LC_SLH_DSA_SHA2_128_24, "SLH-DSA-SHA2-128-24", 16, 3856, 131072},
             {LC_SLH_DSA_SHA2_192_24, "SLH-DSA-SHA2-192-24", 24, 7752, 98304},
             {LC_SLH_DSA_SHA2_256_24, "SLH-DSA-SHA2-256-24", 32, 14944, 131072},
             {LC_SLH_DSA_SHAKE_128_24, "SLH-DSA-SHAKE-128-24", 16, 3856, 131072},
             {LC_SLH_DSA_SHAKE_192_24, "SLH-DSA-SHAKE-192-24", 24, 7752, 98304},
             {LC_SLH_DSA_SHAKE_256_24, "SLH-DSA-SHAKE-256-24", 32, 14944, 131072}};
  for (const auto &each : all) {
    EXPECT_STREQ(each.name, lc_slh_dsa_name(each.set));
    EXPECT_EQ(each.n, lc_slh_dsa_hash_bytes(each.set));
    EXPECT_EQ(each.signature, lc_slh_dsa_signature_bytes(each.set));
    EXPECT_EQ(each.tree, lc_slh_dsa_tree_bytes(each.set));
  }
  EXPECT_EQ(0u, lc_slh_dsa_tree_bytes(LC_SLH_DSA_SHA2_128S));
  EXPECT_EQ(nullptr, lc_slh_dsa_name(lc_slh_dsa_set(31)));
  EXPECT_EQ(nullptr, lc_slh_dsa_name(lc_slh_dsa_set(38)));
}

// The CPU verifies with these sets, and refuses to sign and to make keys.
TEST(SlhDraftSets, OnTheCpu) {
  const Context context("none", LC_FALLBACK_CPU);
  SlhRunner runner(context.get(), LC_CPU);
  const uint32_t set = LC_SLH_DSA_SHA2_128_24;
  const SlhKeyHandle key = slh_key(set, SlhBytes(64, 1));
  const SlhBytes untouched(lc_slh_dsa_signature_bytes(lc_slh_dsa_set(set)), 0xa5);
  EXPECT_EQ(untouched, runner.sign(set, {key.get()}, kMessage, LC_ERROR_UNSUPPORTED).front());
  EXPECT_FALSE(runner.is_valid(key, kMessage, untouched));
  SlhBytes made(64, 0xa5), tree(lc_slh_dsa_tree_bytes(lc_slh_dsa_set(set)), 0xa5);
  lc_slh_dsa_generation generation{};
  generation.struct_size = sizeof generation;
  generation.set = lc_slh_dsa_set(set);
  generation.device = LC_CPU;
  generation.count = 1;
  generation.keys = made.data();
  generation.trees = tree.data();
  EXPECT_EQ(LC_ERROR_UNSUPPORTED, lc_slh_dsa_generate(context.get(), &generation, nullptr));
  EXPECT_NE(nullptr, strstr(lc_last_error(), "only a device makes keys"));
  EXPECT_EQ(SlhBytes(64, 0xa5), made);
  // The other sets keep no tree.
  generation.set = LC_SLH_DSA_SHA2_128F;
  EXPECT_EQ(LC_ERROR_ARGUMENT, lc_slh_dsa_generate(context.get(), &generation, nullptr));
}

TEST(SlhDraftSets, WrongTreesOfKeys) {
  const SlhBytes bytes(64, 1), tree(lc_slh_dsa_tree_bytes(LC_SLH_DSA_SHA2_128_24), 1);
  lc_slh_dsa_parts parts{};
  parts.struct_size = sizeof parts;
  parts.private_key = bytes.data();
  parts.private_key_bytes = bytes.size();
  const auto status_of = [&](lc_slh_dsa_set set, const uint8_t *nodes, size_t size) {
    parts.set = set;
    parts.tree = nodes;
    parts.tree_bytes = size;
    lc_slh_dsa_key *key = nullptr;
    const lc_status status = lc_slh_dsa_key_new(&parts, &key);
    lc_slh_dsa_key_free(key);
    return status;
  };
  const lc_slh_dsa_set draft = LC_SLH_DSA_SHA2_128_24;
  EXPECT_EQ(LC_OK, status_of(draft, nullptr, 0));
  // the tree of another key
  EXPECT_EQ(LC_ERROR_ARGUMENT, status_of(draft, tree.data(), tree.size()));
  EXPECT_EQ(LC_ERROR_ARGUMENT, status_of(draft, tree.data(), tree.size() - 16));
  EXPECT_EQ(LC_ERROR_ARGUMENT, status_of(draft, tree.data(), 0));
  EXPECT_EQ(LC_ERROR_ARGUMENT, status_of(draft, nullptr, tree.size()));
  EXPECT_EQ(LC_ERROR_ARGUMENT, status_of(LC_SLH_DSA_SHA2_128S, tree.data(), tree.size()));
  // A public key has no tree.
  parts.public_key = bytes.data();
  parts.public_key_bytes = 32;
  parts.private_key = nullptr;
  parts.private_key_bytes = 0;
  EXPECT_EQ(LC_OK, status_of(draft, nullptr, 0));
  EXPECT_EQ(LC_ERROR_ARGUMENT, status_of(draft, tree.data(), tree.size()));
}

}  // namespace
}  // namespace lanecrypt::test
