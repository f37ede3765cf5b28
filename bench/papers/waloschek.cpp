// W: Waloschek and others 2010. 100,000 packets of 8 KiB, one at a time and all at once, NIST's
// example vectors, and the shares of time of kernels and copies.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "bench/papers/case.h"
#include "cli/failure.h"

namespace lanecrypt::bench {
namespace {

constexpr uint64_t kPacketBytes = 8192, kPackets = 100000, kTenths = 10;

// SP 800-38A, appendix F.1: ECB, its four blocks.
constexpr char kText[] =
    "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
    "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710";
constexpr struct {
  const char *key, *answer;
} kExamples[] = {
    {"2b7e151628aed2a6abf7158809cf4f3c",
     "3ad77bb40d7a3660a89ecaf32466ef97f5d3d58503b9699de785895a96fdbaaf"
     "43b1cd7f598ece23881b00e3ed0306887b0c785e27e8ad3f8223207104725dd4"},
    {"8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b",
     "bd334f1d6e45f25ff712a214571fa5cc974104846d0ad3ad7734ecb3ecee4eef"
     "ef7afd2270e2e60adce0ba2face6444e9a4b41ba738d6c72fb16691603c18e0e"},
    {"603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
     "f3eed1bdb5d2a03c064b5a7e3db181f8591ccb10d410ed26dc5ba74a31362870"
     "b6ed21b99ca6f4f9f153e7b1beafed1d23304b7a39f9f3ff067d8d8f9e24ecc7"},
};

std::vector<uint8_t> bytes_of(const char *text) {
  std::vector<uint8_t> bytes;
  for (; *text != 0; text += 2)
    bytes.push_back(static_cast<uint8_t>(std::stoi(std::string(text, 2), nullptr, 16)));
  return bytes;
}

// Runs the examples on the device in both directions: each completely, and its first one to three
// blocks. Returns how many were right. Throws if one is wrong.
double run_examples(const Context &context, uint32_t index) {
  unsigned right = 0;
  for (const auto &example : kExamples)
    for (const lc_direction direction : {LC_ENCRYPT, LC_DECRYPT})
      for (uint64_t bytes = 16; bytes <= 64; bytes += 16) {
        std::vector<uint8_t> key = bytes_of(example.key), in = bytes_of(kText);
        std::vector<uint8_t> want = bytes_of(example.answer), out(bytes);
        if (direction == LC_DECRYPT) std::swap(in, want);
        want.resize(bytes);
        lc_message message{};
        message.key = key.data();
        message.in = in.data();
        message.out = out.data();
        message.length = bytes;
        lc_cipher_job job =
            cipher_job(LC_AES_ECB, direction, static_cast<uint32_t>(key.size()), &message, 1);
        job.device = index;
        job.has_device = 1;
        if (context.run(job).device_bytes != bytes || out != want)
          throw cli::Failure(cli::ExitCode::kFailed, "an example of SP 800-38A is wrong");
        right++;
      }
  return right;
}

// Runs all packets one after another, each submitted after the previous one has completed. It
// makes a single pass, which takes seconds. Returns the spread of the rates of the ten parts, in
// GB/s.
Spread one_by_one(const Context &context, uint32_t index, const BenchCase &run, PaperData &data,
                  uint64_t packets) {
  const Messages messages(run, data.data(), data.in(), data.out(), packets * kPacketBytes);
  const auto one = [&](const lc_message &message) {
    lc_cipher_job job =
        cipher_job(run.cipher.mode, run.direction, run.cipher.key_bytes, &message, 1);
    job.device = index;
    job.has_device = 1;
    if (context.run(job).device_bytes != kPacketBytes)
      throw cli::Failure(cli::ExitCode::kFailed, "a packet was not done by the device");
  };
  const uint64_t tenth = packets / kTenths;
  for (uint64_t n = 0; n < std::min<uint64_t>(tenth, 1000); n++) one(messages.list[n]);  // warms up
  std::vector<double> rates;
  for (uint64_t begin = 0; begin < packets; begin += tenth) {
    const uint64_t end = std::min(begin + tenth, packets);
    const double seconds = seconds_of([&] {
      for (uint64_t n = begin; n < end; n++) one(messages.list[n]);
    });
    rates.push_back(static_cast<double>((end - begin) * kPacketBytes) / 1e9 / seconds);
  }
  return spread_of(std::move(rates));
}

void add_share(PaperBench &bench, const std::string &name, uint64_t part, uint64_t all,
               std::optional<double> published = {}) {
  const double share = all == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(all);
  bench.log.add({name, "%", {share, share, share, 1}, {}, {}, "device", {}, published});
}

}  // namespace

void paper_w(PaperBench &bench) {
  const bool has_gpu = bench.has_gpu();
  const uint64_t packets = !has_gpu ? 20 : bench.quick ? 10000 : kPackets;
  const uint64_t bytes = packets * kPacketBytes;
  const double gigabytes = static_cast<double>(bytes) / 1e9;
  const Patience patience = bench.quick ? Patience{3, 1, 0.5} : Patience{5, 3, 1};
  PaperData data(bench.context, bytes, false);
  for (const lc_direction direction : {LC_ENCRYPT, LC_DECRYPT}) {
    const BenchCase run{*cli::find_cipher("aes-128-ecb"), direction, kPacketBytes};
    const auto row = [&](const std::string &how, std::optional<double> published,
                         const std::function<Spread()> &measure) {
      const std::string name = fmt::format("W.{}.{}", run.name(), how);
      bench.log.tell(name);
      BenchResult result{name, "GB/s", measure(), bytes, packets, "wall", {}};
      if (direction == LC_ENCRYPT) result.published = published;
      bench.log.add(std::move(result));
    };
    const auto add = [&](const std::string &how, std::optional<double> published,
                         const std::function<double()> &seconds) {
      row(how, published, [&] { return measure_rate(patience, gigabytes, seconds); });
    };
    add("packets.openssl", 0.06621, [&] { return data.by_openssl(run, bytes); });
    for (const uint32_t index : bench.devices()) {
      const std::string api = bench.context.device(index).api;
      if (direction == LC_ENCRYPT) {
        const double right = run_examples(bench.context, index);
        bench.log.add(
            {"W.nist-examples." + api, "right", {right, right, right, 1}, {}, {}, "", {}});
      }
      // One packet per launch, as in the paper.
      row("packet-by-packet." + api, 0.01347,
          [&] { return one_by_one(bench.context, index, run, data, packets); });
      data.check(run, bytes, "W.packet-by-packet." + api);
      lc_result told{};
      add("packets-at-once." + api, {},
          [&] { return data.by_device(bench.context, index, run, bytes, &told); });
      data.check(run, bytes, "W.packets-at-once." + api);
      const uint64_t all = told.upload_ns + told.kernel_ns + told.download_ns;
      if (all == 0) continue;
      const std::string shares = fmt::format("W.{}.share-", run.name());
      const std::optional<double> of_paper =
          direction == LC_ENCRYPT ? std::optional(87.0) : std::nullopt;
      add_share(bench, shares + "kernel." + api, told.kernel_ns, all, of_paper);
      add_share(bench, shares + "upload." + api, told.upload_ns, all);
      add_share(bench, shares + "download." + api, told.download_ns, all);
    }
  }
}

}  // namespace lanecrypt::bench
