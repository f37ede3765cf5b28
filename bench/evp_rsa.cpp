// RSA through EVP, by the provider and by OpenSSL alone, side by side: one lone
// caller, many threads, and threads with many jobs of ASYNC.
//
//   evp_rsa_bench [--bits N] [--seconds S] [--runs N] [--devices LIST]
//                 [--rsa auto|always] [--module GPU.SO] [--case NAME] [--out FILE]
//
// Prints the results as JSON, or writes them to FILE, as the other benchmarks
// do; the libcrypto is the one that the dynamic linker finds.
//
// SPDX-License-Identifier: Apache-2.0
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/provider.h>
#include <openssl/rsa.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "cli/cpu_model.h"
#include "commit.h"
#include "evp_load.h"

namespace lanecrypt::bench {
namespace {

struct Options {
  unsigned bits = 2048;
  double seconds = 3;
  unsigned runs = 3;
  std::string devices, rsa = "auto", module, only, out;
};

struct Case {
  const char *name;
  size_t threads, jobs;
};
constexpr Case kCases[] = {{"evp-lone", 1, 0},
                           {"evp-threads", 256, 0},
                           {"evp-threads-2048", 2048, 0},
                           {"evp-async", 1, 512},
                           {"evp-async-16", 16, 512}};

[[noreturn]] void give_up(const std::string &what) {
  std::fprintf(stderr, "evp_rsa_bench: %s\n", what.c_str());
  std::exit(1);
}

Options read_options(int argc, char **argv) {
  Options options;
  for (int at = 1; at < argc; ++at) {
    const std::string name = argv[at];
    if (at + 1 == argc) give_up(name + " needs a value, or is no option");
    const std::string value = argv[++at];
    if (name == "--bits")
      options.bits = unsigned(std::atoi(value.c_str()));
    else if (name == "--seconds")
      options.seconds = std::atof(value.c_str());
    else if (name == "--runs")
      options.runs = unsigned(std::max(1, std::atoi(value.c_str())));
    else if (name == "--devices")
      options.devices = value;
    else if (name == "--rsa")
      options.rsa = value;
    else if (name == "--module")
      options.module = value;
    else if (name == "--case")
      options.only = value;
    else if (name == "--out")
      options.out = value;
    else
      give_up("no such option: " + name);
  }
  if (options.module.empty()) {
    char self[4096];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    const std::string path(self, length > 0 ? size_t(length) : 0);
    options.module = path.substr(0, path.rfind("/bin/")) + "/lib/gpu.so";
  }
  return options;
}

// A library context with OpenSSL's default provider and ours.
OSSL_LIB_CTX *open_library(const Options &options, OSSL_PROVIDER **gpu) {
  char path[] = "/tmp/evp_rsa_bench.XXXXXX";
  const int file = mkstemp(path);
  std::string text =
      "openssl_conf = start\n[start]\nproviders = providers\n[providers]\ndefault = "
      "default_settings\ngpu = gpu_settings\n[default_settings]\nactivate = 1\n[gpu_settings]\n"
      "activate = 1\nmodule = " +
      options.module + "\nrsa = " + options.rsa + "\n";
  if (!options.devices.empty()) text += "devices = " + options.devices + "\n";
  OSSL_LIB_CTX *library = OSSL_LIB_CTX_new();
  const bool ready = write(file, text.data(), text.size()) == ssize_t(text.size()) &&
                     OSSL_LIB_CTX_load_config(library, path) == 1;
  close(file);
  unlink(path);
  *gpu = ready ? OSSL_PROVIDER_load(library, "gpu") : nullptr;
  if (*gpu == nullptr) give_up("cannot load the provider from " + options.module);
  return library;
}

EVP_PKEY *make_key(OSSL_LIB_CTX *library, unsigned bits) {
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(library, "RSA", "provider=default");
  EVP_PKEY *key = nullptr;
  if (EVP_PKEY_keygen_init(context) != 1 ||
      EVP_PKEY_CTX_set_rsa_keygen_bits(context, int(bits)) != 1 ||
      EVP_PKEY_generate(context, &key) != 1)
    give_up("cannot make a key of " + std::to_string(bits) + " bits");
  EVP_PKEY_CTX_free(context);
  return key;
}

nlohmann::json devices_of(OSSL_PROVIDER *gpu) {
  char text[8192] = "[]";
  OSSL_PARAM params[] = {OSSL_PARAM_utf8_string("lanecrypt.devices", text, sizeof text),
                         OSSL_PARAM_END};
  (void)OSSL_PROVIDER_get_params(gpu, params);
  return nlohmann::json::parse(text, nullptr, false);
}

uint64_t counter_of(OSSL_PROVIDER *gpu, const char *name) {
  uint64_t value = 0;
  OSSL_PARAM params[] = {OSSL_PARAM_uint64(name, &value), OSSL_PARAM_END};
  (void)OSSL_PROVIDER_get_params(gpu, params);
  return value;
}

nlohmann::ordered_json measure(const std::string &name, const Options &options, const Load &load) {
  std::vector<Work> works;
  uint64_t failures = 0;
  for (unsigned run = 0; run < options.runs; ++run) {
    works.push_back(run_load(load, run == 0 ? 2 : 0.5, options.seconds));
    failures += works.back().failures;
  }
  if (failures > 0) give_up(name + ": " + std::to_string(failures) + " signatures failed");
  std::sort(works.begin(), works.end(), [](const Work &a, const Work &b) {
    return a.signatures_per_second < b.signatures_per_second;
  });
  const Work &median = works[works.size() / 2];
  std::fprintf(stderr, "%-36s %12.0f signatures/s, %6.2f cores busy\n", name.c_str(),
               median.signatures_per_second, median.cores_busy);
  return {{"name", name},
          {"value", median.signatures_per_second},
          {"unit", "operations/s"},
          {"runs", options.runs},
          {"min", works.front().signatures_per_second},
          {"max", works.back().signatures_per_second},
          {"threads", load.threads},
          {"jobs", load.jobs},
          {"cores_busy", median.cores_busy}};
}

int run(const Options &options) {
  // Each job waits by a descriptor.
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);

