// Proofs about signatures that a device makes by ML-DSA and SLH-DSA: whether OpenSSL 3.5 or later
// accepts every signature, and whether the time of a batch depends on keys or data (`lanecrypt
// bench timing` does the same for AES).
//
//   pq_proofs [--device ID] [--signatures N] [--launches N] [--only PART,...] [--out FILE]
//
// Rows `SET.verified.API`: how many of N hedged signatures of random messages by 16 random keys
// OpenSSL accepted; half of them have a context string. The program fails if OpenSSL rejects one.
// Rows `SET.sign.timing-...`: half of the batches use one fixed key, half any of many; half have
// equal messages, half random ones. A Welch's t between -4.5 and 4.5 means that no difference was
// found. A time is from the start of a batch to its end. --only selects the rows whose names
// contain one of the PARTs.
//
// SPDX-License-Identifier: Apache-2.0
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/rand.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "bench/load/on_threads.h"
#include "bench/report/batch_timing.h"
#include "bench/report/log.h"
#include "cpu/core_count.h"
#include "lanecrypt/lanecrypt.hpp"

namespace lanecrypt::bench {
namespace {

using Bytes = std::vector<uint8_t>;
constexpr size_t kPlaces = BatchTiming::kPlaces;

[[noreturn]] void give_up(const std::string &what) {
  std::fprintf(stderr, "pq_proofs: %s\n", what.c_str());
  std::exit(1);
}

Bytes random_bytes(size_t count) {
  Bytes bytes(count);
  if (RAND_bytes(bytes.data(), int(count)) != 1) give_up("no random bytes");
  return bytes;
}

// A message, its key and its signature.
struct Item {
  size_t key = 0;
  Bytes message, context, signature;
};

// Keys of one parameter set, and signatures by them on the device.
class Signer {
 public:
  virtual ~Signer() = default;
  virtual std::string name() const = 0;  // OpenSSL's name
  // The name in lower case, as rows have it.
  std::string row() const {
    std::string row = name();
    std::transform(row.begin(), row.end(), row.begin(), [](char c) { return char(tolower(c)); });
    return row;
  }
  virtual size_t signature_bytes() const = 0;
  // The number of signatures in a batch whose time is compared.
  virtual size_t batch() const = 0;
  virtual void sign(std::vector<Item> &items) = 0;
  // Makes a key and adds it `copies` times. Each copy has its own number and its own memory.
  void add_key(size_t copies) {
    const Bytes public_key = make_key(copies);
    public_keys_.insert(public_keys_.end(), copies, public_key);
  }
  const Bytes &public_key(size_t key) const { return public_keys_[key]; }

 protected:
  // Returns the public key.
  virtual Bytes make_key(size_t copies) = 0;

 private:
  std::vector<Bytes> public_keys_;
};

void must_be_done(const lc_result &result, size_t count) {
  if (result.device_operations != count || result.failed_checks != 0)
    give_up("the device did not do all of it");
}

class MlDsaSigner : public Signer {
 public:
  MlDsaSigner(const Context &context, uint32_t device, bool is_gpu, lc_ml_dsa_set set)
      : context_(context), device_(device), is_gpu_(is_gpu), set_(set) {}
  std::string name() const override { return "ML-DSA-" + std::to_string(int(set_)); }
  size_t signature_bytes() const override { return lc_ml_dsa_bytes(set_, LC_ML_DSA_SIGNATURE); }
  size_t batch() const override { return is_gpu_ ? 64 : 1; }
  void sign(std::vector<Item> &items) override {
    std::vector<lc_ml_dsa_message> messages(items.size());
    for (size_t n = 0; n < items.size(); ++n) {
      messages[n].key = keys_[items[n].key].get();
      messages[n].message = items[n].message.data();
      messages[n].message_bytes = items[n].message.size();
      messages[n].context = items[n].context.data();
      messages[n].context_bytes = items[n].context.size();
      messages[n].signature = items[n].signature.data();
      messages[n].signature_bytes = items[n].signature.size();
    }
    lc_ml_dsa_job job{};
    job.struct_size = sizeof job;
    job.operation = LC_ML_DSA_SIGN;
    job.encoding = LC_MESSAGE_PURE;
    job.device = device_;
    job.has_device = 1;
    job.messages = messages.data();
    job.message_count = messages.size();
    job.message_size = sizeof messages[0];
    must_be_done(context_.run(job), items.size());
  }

 private:
  Bytes make_key(size_t copies) override {
    Bytes public_key(lc_ml_dsa_bytes(set_, LC_ML_DSA_PUBLIC_KEY));
    Bytes private_key(lc_ml_dsa_bytes(set_, LC_ML_DSA_PRIVATE_KEY));
    lc_ml_dsa_message message{};
    message.public_key = public_key.data();
    message.private_key = private_key.data();
    lc_ml_dsa_job job{};
    job.struct_size = sizeof job;
    job.operation = LC_ML_DSA_GENERATE;
    job.set = set_;
    job.device = device_;
    job.has_device = 1;
    job.messages = &message;
    job.message_count = 1;
    job.message_size = sizeof message;
    must_be_done(context_.run(job), 1);
    lc_ml_dsa_parts parts{};
    parts.struct_size = sizeof parts;
    parts.set = set_;
    parts.private_key = private_key.data();
    for (size_t copy = 0; copy < copies; ++copy) keys_.emplace_back(parts);
    return public_key;
  }

