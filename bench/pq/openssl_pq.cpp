// SPDX-License-Identifier: Apache-2.0
#include "bench/pq/openssl_pq.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <openssl/crypto.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <chrono>
#include <memory>

#include "bench/load/on_threads.h"
#include "cli/failure.h"
#include "cpu/core_count.h"

namespace lanecrypt::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr char kDefaultProvider[] = "provider=default";

using OpensslKey = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using OpensslContext = std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)>;

[[noreturn]] void fail(const OpensslPq &openssl, const char *what) {
  throw cli::Failure(cli::ExitCode::kFailed, fmt::format("{} {}", openssl.name, what));
}

OpensslKey key_of(const OpensslPq &openssl, const std::string &algorithm) {
  return {openssl.make_key(nullptr, kDefaultProvider, algorithm.c_str()), openssl.free_key};
}

// The operations of one core, on one message and with a key that all cores share. Each operation
// makes a new context, because from 3.5 on OpenSSL uses a context for one operation only.
class Operations {
 public:
  Operations(const OpensslPq &openssl, const std::string &algorithm, EVP_PKEY *key)
      : openssl_(openssl),
        algorithm_(algorithm),
        key_(key),
        signature_(size_t(openssl.signature_bytes(key))) {}

  void sign() {
    const OpensslContext context(openssl_.make_context(), openssl_.free_context);
    bytes_ = signature_.size();
    if (!context ||
        openssl_.begin_sign(context.get(), nullptr, nullptr, nullptr, kDefaultProvider, key_,
                            nullptr) != 1 ||
        openssl_.sign(context.get(), signature_.data(), &bytes_, text_.data(), text_.size()) != 1)
      fail(openssl_, "does not sign");
  }
  void verify() {
    if (bytes_ == 0) sign();
    const OpensslContext context(openssl_.make_context(), openssl_.free_context);
    if (!context ||
        openssl_.begin_verify(context.get(), nullptr, nullptr, nullptr, kDefaultProvider, key_,
                              nullptr) != 1 ||
        openssl_.verify(context.get(), signature_.data(), bytes_, text_.data(), text_.size()) != 1)
      fail(openssl_, "does not verify");
  }
  void make_key() {
    if (!key_of(openssl_, algorithm_)) fail(openssl_, "makes no key");
  }

 private:
  const OpensslPq &openssl_;
  const std::string &algorithm_;
  EVP_PKEY *const key_;
  const std::vector<uint8_t> text_ = std::vector<uint8_t>(32, 0x15);
  std::vector<uint8_t> signature_;
  size_t bytes_ = 0;
};

constexpr struct {
  const char *name;
  void (Operations::*run)();
} kOperations[] = {{"sign", &Operations::sign},
                   {"verify", &Operations::verify},
                   {"keygen", &Operations::make_key}};

// The rate of an operation on as many cores as `of` has elements.
Spread rate_of(std::vector<Operations> of, void (Operations::*run)(), const Patience &patience) {
  constexpr std::chrono::milliseconds kSlice{300};
  std::atomic<uint64_t> done{0};
  return measure_rate(patience, 1, [&] {
    done = 0;
    const auto start = Clock::now();
    on_threads(unsigned(of.size()), [&](unsigned n) {
      // One operation may take longer than the slice, so at least one is run.
      do {
        (of[n].*run)();
        ++done;
      } while (Clock::now() - start < kSlice);
    });
    const std::chrono::duration<double> wall = Clock::now() - start;
    return wall.count() / static_cast<double>(done);
  });
}

void measure(const OpensslPq &openssl, const std::string &algorithm, const Patience &patience,
             BenchLog &log) {
  OpensslKey key(nullptr, openssl.free_key);
  for (const auto &[name, run] : kOperations)
    for (const char *cores : {"", "-all-cores"}) {
      const std::string row =
          fmt::format("{}.{}.{}{}", row_name(algorithm), name, openssl.name, cores);
      if (!log.wants(row)) continue;
      if (!key) key = key_of(openssl, algorithm);
      if (!key)
        return log.note(fmt::format("{} has no {}: it is not measured", openssl.name, algorithm));
      log.tell(row);
      const std::vector<Operations> each(*cores == '\0' ? 1 : cpu::usable_cores(),
                                         Operations(openssl, algorithm, key.get()));
      log.add({row, "op/s", rate_of(each, run, patience), {}, {}, "wall", {}});
    }
}

template <class Function>
void find(void *library, const std::string &file, const char *name, Function &function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr)
    throw cli::Failure(cli::ExitCode::kUsage, fmt::format("{} has no {}()", file, name));
}

// Loads another libcrypto. It is never closed, because OpenSSL runs functions of its own when the
// process exits.
OpensslPq open_openssl(const std::string &file) {
  void *const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw cli::Failure(cli::ExitCode::kUsage, dlerror());
  OpensslPq openssl;
#define FIND(function, name) find(library, file, #name, openssl.function)
  FIND(make_key, EVP_PKEY_Q_keygen);
  FIND(free_key, EVP_PKEY_free);
  FIND(signature_bytes, EVP_PKEY_get_size);
  FIND(make_context, EVP_MD_CTX_new);
  FIND(free_context, EVP_MD_CTX_free);
  FIND(begin_sign, EVP_DigestSignInit_ex);
  FIND(sign, EVP_DigestSign);
  FIND(begin_verify, EVP_DigestVerifyInit_ex);
  FIND(verify, EVP_DigestVerify);
#undef FIND
  decltype(&OPENSSL_version_major) major, minor;
  find(library, file, "OPENSSL_version_major", major);
  find(library, file, "OPENSSL_version_minor", minor);
  openssl.name = fmt::format("openssl-{}.{}", major(), minor());
  return openssl;
}

}  // namespace

std::vector<OpensslPq> open_openssls(const std::vector<std::string> &files) {
  std::vector<OpensslPq> openssls = {{"openssl", EVP_PKEY_Q_keygen, EVP_PKEY_free,
                                      EVP_PKEY_get_size, EVP_MD_CTX_new, EVP_MD_CTX_free,
                                      EVP_DigestSignInit_ex, EVP_DigestSign,
                                      EVP_DigestVerifyInit_ex, EVP_DigestVerify}};
  for (const std::string &file : files) openssls.push_back(open_openssl(file));
  return openssls;
}

std::string row_name(const std::string &algorithm) {
  std::string name = algorithm;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return char(std::tolower(c)); });
  return name;
}

void bench_openssl_pq(const std::vector<OpensslPq> &openssls, const std::string &algorithm,
                      Patience patience, BenchLog &log) {
  // The rate of a core varies less than that of a device, and each OpenSSL has six rows.
  patience.runs = std::min(patience.runs, 5u);
  for (const OpensslPq &openssl : openssls) measure(openssl, algorithm, patience, log);
}

}  // namespace lanecrypt::bench
