// SLH-DSA on every device: the keys and signatures of all sets that OpenSSL made, batches of
// several keys, and what is wrong.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "device/survey.h"
#include "slh/slh_launch.h"
#include "verify/slh_known_answers.h"

namespace lanecrypt::runtime {
namespace {

using Bytes = std::vector<uint8_t>;

std::string hex(std::span<const uint8_t> bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const uint8_t byte : bytes) text += {kDigits[byte >> 4], kDigits[byte & 15]};
  return text;
}

std::string sha256_of(std::span<const uint8_t> bytes) {
  Bytes digest(32);
  EXPECT_EQ(EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, EVP_sha256(), nullptr),
            1);
  return hex(digest);
}

// A key whose seeds are bytes that count up from `first`.
struct Key {
  Bytes seeds, root;

  Key(const SlhSet &set, uint8_t first) : seeds(3 * set.n), root(set.n) {
    std::iota(seeds.begin(), seeds.end(), first);
  }
  SlhKeyParts parts() const {
    const std::span<const uint8_t> all = seeds;
    const size_t n = root.size();
    return {all.first(n), all.subspan(n, n), all.last(n), root};
  }
  SlhKeyParts public_parts() const { return {{}, {}, parts().pk_seed, root}; }
};

class SlhDsa : public testing::TestWithParam<verify::SlhKnownAnswer> {
 protected:
  void SetUp() override {
    const char *wanted = getenv("LANECRYPT_TEST_DEVICES");
    const std::string name = wanted == nullptr ? "host" : wanted;
    for (const device::Found &found : device::survey({name.substr(0, name.find(':'))}).found) {
      if (found.properties.id != name && found.properties.api != name) continue;
      auto opened = found.open(device::KernelSet::kSlh);
      ASSERT_TRUE(opened.ok()) << opened.status().text();
      device_ = std::move(*opened);
      break;
    }
    ASSERT_NE(device_, nullptr) << "there is no device " << name;
    stream_ = std::move(*device_->make_stream());
    launch_ = std::make_unique<SlhLaunch>(*device_);
  }
  const SlhSet &set() const { return *find_slh_set(GetParam().set); }
  Bytes message(std::string_view text = verify::kSlhMessage) const {
    return slh_pure_message({}, {reinterpret_cast<const uint8_t *>(text.data()), text.size()});
  }
  void make_root(Key &key) {
    const SlhItem item = slh_item(set(), key.parts(), {});
    must(launch_->start_roots(*stream_, room_, set(), {&item, 1}));
    must(stream_->finish());
    launch_->finish_roots(room_, set(), key.root);
  }
  SlhItem item_of(const SlhKeyParts &key, std::span<const uint8_t> r, const Bytes &text) {
    Bytes digest(set().digest_bytes());
    must(slh_digest(set(), key, r, text, digest));
    return slh_item(set(), key, digest);
  }
  // Deterministic signatures of one text by each key. `right` tells what the device found.
  std::vector<Bytes> sign(const std::vector<Key> &keys, const Bytes &text, Bytes &right) {
    std::vector<SlhItem> items;
    const size_t bytes = set().signature_bytes();
    Bytes all(keys.size() * bytes);
    for (size_t i = 0; i < keys.size(); ++i) {
      const std::span<uint8_t> r(&all[i * bytes], set().n);
      must(slh_randomizer(set(), keys[i].parts(), {}, text, r));
      items.push_back(item_of(keys[i].parts(), r, text));
    }
    right.assign(keys.size(), 0xa5);
    must(launch_->start_sign(*stream_, room_, set(), items));
    must(stream_->finish());
    launch_->finish_sign(room_, set(), all, right);
    std::vector<Bytes> each;
    for (size_t i = 0; i < keys.size(); ++i)
      each.emplace_back(all.begin() + i * bytes, all.begin() + (i + 1) * bytes);
    return each;
  }
  bool is_valid(const Key &key, const Bytes &text, const Bytes &signature) {
    const SlhItem item = item_of(key.public_parts(), std::span(signature).first(set().n), text);
    must(launch_->start_verify(*stream_, room_, set(), {&item, 1}, signature));
    must(stream_->finish());
    uint8_t valid = 0xa5;
    must(launch_->finish_verify(room_, {&valid, 1}));
    return valid == 1;
  }
  static void must(const Status &status) { ASSERT_TRUE(status.ok()) << status.text(); }

  std::unique_ptr<device::Device> device_;
  std::unique_ptr<device::Stream> stream_;
  std::unique_ptr<SlhLaunch> launch_;
  SlhRoom room_;
};

TEST_P(SlhDsa, KnownAnswer) {
  if (set().shake && set().tree_height >= 8 && device_->properties().api == "host")
    GTEST_SKIP() << "needs a GPU: the emulator takes a minute";
  Key key(set(), 0);
  make_root(key);
  ASSERT_EQ(hex(key.root), GetParam().root);
  Bytes right;
  const std::vector<Bytes> made = sign({key}, message(), right);
  ASSERT_EQ(right, Bytes{1});
  EXPECT_EQ(sha256_of(made[0]), GetParam().signature_sha256);
  EXPECT_TRUE(is_valid(key, message(), made[0]));
  EXPECT_FALSE(is_valid(key, message("Lanecrypt signs that."), made[0]));
  // A bit of each part: of FORS, of a chain, of the last path.
  for (const size_t at : {size_t{set().n}, made[0].size() / 2, made[0].size() - 1}) {
    Bytes wrong = made[0];
    wrong[at] ^= 1;
    EXPECT_FALSE(is_valid(key, message(), wrong)) << "byte " << at;
  }
  EXPECT_EQ(launch_->launches(), 3 + 5 + 5u);
}

// Signatures of several keys in one launch. One key's root is wrong: the device must tell that
// of this signature alone, and write nothing of it.
TEST_P(SlhDsa, Batch) {
  if (set().tree_height >= 8) GTEST_SKIP() << "the small sets show it sooner";
  std::vector<Key> keys;
  for (uint8_t i = 0; i < 5; ++i) {
    keys.emplace_back(set(), uint8_t(7 * i));
    make_root(keys.back());
  }
  keys[3].root[0] ^= 1;
  Bytes right;
  const std::vector<Bytes> made = sign(keys, message(), right);
  EXPECT_EQ(right, (Bytes{1, 1, 1, 0, 1}));
  EXPECT_EQ(sha256_of(made[0]), GetParam().signature_sha256);
  for (size_t i = 0; i < keys.size(); ++i)
    EXPECT_TRUE(i == 3 || is_valid(keys[i], message(), made[i])) << i;
  EXPECT_TRUE(std::all_of(made[3].begin() + set().n, made[3].end(),
                          [](uint8_t byte) { return byte == 0; }));
}

INSTANTIATE_TEST_SUITE_P(Sets, SlhDsa,
                         testing::ValuesIn(verify::slh_known_answers().begin(),
                                           verify::slh_known_answers().end()),
                         [](const auto &tested) {
                           std::string name(tested.param.set);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace lanecrypt::runtime
