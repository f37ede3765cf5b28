// SPDX-License-Identifier: Apache-2.0
#include "bench/rsa/evp.h"

#include <fmt/format.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <sys/resource.h>

#include <algorithm>
#include <memory>
#include <span>

#include "bench/load/evp_load.h"
#include "bench/load/provider_library.h"
#include "bench/report/turns.h"
#include "cli/failure.h"

namespace lanecrypt::bench {
namespace {

struct Case {
  const char *name;
  size_t threads, jobs;
  bool has_own_keys = false;
};
constexpr Case kCases[] = {{"evp-lone", 1, 0},
                           {"evp-threads", 256, 0},
                           {"evp-threads-own-keys", 256, 0, true},
                           {"evp-threads-2048", 2048, 0},
                           {"evp-threads-2048-own-keys", 2048, 0, true},
                           {"evp-async", 1, 512},
                           {"evp-async-16", 16, 512}};
// The emulator's times mean nothing. It only shows that the command works.
constexpr Case kCasesOfEmulator[] = {{"evp-lone", 1, 0},
                                     {"evp-threads", 4, 0},
                                     {"evp-threads-own-keys", 4, 0, true},
                                     {"evp-async", 2, 8}};

struct Timing {
  unsigned runs;
  double warm_up_seconds, seconds;
};
// The time in which a provider opens its device.
constexpr double kOpeningSeconds = 2.5;

struct FreePkey {
  void operator()(EVP_PKEY *pkey) const { EVP_PKEY_free(pkey); }
};
using Pkey = std::unique_ptr<EVP_PKEY, FreePkey>;

// Returns a key in DER, which each library context can read.
std::vector<uint8_t> make_key(unsigned bits) {
  const Pkey key(EVP_PKEY_Q_keygen(nullptr, "provider=default", "RSA", size_t{bits}));
  uint8_t *der = nullptr;
  const int bytes = key ? i2d_PrivateKey(key.get(), &der) : -1;
  if (bytes <= 0) throw cli::Failure(cli::ExitCode::kFailed, "OpenSSL made no RSA key");
  const std::vector<uint8_t> text(der, der + bytes);
  OPENSSL_clear_free(der, size_t(bytes));
  return text;
}

// Signs by OpenSSL alone, or by the provider on one device.
class Signer {
 public:
  Signer() : library_(OSSL_LIB_CTX_new()) {}
  Signer(const std::string &module, const lc_device_info &device)
      : api_(device.api),
        // Without this setting the provider would not use the emulator.
        provider_(std::make_unique<ProviderLibrary>(
            module, device.id, device.is_gpu ? "rsa = auto" : "rsa = always")) {}
  ~Signer() {
    keys_.clear();
    OSSL_LIB_CTX_free(library_);
  }
  Signer(const Signer &) = delete;
  Signer &operator=(const Signer &) = delete;

  bool is_openssl() const { return !provider_; }
  std::string name(const std::string &row) const {
    return row + "." + (is_openssl() ? "openssl" : api_);
  }

  // Begins a row. The runs of several signers take turns.
  void begin(const Case &load, const std::vector<uint8_t> &der) {
    load_ = load;
    need_keys(der, load.has_own_keys ? load.threads : 1);
    rates_.clear();
    cores_.clear();
    device_before_ = count("lanecrypt.rsa-device-jobs");
    cpu_before_ = count("lanecrypt.rsa-cpu-jobs");
  }
  void run(const Timing &timing) {
    std::vector<EVP_PKEY *> keys;
    for (const Pkey &key : keys_) keys.push_back(key.get());
    if (!load_.has_own_keys) keys.resize(1);
    const bool opens = !is_openssl() && load_.threads + load_.jobs > 1 && rates_.empty() &&
                       count("lanecrypt.rsa-device-jobs") == 0;
    const Work work =
        run_load({library(), is_openssl() ? "" : "?provider=gpu", keys, load_.threads, load_.jobs},
                 opens ? kOpeningSeconds : timing.warm_up_seconds, timing.seconds);
    rates_.push_back(work.signatures_per_second);
    cores_.push_back(work.cores_busy);
  }
  BenchResult result(const std::string &name) const {
    BenchResult result{name, "op/s", spread_of(rates_), {}, {}, "wall", {}};
    result.streams = load_.threads * std::max<size_t>(load_.jobs, 1);
    result.cores_busy = spread_of(cores_).median;
    if (!is_openssl()) {
      result.on_device = count("lanecrypt.rsa-device-jobs") - device_before_;
      result.on_cpu = count("lanecrypt.rsa-cpu-jobs") - cpu_before_;
    }
    return result;
  }

