// Tests where cipher keys lie in the process. OpenSSL's contexts have theirs in the same places as
// without the provider. All of the provider's copies are in memory that core dumps exclude.
//
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>

#include "provider/provider_under_test.h"
#include "provider/random_input.h"

namespace provider_test {
namespace {

constexpr size_t kNeedleBytes = 16;
// The test's own copies of a key are XORed with this, so that the search does not find them.
constexpr uint8_t kHidden = 0xA5;

struct Mapping {
  uintptr_t first = 0, end = 0;
  bool is_dumped = true, is_empty = true;
  std::string line;
};

// read_mappings() returns the writable mappings, except for stacks. Calls leave data there,
// OpenSSL's too, which later calls overwrite.
std::vector<Mapping> read_mappings() {
  pthread_attr_t attributes;
  size_t stack_bytes = 0;
  EXPECT_EQ(pthread_getattr_default_np(&attributes), 0);
  pthread_attr_getstacksize(&attributes, &stack_bytes);
  pthread_attr_destroy(&attributes);
  std::vector<Mapping> all;
  std::ifstream maps("/proc/self/smaps");
  bool is_wanted = false;
  for (std::string line; std::getline(maps, line);) {
    Mapping one;
    char rights[5] = "";
    size_t resident = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx %4s", &one.first, &one.end, rights) == 3) {
      is_wanted = std::string(rights).starts_with("rw") && one.end - one.first != stack_bytes &&
                  !line.ends_with("[stack]");
      one.line = line;
      if (is_wanted) all.push_back(one);
    } else if (is_wanted && std::sscanf(line.c_str(), "Rss: %zu", &resident) == 1) {
      all.back().is_empty = resident == 0;
    } else if (is_wanted && line.starts_with("VmFlags:")) {
      all.back().is_dumped = (line + " ").find(" dd ") == std::string::npos;
    }
  }
  return all;
}

struct Places {
  size_t in_dumps = 0, outside = 0;
  std::string mappings;  // the mappings that core dumps include
};

// find() finds where the process has the first bytes of these keys.
std::vector<Places> find(const std::vector<Bytes> &hidden_keys) {
  constexpr size_t kPieceBytes = 1 << 20;
  const size_t piece_and_overlap = kPieceBytes + kNeedleBytes - 1;
  // This is a separate mapping, which is not searched.
  void *const memory =
      mmap(nullptr, piece_and_overlap, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  const int file = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
  EXPECT_NE(memory, MAP_FAILED);
  EXPECT_GE(file, 0);
  const uint8_t *const piece = static_cast<const uint8_t *>(memory);
  const uintptr_t own = reinterpret_cast<uintptr_t>(memory);
  const auto matches = [&](size_t at, const Bytes &hidden) {
    for (size_t n = 0; n < kNeedleBytes; ++n)
      if ((piece[at + n] ^ kHidden) != hidden[n]) return false;
    return true;
  };
  bool may_begin[65536] = {};
  for (const Bytes &key : hidden_keys)
    may_begin[(key[0] ^ kHidden) << 8 | (key[1] ^ kHidden)] = true;
  std::vector<Places> places(hidden_keys.size());
  for (const Mapping &one : read_mappings()) {
    // A sanitizer's shadow memory is too large to search, and has no keys.
    if (one.end - one.first > uintptr_t{1} << 30) continue;
    if (one.is_empty || (own >= one.first && own < one.end)) continue;
    for (uintptr_t from = one.first; from < one.end; from += kPieceBytes) {
      const ssize_t got = pread(file, memory, std::min(piece_and_overlap, one.end - from),
                                static_cast<off_t>(from));
      for (size_t at = 0; got > 0 && at + kNeedleBytes <= size_t(got); ++at) {
        if (!may_begin[piece[at] << 8 | piece[at + 1]]) continue;
        for (size_t n = 0; n < hidden_keys.size(); ++n) {
          if (!matches(at, hidden_keys[n])) continue;
          ++(one.is_dumped ? places[n].in_dumps : places[n].outside);
          if (one.is_dumped) places[n].mappings += one.line + "\n";
        }
      }
    }
  }
  close(file);
  munmap(memory, piece_and_overlap);
  return places;
}

struct FreeContext {
  void operator()(EVP_CIPHER_CTX *context) const { O(EVP_CIPHER_CTX_free)(context); }
};
using Context = std::unique_ptr<EVP_CIPHER_CTX, FreeContext>;

class KeyPlaces : public testing::Test {
 protected:
  Library library{{{"devices", devices_under_test()}, {"threshold_bytes", "0"}}};
  Random random{99};
  const Bytes iv = random_bytes(random, 16), text = random_bytes(random, 4096);

  void SetUp() override { ASSERT_TRUE(library.is_ready()) << library.errors(); }

  // begin() returns a context with a key, and with text encrypted under it if `with_text`.
  Context begin(const char *name, const char *provider, const Bytes &hidden, bool with_text) {
    Context context(O(EVP_CIPHER_CTX_new)());
    uint8_t key[64];
    for (size_t n = 0; n < sizeof key; ++n) key[n] = hidden[n] ^ kHidden;
    EXPECT_EQ(O(EVP_EncryptInit_ex2)(context.get(), library.cipher(name, provider), key, iv.data(),
                                     nullptr),
              1);
    O(OPENSSL_cleanse)(key, sizeof key);
    Bytes out(text.size() + 32);
    int bytes = 0;
    // CCM needs the length of the text first.
    if (!with_text) return context;
    if (std::string(name).ends_with("CCM")) {
      EXPECT_EQ(O(EVP_EncryptUpdate)(context.get(), nullptr, &bytes, nullptr, int(text.size())), 1);
    }
    EXPECT_EQ(
        O(EVP_EncryptUpdate)(context.get(), out.data(), &bytes, text.data(), int(text.size())), 1);
    return context;
  }
};

TEST_F(KeyPlaces, AreLeftOutOfCoreDumps) {
  struct Case {
    std::string name;
    bool with_text;
    Bytes plain_key, our_key;
    Context plain, ours, copy;
  };
  std::vector<Case> cases;
  for (const char *name : {"AES-128-CTR", "AES-256-CBC", "AES-256-XTS", "ChaCha20", "AES-128-CCM",
                           "AES-256-GCM", "ChaCha20-Poly1305", "ChaCha20"})
    for (const bool with_text : {false, true}) {
      Case one{name, with_text, random_bytes(random, 64), random_bytes(random, 64), {}, {}, {}};
      one.plain = begin(name, "default", one.plain_key, with_text);
      one.ours = begin(name, "gpu", one.our_key, with_text);
      cases.push_back(std::move(one));
    }
  EXPECT_GE(library.counter("lanecrypt.device-jobs"), 3u);
  std::vector<Bytes> keys;
  for (const Case &one : cases) {
    keys.push_back(one.plain_key);
    keys.push_back(one.our_key);
  }
  const std::vector<Places> first = find(keys);
  for (Case &one : cases) {
    one.copy.reset(O(EVP_CIPHER_CTX_new)());
    ASSERT_EQ(O(EVP_CIPHER_CTX_copy)(one.copy.get(), one.ours.get()), 1);
  }
  const std::vector<Places> with_copies = find(keys);
  for (size_t n = 0; n < cases.size(); ++n) {
    const std::string what = cases[n].name + (cases[n].with_text ? " with text" : "");
    const Places &of_plain = first[2 * n], &of_ours = first[2 * n + 1],
                 &of_copies = with_copies[2 * n + 1];
    EXPECT_EQ(of_plain.outside, 0u) << what;
    EXPECT_LE(of_ours.in_dumps, of_plain.in_dumps) << what << "\n" << of_ours.mappings;
    // The search does find a key.
    EXPECT_GE(of_ours.outside, 1u) << what;
    EXPECT_LE(of_copies.in_dumps, 2 * of_plain.in_dumps) << what << "\n" << of_copies.mappings;
    EXPECT_GT(of_copies.outside, of_ours.outside) << what;
  }
}

TEST_F(KeyPlaces, AreWipedWithTheContext) {
  std::vector<Bytes> keys;
  for (const char *name : {"AES-256-CTR", "AES-256-GCM", "ChaCha20-Poly1305"}) {
    keys.push_back(random_bytes(random, 64));
    (void)begin(name, "gpu", keys.back(), true);
  }
  for (const Places &places : find(keys)) EXPECT_EQ(places.in_dumps + places.outside, 0u);
}

}  // namespace
}  // namespace provider_test
