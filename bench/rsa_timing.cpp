// Tests whether the time of the RSA kernels depends on keys or data: private operations and
// rounds of the prime test, by one thread and by several threads per number. `lanecrypt bench
// timing` does the same for AES.
//
//   rsa_timing [--device ID] [--launches N] [--only PART] [--out FILE]
//
// Half of the launches have one fixed key (or candidate), half any of many; half have equal
// messages (or bases), half random ones. A Welch's t between -4.5 and 4.5 means that no
// difference was found. A time is from the start of a batch to its end. --only selects the rows
// whose names contain PART.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>

#include "bench/report/batch_timing.h"
#include "bench/report/results.h"
#include "cpu/random.h"
#include "cpu/rsa/cpu_rsa.h"
#include "cpu/rsa/prime_candidates.h"
#include "device/device_enumeration.h"
#include "lanecrypt/lanecrypt.h"
#include "primes/prime_tester.h"
#include "primes/rsa_generator.h"
#include "rsa/rsa_engine.h"

namespace lanecrypt::bench {
namespace {

using Bytes = std::vector<uint8_t>;
constexpr size_t kPlaces = BatchTiming::kPlaces;

[[noreturn]] void give_up(const std::string &what) {
  std::fprintf(stderr, "rsa_timing: %s\n", what.c_str());
  std::exit(1);
}
void must(const Status &status) {
  if (!status.ok()) give_up(status.text());
}

// The first kPlaces keys are copies of one key; each of the other kPlaces is a different key.
std::vector<RsaKeyPointer> make_keys(uint32_t bits) {
  lc_options options{};
  options.struct_size = sizeof options;
  options.devices = "none";
  lc_context *context = nullptr;
  if (lc_open(&options, &context) != LC_OK) give_up(lc_last_error());
  struct Made {
    std::vector<RsaKeyPointer> keys;
    size_t copies;
  } made;
  lc_rsa_generation generation{};
  generation.struct_size = sizeof generation;
  generation.bits = bits;
  generation.count = 1 + kPlaces;
  generation.device = LC_CPU;
  generation.on_key = [](void *argument, uint64_t, const lc_rsa_parts *parts) {
    Made &to = *static_cast<Made *>(argument);
    for (size_t copies = to.keys.empty() ? kPlaces : 1; copies > 0; --copies) {
      Result<std::shared_ptr<RsaKey>> key = copy_rsa_key(parts);
      must(key.status());
      must(cpu::prepare(**key));
      to.keys.push_back(*key);
    }
    return 1;
  };
  generation.argument = &made;
  if (lc_rsa_generate(context, &generation, nullptr) != LC_OK) give_up(lc_last_error());
  lc_close(context);
  return made.keys;
}

void time_operations(BatchTiming &timing, const device::Found &found, const char *how,
                     uint32_t bits, size_t count) {
  Result<std::unique_ptr<runtime::RsaEngine>> engine = runtime::make_rsa_engine(found);
  must(engine.status());
  const std::vector<RsaKeyPointer> keys = make_keys(bits);
  const size_t bytes = bits / 8;
  std::vector<Bytes> inputs(2 * kPlaces, Bytes(count * bytes));
  for (size_t place = 0; place < inputs.size(); ++place)
    for (size_t at = 0; at < inputs[place].size(); ++at) {
      uint8_t &byte = inputs[place][at];
      if (place < kPlaces && at >= bytes)
        byte = inputs[place][at - bytes];
      else
        byte = place > 0 && place < kPlaces ? inputs[0][at] : uint8_t(timing.random()());
      if (at % bytes == 0) byte &= 0x3f;  // less than any modulus of this length
    }
  Bytes out(count * bytes);
  std::vector<runtime::RsaItem> items(count);
  timing.measure(
      fmt::format("rsa-{}.private-{}", bits, how),
      [&](size_t key, size_t data) {
        for (size_t n = 0; n < count; ++n)
          items[n] = {keys[key].get(), &inputs[data][n * bytes], &out[n * bytes]};
      },
      [&](size_t, size_t) {
        runtime::ItemResults results(count);
        const runtime::BatchEngine::Started started =
            (*engine)->start_items(LC_RSA_PRIVATE, items, results);
        must(started.failure.status());
        must(started.batch->finish(results).status());
        if (!results.are_all_right()) give_up("a wrong result");
      });
}

void time_prime_tests(BatchTiming &timing, const device::Found &found, const char *how,
                      uint32_t bits, size_t count) {
  Result<std::unique_ptr<runtime::PrimeTester>> tester = runtime::make_device_primes(found);
  must(tester.status());
  const uint32_t stride = cpu::prime_stride_bytes(bits);
  must((*tester)->reserve(bits, count, count));
  std::vector<uint32_t> trials(count);
  for (uint32_t n = 0; n < count; ++n) trials[n] = n;
  std::vector<Bytes> candidates(2 * kPlaces, Bytes(count * stride)), bases = candidates;
  for (size_t place = 0; place < 2 * kPlaces; ++place) {
    must(cpu::draw_candidates(cpu::random_bytes, bits, candidates[place]));
    for (size_t at = 0; at < bases[place].size(); ++at)
      bases[place][at] = uint8_t(timing.random()());
    for (size_t n = 0; n < count; ++n) {
      // Makes the base less than any candidate of this length.
      bases[place][n * stride] &= 0x3f;
      if (place >= kPlaces) continue;
      memcpy(&candidates[place][n * stride], candidates[0].data(), stride);
      memcpy(&bases[place][n * stride], bases[0].data(), stride);
    }
  }
  const auto table = std::make_shared<const cpu::SieveTable>(
      cpu::make_sieve_table(stride, std::array<uint8_t, 3>{1, 0, 1}));
  Bytes survives(count), passed(count);
  timing.measure(
      fmt::format("prime-{}.test-{}", bits, how),
      [&](size_t candidate, size_t base) {
        memcpy((*tester)->candidates().data(), candidates[candidate].data(), count * stride);
        memcpy((*tester)->bases().data(), bases[base].data(), count * stride);
        // The sieve copies the candidates to the device, and its time may depend on them. An
        // equal launch comes before the timed one, so that the timed launch does not follow the
        // sieve directly.
        must((*tester)->sieve(table, count, survives));
        must((*tester)->test(bits, trials, passed));
      },
      [&](size_t, size_t) { must((*tester)->test(bits, trials, passed)); });
}

int run(int argc, char **argv) {
  std::string id = "cuda:0", only, out;
  unsigned launches = 4000;
  for (int at = 1; at + 1 < argc; at += 2) {
    const std::string name = argv[at], value = argv[at + 1];
    if (name == "--device")
      id = value;
    else if (name == "--launches")
      launches = unsigned(std::stoul(value));
    else if (name == "--only")
      only = value;
    else if (name == "--out")
      out = value;
    else
      give_up("no such option: " + name);
  }
  if (argc % 2 == 0) give_up("an option needs a value");
  for (const device::Found &found : device::find_all_here()) {
    if (found.properties.id != id) continue;
    BatchTiming timing(found.properties.api, launches);
    // The emulator's times mean nothing. It only shows that the program works.
    const bool is_gpu = found.properties.is_gpu;
    const auto wants = [&](const std::string &test) {
      return test.find(only) != std::string::npos;
    };
    if (wants("rsa-2048.private-several-lanes"))
      time_operations(timing, found, "several-lanes", 2048, is_gpu ? 512 : 1);
    if (is_gpu && wants("rsa-1024.private-one-lane"))
      time_operations(timing, found, "one-lane", 1024, 8192);
    if (wants("prime-1024.test-several-lanes"))
      time_prime_tests(timing, found, "several-lanes", 1024, is_gpu ? 1024 : 1);
    if (is_gpu && wants("prime-512.test-one-lane"))
      time_prime_tests(timing, found, "one-lane", 512, 16384);
    if (timing.results().empty()) give_up("nothing here has " + only + " in its name");
    Machine machine = this_machine();
    machine.gpu = found.properties.name;
    machine.driver = found.properties.driver;
    const std::string json = results_json(machine, timing.results()).dump(2) + "\n";
    if (out.empty())
      std::cout << json;
    else
      std::ofstream(out) << json;
    return 0;
  }
  give_up("there is no device " + id);
}

}  // namespace
}  // namespace lanecrypt::bench

int main(int argc, char **argv) { return lanecrypt::bench::run(argc, argv); }
