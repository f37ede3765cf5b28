// Measures what the provider adds to calls whose data are too short for a device: the CPU time of
// one update, and of a whole message as `openssl speed` measures it, for 16 bytes to 16 KiB. The
// default provider and the provider `gpu` take turns. No device is used.
//
//   cipher_calls [--module FILE] [--runs N] [--only TEXT] [--out FILE]
//
// For each case whose name contains TEXT, such as "gcm.message", prints OpenSSL's time divided by
// the provider's, of the medians and of the minima. Writes the figures in the form of
// bench/results. To measure with another libcrypto than the system's, set LD_LIBRARY_PATH.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <openssl/evp.h>
#include <time.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "bench/load/provider_library.h"
#include "bench/report/results.h"
#include "cli/crypt/block_cipher_mode.h"
#include "cli/provider_module.h"

namespace lanecrypt::bench {
namespace {

// The length of one turn. Turns are short, so that other activity on the machine affects both
// sides alike.
constexpr double kTurnNs = 0.25e6;
constexpr int kSizes[] = {16, 64, 256, 1024, 16384};
constexpr const char *kCiphers[] = {"AES-256-CTR", "AES-256-CBC", "AES-256-GCM", "AES-256-XTS",
                                    "AES-256-ECB"};

[[noreturn]] void give_up(const std::string &what) {
  fmt::print(stderr, "cipher_calls: {}\n", what);
  std::exit(1);
}
void must(int done) {
  if (done <= 0) give_up("OpenSSL refuses a call");
}

enum class Call { kEncrypt, kDecrypt, kMessage };

struct Case {
  std::string name;
  const char *cipher;
  Call call;
  int bytes;
};

class Loop {
 public:
  explicit Loop(const Case &what) : what_(what), data_(size_t(what.bytes), 1) {
    for (size_t n = 0; n < sizeof key_; ++n) key_[n] = uint8_t(7 * n + 1);
  }

  // Returns the CPU time of one call in ns. Each turn allocates a new context at another heap
  // address, because the time of short updates depends on how OpenSSL's tables lie in cache
  // lines.
  double take_turn(const EVP_CIPHER *cipher) {
    const std::unique_ptr<uint8_t[]> gap(new uint8_t[16 + 16 * (random_() % 40)]);
    const cli::EvpContext context(EVP_CIPHER_CTX_new());
    must(
        EVP_CipherInit_ex(context.get(), cipher, nullptr, key_, iv_, what_.call != Call::kDecrypt));
    must(EVP_CIPHER_CTX_set_padding(context.get(), 0));
    if (calls_ == 0) calls_ = calls_of_a_turn(context.get());
    run(context.get(), calls_ / 16 + 1);
    return run(context.get(), calls_) / double(calls_);
  }

 private:
  static double now_ns() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return 1e9 * double(time.tv_sec) + double(time.tv_nsec);
  }
  unsigned calls_of_a_turn(EVP_CIPHER_CTX *context) {
    unsigned calls = 16;
    while (run(context, calls) < kTurnNs) calls *= 2;
    return calls;
  }
  double run(EVP_CIPHER_CTX *context, unsigned calls) {
    uint8_t *const data = data_.data();
    int bytes = 0;
    const double begin = now_ns();
    for (unsigned n = 0; n < calls; ++n) switch (what_.call) {
        case Call::kEncrypt:
          must(EVP_EncryptUpdate(context, data, &bytes, data, what_.bytes));
          break;
        case Call::kDecrypt:
          must(EVP_DecryptUpdate(context, data, &bytes, data, what_.bytes));
          break;
        case Call::kMessage:
          must(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_IVLEN, 12, nullptr));
          must(EVP_CipherInit_ex(context, nullptr, nullptr, key_, iv_, -1));
          must(EVP_EncryptUpdate(context, data, &bytes, data, what_.bytes));
          must(EVP_EncryptFinal_ex(context, data, &bytes));
      }
    return now_ns() - begin;
  }

  const Case &what_;
  std::vector<uint8_t> data_;
  uint8_t key_[64], iv_[16] = {};
  unsigned calls_ = 0;
  std::mt19937 random_{1};
};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const char *cipher : kCiphers) {
    std::string name = cipher;
    std::transform(name.begin(), name.end(), name.begin(), [](char c) { return char(tolower(c)); });
    const bool is_message = name.ends_with("gcm");
    for (const auto &[call, title] : {std::pair{Call::kEncrypt, "update-encrypt"},
                                      {Call::kDecrypt, "update-decrypt"},
                                      {Call::kMessage, "message"}}) {
      if (call == Call::kMessage && !is_message) continue;
      for (const int bytes : kSizes)
        cases.push_back({fmt::format("{}.{}-{}", name, title, bytes), cipher, call, bytes});
    }
  }
  return cases;
}

int run(int argc, char **argv) {
  std::string module = cli::find_provider_module(), only, out;
  unsigned runs = 121;
  for (int at = 1; at + 1 < argc; at += 2) {
    const std::string name = argv[at], value = argv[at + 1];
    if (name == "--module")
      module = value;
    else if (name == "--runs")
      runs = unsigned(std::stoul(value));
    else if (name == "--only")
      only = value;
    else if (name == "--out")
      out = value;
    else
      give_up("no such option: " + name);
  }
  if (argc % 2 == 0) give_up("an option needs a value");
  if (module.empty()) give_up("no gpu.so lies where it is built; name it by --module");

  const ProviderLibrary library(module, "none", "");
  std::vector<BenchResult> results;
  for (const Case &what : all_cases()) {
    if (what.name.find(only) == std::string::npos) continue;
    const char *const sides[] = {"openssl", "provider"};
    const cli::EvpCipher ciphers[] = {
        cli::EvpCipher(EVP_CIPHER_fetch(library.get(), what.cipher, "provider=default")),
        cli::EvpCipher(EVP_CIPHER_fetch(library.get(), what.cipher, "provider=gpu"))};
    if (!ciphers[0] || !ciphers[1]) give_up(fmt::format("there is no {}", what.cipher));
    Loop loop(what);
    std::vector<double> times[2];
    for (unsigned turn = 0; turn < runs; ++turn)
      for (const unsigned side : {turn % 2, 1 - turn % 2})
        times[side].push_back(loop.take_turn(ciphers[side].get()));
    const Spread spread[] = {spread_of(times[0]), spread_of(times[1])};
    for (const int side : {1, 0})
      results.push_back({.name = what.name + "." + sides[side],
                         .unit = "ns",
                         .spread = spread[side],
                         .bytes = uint64_t(what.bytes),
                         .streams = {},
                         .clock = "cpu",
                         .over_openssl = {}});
    fmt::print("{:40} {:8.1f} ns, {:.2f}; by the least {:.2f}\n", what.name, spread[0].median,
               spread[0].median / spread[1].median, spread[0].min / spread[1].min);
    std::fflush(stdout);
  }
  if (!out.empty()) std::ofstream(out) << results_json(this_machine(), results).dump(2) << "\n";
  return 0;
}

}  // namespace
}  // namespace lanecrypt::bench

int main(int argc, char **argv) { return lanecrypt::bench::run(argc, argv); }