  OSSL_PROVIDER *gpu = nullptr;
  OSSL_LIB_CTX *library = open_library(options, &gpu);
  EVP_PKEY *key = make_key(library, options.bits);
  nlohmann::ordered_json results = nlohmann::ordered_json::array();
  for (const Case &one : kCases) {
    if (!options.only.empty() && options.only != one.name) continue;
    const std::string name = "rsa-" + std::to_string(options.bits) + "." + one.name;
    double alone = 0;
    for (const bool ours : {false, true}) {
      const uint64_t device_before = counter_of(gpu, "lanecrypt.rsa-device-jobs"),
                     cpu_before = counter_of(gpu, "lanecrypt.rsa-cpu-jobs");
      nlohmann::ordered_json result = measure(
          name + (ours ? ".gpu" : ".openssl"), options,
          {library, key, ours ? "?provider=gpu" : "provider=default", one.threads, one.jobs});
      if (ours) {
        result["over_openssl"] = double(result["value"]) / alone;
        result["on_device"] = counter_of(gpu, "lanecrypt.rsa-device-jobs") - device_before;
        result["on_cpu"] = counter_of(gpu, "lanecrypt.rsa-cpu-jobs") - cpu_before;
        // By the API of the device that did the most, as the other results are.
        const nlohmann::json devices = devices_of(gpu);
        if (devices.is_array() && !devices.empty()) {
          const std::string id = devices[0].value("id", "");
          result["name"] = name + "." + id.substr(0, id.find(':'));
        }
      } else {
        alone = result["value"];
      }
      results.push_back(std::move(result));
    }
  }
  nlohmann::ordered_json machine = {{"gpu", ""},
                                    {"driver", ""},
                                    {"cpu", cli::cpu_model()},
                                    {"cores", std::thread::hardware_concurrency()}};
  const nlohmann::json devices = devices_of(gpu);
  if (devices.is_array() && !devices.empty()) machine["gpu"] = devices[0].value("name", "");
  const nlohmann::ordered_json all = {{"machine", machine},
                                      {"software",
                                       {{"commit", LANECRYPT_COMMIT},
                                        {"compiler", "g++ " __VERSION__},
                                        {"openssl", OpenSSL_version(OPENSSL_VERSION)}}},
                                      {"results", results}};
  if (options.out.empty())
    std::cout << all.dump(1) << "\n";
  else
    std::ofstream(options.out) << all.dump(1) << "\n";
  EVP_PKEY_free(key);
  OSSL_PROVIDER_unload(gpu);
  OSSL_LIB_CTX_free(library);
  return 0;
}

}  // namespace
}  // namespace lanecrypt::bench

int main(int argc, char **argv) {
  return lanecrypt::bench::run(lanecrypt::bench::read_options(argc, argv));
}