 private:
  OSSL_LIB_CTX *library() const { return provider_ ? provider_->get() : library_; }
  uint64_t count(const char *name) const { return provider_ ? provider_->counter(name) : 0; }

  // Makes `number` keys in separate objects. All have the same numbers.
  void need_keys(const std::vector<uint8_t> &der, size_t number) {
    while (keys_.size() < number) {
      const uint8_t *at = der.data();
      keys_.emplace_back(keys_.empty() ? d2i_AutoPrivateKey_ex(nullptr, &at, long(der.size()),
                                                               library(), "provider=default")
                                       : EVP_PKEY_dup(keys_.front().get()));
      if (!keys_.back())
        throw cli::Failure(cli::ExitCode::kFailed, "OpenSSL does not take its own key");
    }
  }

  const std::string api_;
  OSSL_LIB_CTX *library_ = nullptr;  // if there is no provider
  std::unique_ptr<ProviderLibrary> provider_;
  std::vector<Pkey> keys_;  // must be freed before their library context
  // State of the current row.
  Case load_ = {};
  std::vector<double> rates_, cores_;
  uint64_t device_before_ = 0, cpu_before_ = 0;
};

void measure_in_turn(const std::vector<Signer *> &signers, const std::string &row, const Case &load,
                     const std::vector<uint8_t> &der, const Timing &timing, BenchLog &log) {
  in_turn(timing.runs, signers.size(), [&](unsigned round, size_t who) {
    Signer *signer = signers[who];
    const std::string name = signer->name(row);
    if (round == 0) log.tell(name);
    try {
      if (round == 0) signer->begin(load, der);
      signer->run(timing);
    } catch (const cli::Failure &failure) {
      throw cli::Failure(failure.code(), name + ": " + failure.what());
    }
  });
}

// The selected GPUs or, if there are none, the selected devices that compute on the CPU.
std::vector<lc_device_info> devices_of(const Context &context) {
  std::vector<lc_device_info> devices;
  for (uint32_t index = 0; index < context.device_count(); index++) {
    const lc_device_info info = context.device(index);
    // OpenGL has no RSA kernels.
    if (info.selected && std::string(info.api) != "gl") devices.push_back(info);
  }
  if (std::any_of(devices.begin(), devices.end(), [](const auto &info) { return info.is_gpu; }))
    std::erase_if(devices, [](const auto &info) { return !info.is_gpu; });
  return devices;
}

// Raises the limit of open files. Returns whether it allows `descriptors` of them: each job waits
// with one.
bool may_open(size_t descriptors) {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return true;
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  return files.rlim_max >= descriptors + 100;
}

}  // namespace

void bench_evp(const Context &context, const std::string &module, bool quick, BenchLog &log) {
  const std::vector<lc_device_info> devices = devices_of(context);
  const bool is_emulated = !devices.empty() && !devices.front().is_gpu;
  const unsigned bits = is_emulated ? 1024 : 2048;
  const Timing timing = is_emulated ? Timing{3, 0.05, 0.2}
                        : quick     ? Timing{3, 0.4, 1}
                                    : Timing{5, 1, 3};
  std::vector<std::unique_ptr<Signer>> signers;
  std::vector<uint8_t> der;
  for (const Case &load :
       is_emulated ? std::span<const Case>(kCasesOfEmulator) : std::span<const Case>(kCases)) {
    const std::string row = fmt::format("rsa-{}.{}", bits, load.name);
    bool is_wanted = log.wants(row + ".openssl");
    for (const lc_device_info &info : devices) is_wanted |= log.wants(row + "." + info.api);
    if (!is_wanted) continue;
    if (!may_open(load.threads * load.jobs)) {
      log.note(fmt::format("{} is left out: it needs {} open files (see ulimit -n)", row,
                           load.threads * load.jobs + 100));
      continue;
    }
    if (signers.empty()) {
      log.tell(row + ": making a key");
      der = make_key(bits);
      signers.push_back(std::make_unique<Signer>());
      for (const lc_device_info &info : devices)
        if (!module.empty()) signers.push_back(std::make_unique<Signer>(module, info));
      if (module.empty() && !devices.empty()) log.note(kNoProvider);
    }
    std::vector<Signer *> measured;
    for (const std::unique_ptr<Signer> &signer : signers)
      if (signer->is_openssl() || log.wants(signer->name(row))) measured.push_back(signer.get());
    measure_in_turn(measured, row, load, der, timing, log);
    double alone = 0;
    for (const Signer *signer : measured) {
      BenchResult &result = log.add(signer->result(signer->name(row)));
      if (signer->is_openssl())
        alone = result.spread.median;
      else if (alone > 0)
        result.over_openssl = result.spread.median / alone;
    }
  }
}

}  // namespace lanecrypt::bench
