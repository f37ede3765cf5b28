// How many signatures, keys and verifications of SLH-DSA a device does, and how long one
// signature takes it.
//
//   slh_rates [DEVICE [SET ...]]      cuda:0 and every set, unless others are named
//
// Writes rows as bench/results/ has them, to standard output. Batches run in turn, so copies
// are counted too. Every batch is checked.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "device/survey.h"
#include "slh/slh_launch.h"

namespace lanecrypt::runtime {
namespace {

using Bytes = std::vector<uint8_t>;
constexpr unsigned kRuns = 12;

[[noreturn]] void give_up(const std::string &what) {
  std::fprintf(stderr, "slh_rates: %s\n", what.c_str());
  std::exit(1);
}
void must(const Status &status) {
  if (!status.ok()) give_up(status.text());
}

class Rates {
 public:
  Rates(device::Device &device, const SlhSet &set, std::string where)
      : set_(set), where_(std::move(where)), launch_(device) {
    auto stream = device.make_stream();
    must(stream.status());
    stream_ = std::move(*stream);
    seeds_.resize(3 * set.n);
    std::iota(seeds_.begin(), seeds_.end(), uint8_t{0});
    root_.resize(set.n);
    roots(1, root_);
  }

  void measure() {
    const uint32_t batch = SlhLaunch::best_batch(set_);
    const uint32_t keys = batch * set_.layers, checked = 16384;
    Bytes one = sign(1), many, made;
    seconds("sign-one", [&] { (void)sign(1); });
    rate("sign-batch", batch, [&] { many = sign(batch); });
    made.resize(size_t{keys} * set_.n);
    seconds("keygen-one", [&] { roots(1, std::span(made).first(set_.n)); });
    rate("keygen-batch", keys, [&] { roots(keys, made); });
    Bytes copies;
    for (uint32_t i = 0; i < checked; ++i) copies.insert(copies.end(), one.begin(), one.end());
    const std::vector<SlhItem> items(checked, item(one));
    rate("verify-batch", checked, [&] {
      must(launch_.start_verify(*stream_, room_, set_, items, copies));
      must(stream_->finish());
      Bytes valid(checked);
      must(launch_.finish_verify(room_, valid));
      if (std::count(valid.begin(), valid.end(), 1) != checked) give_up("a signature is wrong");
    });
  }

 private:
  SlhKeyParts parts() const {
    const std::span<const uint8_t> all = seeds_;
    return {all.first(set_.n), all.subspan(set_.n, set_.n), all.last(set_.n), root_};
  }
  SlhItem item(std::span<const uint8_t> signature) const {
    Bytes digest(set_.digest_bytes());
    must(slh_digest(set_, parts(), signature.first(set_.n), seeds_, digest));
    return slh_item(set_, parts(), digest);
  }
  Bytes sign(uint32_t count) {
    const size_t bytes = set_.signature_bytes();
    Bytes all(count * bytes), right(count);
    std::vector<SlhItem> items;
    for (uint32_t i = 0; i < count; ++i) {
      const std::span<uint8_t> r(&all[i * bytes], set_.n);
      Bytes random(set_.n, uint8_t(i));
      must(slh_randomizer(set_, parts(), random, seeds_, r));
      items.push_back(item(r));
    }
    must(launch_.start_sign(*stream_, room_, set_, items));
    must(stream_->finish());
    launch_.finish_sign(room_, set_, all, right);
    if (std::count(right.begin(), right.end(), 1) != count) give_up("the device failed its check");
    return all;
  }
  void roots(uint32_t count, std::span<uint8_t> to) {
    const std::vector<SlhItem> items(count, slh_item(set_, parts(), {}));
    must(launch_.start_roots(*stream_, room_, set_, items));
    must(stream_->finish());
    launch_.finish_roots(room_, set_, to);
  }

  std::vector<double> time(const std::function<void()> &run) {
    std::vector<double> times;
    run();
    for (unsigned n = 0; n < kRuns; ++n) {
      const auto begin = std::chrono::steady_clock::now();
      run();
      times.push_back(
          std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    std::sort(times.begin(), times.end());
    return times;
  }
  void tell(const char *what, const char *unit, double median, double least, double most) {
    std::string name = "slh-dsa-" + std::string(set_.name) + "." + what + "." + where_;
    std::transform(name.begin(), name.end(), name.begin(), [](char c) { return tolower(c); });
    std::printf(
        "{\"name\": \"%s\", \"value\": %.6g, \"unit\": \"%s\", \"runs\": %u, \"min\": %.6g, "
        "\"max\": %.6g}\n",
        name.c_str(), median, unit, kRuns, least, most);
    std::fflush(stdout);
  }
  void seconds(const char *what, const std::function<void()> &run) {
    const std::vector<double> times = time(run);
    tell(what, "s", times[kRuns / 2], times.front(), times.back());
  }
  void rate(const char *what, double amount, const std::function<void()> &run) {
    const std::vector<double> times = time(run);
    tell(what, "1/s", amount / times[kRuns / 2], amount / times.back(), amount / times.front());
  }

  const SlhSet &set_;
  const std::string where_;
  SlhLaunch launch_;
  std::unique_ptr<device::Stream> stream_;
  SlhRoom room_;
  Bytes seeds_, root_;
};

}  // namespace
}  // namespace lanecrypt::runtime

int main(int count, char **arguments) {
  using namespace lanecrypt;
  const std::string name = count > 1 ? arguments[1] : "cuda:0";
  const std::string api = name.substr(0, name.find(':'));
  for (const device::Found &found : device::survey({api}).found) {
    if (found.properties.id != name && found.properties.api != name) continue;
    auto opened = found.open(device::KernelSet::kSlh);
    if (!opened.ok()) runtime::give_up(opened.status().text());
    std::fprintf(stderr, "%s\n", found.properties.name.c_str());
    for (const runtime::SlhSet &set : runtime::slh_sets())
      if (count < 3 || std::find(arguments + 2, arguments + count, set.name) != arguments + count)
        runtime::Rates(**opened, set, api).measure();
    return 0;
  }
  runtime::give_up("there is no device " + name);
}