  const Context &context_;
  const uint32_t device_;
  const bool is_gpu_;
  const lc_ml_dsa_set set_;
  std::vector<MlDsaKey> keys_;
};

class SlhDsaSigner : public Signer {
 public:
  SlhDsaSigner(const Context &context, uint32_t device, bool is_gpu, lc_slh_dsa_set set)
      : context_(context), device_(device), is_gpu_(is_gpu), set_(set) {}
  std::string name() const override { return lc_slh_dsa_name(set_); }
  size_t signature_bytes() const override { return lc_slh_dsa_signature_bytes(set_); }
  size_t batch() const override { return is_gpu_ ? (name().back() == 'f' ? 32 : 2) : 1; }
  void sign(std::vector<Item> &items) override {
    std::vector<lc_slh_dsa_message> messages(items.size());
    for (size_t n = 0; n < items.size(); ++n) {
      messages[n].key = keys_[items[n].key].get();
      messages[n].message = items[n].message.data();
      messages[n].message_bytes = items[n].message.size();
      messages[n].context = items[n].context.data();
      messages[n].context_bytes = items[n].context.size();
      messages[n].signature = items[n].signature.data();
      messages[n].signature_bytes = items[n].signature.size();
    }
    lc_slh_dsa_job job = slh_dsa_job(LC_SLH_DSA_SIGN, messages.data(), messages.size());
    job.device = device_;
    job.has_device = 1;
    must_be_done(context_.run(job), items.size());
  }

 private:
  Bytes make_key(size_t copies) override {
    const size_t n = lc_slh_dsa_hash_bytes(set_);
    Bytes whole(4 * n);
    lc_slh_dsa_generation generation{};
    generation.struct_size = sizeof generation;
    generation.set = set_;
    generation.device = device_;
    generation.has_device = 1;
    generation.count = 1;
    generation.keys = whole.data();
    must_be_done(context_.generate(generation), 1);
    lc_slh_dsa_parts parts{};
    parts.struct_size = sizeof parts;
    parts.set = set_;
    parts.private_key = whole.data();
    parts.private_key_bytes = whole.size();
    for (size_t copy = 0; copy < copies; ++copy) keys_.emplace_back(parts);
    return Bytes(whole.begin() + std::ptrdiff_t(2 * n), whole.end());
  }

