// How many signatures, keys and verifications of SLH-DSA a device does in a second, and how long
// one takes it, as callers of the library see it.
//
//   slh_rates [DEVICE [SET ...]]      cuda:0 and every set, unless others are named
//
// Writes rows as bench/results/ has them, to standard output. Of rates, a few jobs are under way
// at a time, so messages are hashed and results copied while the device computes.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "lanecrypt/lanecrypt.hpp"

namespace {

using Bytes = std::vector<uint8_t>;
using Clock = std::chrono::steady_clock;
constexpr unsigned kRuns = 12, kUnderWay = 3;

[[noreturn]] void give_up(const std::string &what) {
  std::fprintf(stderr, "slh_rates: %s\n", what.c_str());
  std::exit(1);
}

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// The memory of one job.
struct Work {
  std::vector<Bytes> signatures;
  std::vector<lc_slh_dsa_message> messages;
  Bytes keys, verdicts;
  lanecrypt::Ticket ticket;
};

class Rates {
 public:
  Rates(const lanecrypt::Context &context, lc_slh_dsa_set set, std::string where)
      : context_(context), set_(set), where_(std::move(where)) {
    const size_t n = lc_slh_dsa_hash_bytes(set);
    Bytes key(4 * n);
    generate(1, key);
    lc_slh_dsa_parts parts{};
    parts.struct_size = sizeof parts;
    parts.set = set;
    parts.private_key = key.data();
    parts.private_key_bytes = key.size();
    key_ = lanecrypt::SlhDsaKey(parts);
  }

  void measure() {
    const std::string name = lc_slh_dsa_name(set_);
    const bool is_fast = name.back() == 'f', is_shake = name.find("SHAKE") != name.npos;
    // So many take a device about as long in each set.
    const size_t signatures = (is_fast ? 8192 : 512) / (is_shake ? 4 : 1);
    const size_t keys = (is_fast ? 65536 : 4096) / (is_shake ? 4 : 1), verifications = 32768;
    Bytes made(keys * 4 * lc_slh_dsa_hash_bytes(set_));
    fill(one_, 1);
    seconds("sign-one", [&] { context_.run(job(one_, LC_SLH_DSA_SIGN)); });
    seconds("keygen-one", [&] { generate(1, made); });
    seconds("verify-one", [&] { context_.run(job(one_, LC_SLH_DSA_VERIFY)); });
    for (Work &work : works_) fill(work, signatures);
    rate("sign-batch", signatures,
         [&](Work &work) { work.ticket = context_.submit(job(work, LC_SLH_DSA_SIGN)); });
    for (Work &work : works_) work.keys.resize(made.size());
    rate("keygen-batch", keys, [&](Work &work) {
      const lc_slh_dsa_generation what = generation(keys, work.keys);
      work.ticket = context_.submit(what);
    });
    for (Work &work : works_) {
      work.messages.clear();
      for (size_t n = 0; n < verifications; ++n)
        work.messages.push_back(message(work, n % signatures));
      work.verdicts.assign(verifications, 0);
    }
    rate("verify-batch", verifications,
         [&](Work &work) { work.ticket = context_.submit(job(work, LC_SLH_DSA_VERIFY)); });
    for (const Work &work : works_)
      if (std::count(work.verdicts.begin(), work.verdicts.end(), 1) != ptrdiff_t(verifications))
        give_up("a signature of " + name + " is wrong");
  }

 private:
  lc_slh_dsa_message message(Work &work, size_t n) {
    lc_slh_dsa_message made{};
    made.key = key_.get();
    made.message = "What is signed, of 32 bytes here";
    made.message_bytes = 32;
    made.signature = work.signatures[n].data();
    made.signature_bytes = work.signatures[n].size();
    return made;
  }
  void fill(Work &work, size_t count) {
    work.signatures.assign(count, Bytes(lc_slh_dsa_signature_bytes(set_)));
    work.messages.clear();
    for (size_t n = 0; n < count; ++n) work.messages.push_back(message(work, n));
    work.verdicts.assign(count, 0);
  }
  lc_slh_dsa_job job(Work &work, lc_slh_dsa_operation operation) {
    return lanecrypt::slh_dsa_job(operation, work.messages.data(), work.messages.size(),
                                  operation == LC_SLH_DSA_VERIFY ? work.verdicts.data() : nullptr);
  }
  lc_slh_dsa_generation generation(size_t count, Bytes &keys) const {
    lc_slh_dsa_generation what{};
    what.struct_size = sizeof what;
    what.set = set_;
    what.device = LC_ANY_DEVICE;
    what.count = count;
    what.keys = keys.data();
    return what;
  }
  void generate(size_t count, Bytes &keys) { context_.generate(generation(count, keys)); }

  void tell(const char *what, const char *unit, std::vector<double> values) {
    std::sort(values.begin(), values.end());
    std::string name = std::string(lc_slh_dsa_name(set_)) + "." + what + "." + where_;
    std::transform(name.begin(), name.end(), name.begin(), [](char c) { return tolower(c); });
    std::printf(
        "{\"name\": \"%s\", \"value\": %.6g, \"unit\": \"%s\", \"runs\": %zu, \"min\": %.6g, "
        "\"max\": %.6g}\n",
        name.c_str(), values[values.size() / 2], unit, values.size(), values.front(),
        values.back());
    std::fflush(stdout);
  }
  // Single calls, one after the other. The first ones are looked at by the CPU.
  void seconds(const char *what, const std::function<void()> &run) {
    constexpr unsigned kCalls = 200;
    std::vector<double> times;
    const auto all = Clock::now();
    for (unsigned n = 0; n < kCalls && (n < kRuns || seconds_since(all) < 2); ++n) {
      const auto begin = Clock::now();
      run();
      times.push_back(seconds_since(begin));
    }
    tell(what, "s", times);
  }
  // A run is as many jobs as are under way, from one's end to that of the last.
  void rate(const char *what, size_t amount, const std::function<void(Work &)> &start) {
    for (Work &work : works_) start(work);
    std::vector<double> rates;
    for (unsigned run = 0; run <= kRuns; ++run) {
      const auto begin = Clock::now();
      for (Work &work : works_) {
        work.ticket.wait();
        start(work);
      }
      if (run != 0) rates.push_back(double(amount * kUnderWay) / seconds_since(begin));
    }
    for (Work &work : works_) work.ticket.wait();
    tell(what, "1/s", rates);
  }

  const lanecrypt::Context &context_;
  const lc_slh_dsa_set set_;
  const std::string where_;
  lanecrypt::SlhDsaKey key_;
  Work one_;
  std::array<Work, kUnderWay> works_;
};

}  // namespace

int main(int count, char **arguments) {
  const std::string name = count > 1 ? arguments[1] : "cuda:0";
  try {
    lc_options options{};
    options.struct_size = sizeof options;
    options.devices = name.c_str();
    options.fallback = LC_FALLBACK_NONE;
    const lanecrypt::Context context(options);
    for (int set = 0; lc_slh_dsa_name(lc_slh_dsa_set(set)) != nullptr; ++set) {
      const std::string its = lc_slh_dsa_name(lc_slh_dsa_set(set));
      const bool is_wanted =
          count < 3 || std::any_of(arguments + 2, arguments + count,
                                   [&](const char *wanted) { return its.ends_with(wanted); });
      if (is_wanted) Rates(context, lc_slh_dsa_set(set), name.substr(0, name.find(':'))).measure();
    }
    return 0;
  } catch (const std::exception &error) {
    give_up(error.what());
  }
}