  const Context &context_;
  const uint32_t device_;
  const bool is_gpu_;
  const lc_slh_dsa_set set_;
  std::vector<SlhDsaKey> keys_;
};

struct FreePkey {
  void operator()(EVP_PKEY *key) const { EVP_PKEY_free(key); }
};
using Pkey = std::unique_ptr<EVP_PKEY, FreePkey>;
struct FreeHash {
  void operator()(EVP_MD_CTX *context) const { EVP_MD_CTX_free(context); }
};

bool openssl_verifies(EVP_PKEY *key, const Item &item) {
  const std::unique_ptr<EVP_MD_CTX, FreeHash> context(EVP_MD_CTX_new());
  Bytes string = item.context;
  const OSSL_PARAM options[] = {
      OSSL_PARAM_construct_octet_string("context-string", string.data(), string.size()),
      OSSL_PARAM_construct_end()};
  // OpenSSL rejects an empty context string.
  if (!context ||
      EVP_DigestVerifyInit_ex(context.get(), nullptr, nullptr, nullptr, "provider=default", key,
                              string.empty() ? nullptr : options) != 1)
    give_up("OpenSSL cannot verify: it takes 3.5 or later");
  return EVP_DigestVerify(context.get(), item.signature.data(), item.signature.size(),
                          item.message.data(), item.message.size()) == 1;
}

BenchResult prove(Signer &signer, size_t count, const std::string &row) {
  for (size_t n = 0; n < kPlaces; ++n) signer.add_key(1);
  std::vector<Pkey> keys;
  for (size_t n = 0; n < kPlaces; ++n) {
    const Bytes &bytes = signer.public_key(n);
    keys.emplace_back(EVP_PKEY_new_raw_public_key_ex(
        nullptr, signer.name().c_str(), "provider=default", bytes.data(), bytes.size()));
    if (!keys.back()) give_up("this OpenSSL has no " + signer.name());
  }
  std::atomic<uint64_t> right{0};
  for (size_t done = 0; done < count;) {
    std::vector<Item> items(std::min<size_t>(count - done, 1024));
    for (Item &item : items) {
      const Bytes choices = random_bytes(3);
      item.key = choices[0] % kPlaces;
      item.message = random_bytes(choices[1]);
      if (choices[2] & 1) item.context = random_bytes(choices[2]);
      item.signature.resize(signer.signature_bytes());
    }
    signer.sign(items);
    std::atomic<size_t> next{0};
    on_threads(cpu::usable_cores(), [&](unsigned) {
      for (size_t n; (n = next++) < items.size();)
        right += openssl_verifies(keys[items[n].key].get(), items[n]) ? 1 : 0;
    });
    done += items.size();
  }
  if (right != count)
    give_up(std::to_string(count - right) + " signatures of " + signer.name() + " are wrong");
  const double value = double(count);
  return {row, "signatures", {value, value, value, unsigned(count)}, {}, {}, "", {}};
}

void time_signing(Signer &signer, BatchTiming &timing, const std::string &row) {
  signer.add_key(kPlaces);
  for (size_t n = 0; n < kPlaces; ++n) signer.add_key(1);
  const size_t count = signer.batch();
  std::vector<std::vector<Item>> batches(2 * kPlaces, std::vector<Item>(count));
  const Bytes same = random_bytes(32);
  for (size_t place = 0; place < batches.size(); ++place)
    for (Item &item : batches[place]) {
      item.message = place < kPlaces ? same : random_bytes(32);
      item.signature.resize(signer.signature_bytes());
    }
  timing.measure(
      row,
      [&](size_t key, size_t data) {
        for (Item &item : batches[data]) item.key = key;
      },
      [&](size_t, size_t data) { signer.sign(batches[data]); });
}

struct Options {
  std::string device = "cuda:0", out;
  std::vector<std::string> only;
  size_t signatures = 10000;
  unsigned launches = 4000;
};

Options read_options(int argc, char **argv) {
  Options options;
  for (int at = 1; at < argc; at += 2) {
    if (at + 1 == argc) give_up("an option needs a value");
    const std::string name = argv[at], value = argv[at + 1];
    if (name == "--device") {
      options.device = value;
    } else if (name == "--signatures") {
      options.signatures = std::stoul(value);
    } else if (name == "--launches") {
      options.launches = unsigned(std::stoul(value));
    } else if (name == "--only") {
      std::istringstream parts(value);
      for (std::string part; std::getline(parts, part, ',');) options.only.push_back(part);
    } else if (name == "--out") {
      options.out = value;
    } else {
      give_up("no such option: " + name);
    }
  }
  return options;
}

// Returns one signer without keys for each parameter set.
std::vector<std::unique_ptr<Signer>> all_signers(const Context &context, bool is_gpu) {
  std::vector<std::unique_ptr<Signer>> signers;
  for (const lc_ml_dsa_set set : {LC_ML_DSA_44, LC_ML_DSA_65, LC_ML_DSA_87})
    signers.push_back(std::make_unique<MlDsaSigner>(context, 0, is_gpu, set));
  for (uint32_t set = 0; lc_slh_dsa_name(lc_slh_dsa_set(set)) != nullptr; ++set)
    signers.push_back(std::make_unique<SlhDsaSigner>(context, 0, is_gpu, lc_slh_dsa_set(set)));
  return signers;
}

int run(int argc, char **argv) {
  const Options options = read_options(argc, argv);
  const Context context(options.device.c_str(), LC_FALLBACK_NONE);
  if (context.device_count() == 0) give_up("there is no device " + options.device);
  const lc_device_info info = context.device(0);
  const bool is_gpu = info.is_gpu != 0;

  Machine machine = this_machine();
  machine.gpu = info.name;
  machine.driver = info.driver;
  BatchTiming timing(info.api, options.launches);
  std::vector<BenchResult> &results = timing.results();
  const BenchLog log(options.only, false, [](const auto &) {});
  const auto keep = [&] {
    const std::string json = results_json(machine, results).dump(2) + "\n";
    if (!options.out.empty()) std::ofstream(options.out) << json;
    return json;
  };
  for (const std::unique_ptr<Signer> &signer : all_signers(context, is_gpu)) {
    if (const std::string row = signer->row() + ".verified." + info.api; log.wants(row)) {
      results.push_back(prove(*signer, options.signatures, row));
      std::fprintf(stderr, "%-48s %zu right\n", row.c_str(), options.signatures);
      keep();
    }
  }
  for (const std::unique_ptr<Signer> &signer : all_signers(context, is_gpu)) {
    const std::string name = signer->row();
    if (!log.wants(name + ".sign.timing." + info.api)) continue;
    time_signing(*signer, timing, name + ".sign");
    keep();
  }
  if (results.empty()) give_up("no row has such a part in its name");
  if (options.out.empty()) std::cout << keep();
  return 0;
}

}  // namespace
}  // namespace lanecrypt::bench

int main(int argc, char **argv) {
  try {
    return lanecrypt::bench::run(argc, argv);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "pq_proofs: %s\n", error.what());
    return 1;
  }
}
