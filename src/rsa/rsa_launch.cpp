// SPDX-License-Identifier: Apache-2.0
#include "rsa/rsa_launch.h"

#include <stdlib.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>
#include <unordered_map>

#include "cpu/rsa/cpu_rsa.h"
#include "job/round_up.h"
#include "kernels/rsa/rsa_layout.h"
#include "process/diagnostics.h"
#include "secure/wiped_bytes.h"

namespace lanecrypt::runtime {
namespace {

using device::Argument;
using device::MemoryKind;

constexpr uint32_t kWarpThreads = 32;
// Up to this number of powers for each multiprocessor, a warp for each power has the least latency.
// The registers of a multiprocessor suffice for eight at a time; it then does that twice.
constexpr uint64_t kPowersByLimbOfUnit = 16;

// The compiled kernels (kernels/all_rsa.h), by the limbs of a thread.
struct Instances {
  RsaArithmetic arithmetic;
  bool of_subgroups;  // for devices whose subgroups may have several threads
  std::vector<uint32_t> thread_per_number, subgroup_powers, subgroup_operations;
  std::vector<uint32_t> thread_per_limb;  // limbs of a number, one in each thread
};

const std::vector<Instances> &instances() {
  static const auto &all = *new std::vector<Instances>{
      {RsaArithmetic::kFp64, true, {10, 20, 30, 40}, {5, 10, 15, 20}, {5, 10, 15}, {20, 30}},
      {RsaArithmetic::kFp64,
       false,
       {10, 20, 30, 40},
       {10, 20, 30, 40, 60, 80},
       {20, 40, 60, 80, 120, 160},
       {}},
      {RsaArithmetic::kU32, true, {39}, {10, 20, 29, 39}, {10, 20, 29, 39}, {}},
      {RsaArithmetic::kU32,
       false,
       {39},
       {20, 39, 58, 78, 116, 156},
       {40, 78, 116, 156, 232, 312},
       {}},
  };
  return all;
}

// The alignment of each part of the staging memory.
constexpr uint64_t kAlignment = 256;

// Returns how many blinding tables give the operations of one key in one launch enough random bits:
// their entries have at least as many products as there are operations, unless all tables have
// fewer.
uint32_t blind_windows_for(uint32_t most_of_one_key) {
  uint32_t windows = 0;
  for (uint64_t products = 1; products < most_of_one_key && windows < RSA_BLIND_WINDOWS;
       products *= RSA_BLIND_ENTRIES)
    ++windows;
  return windows;
}

// Makes all later work in `stream` wait for the work that is already in `other`.
Status follow(device::Stream &stream, device::Stream &other, device::Event &turn) {
  if (&stream == &other) return Status();
  LC_TRY(other.mark(turn));
  return stream.await(turn);
}

using Blinds = std::vector<uint32_t, secure::WipingAllocator<uint32_t>>;

// Secret bits for each operation: its caller's, or else from OpenSSL's private generator, for all
// such operations at once.
void draw_blinds(std::span<const RsaItem> items, Blinds &to, ItemResults &results) {
  const auto is_ours = [](const RsaItem &item) { return item.blind == nullptr; };
  Status drawn;
  if (std::any_of(items.begin(), items.end(), is_ours))
    drawn = cpu::random_bytes(to.data(), to.size() * sizeof to[0]);
  for (size_t n = 0; n < items.size(); ++n) {
    if (!is_ours(items[n]))
      to[n] = *items[n].blind;
    else if (!drawn.ok())
      results.fail(n, Failure::of_item(drawn));
  }
}

}  // namespace

Result<RsaArithmetic> choose_rsa_arithmetic(const device::Properties &properties) {
  const RsaArithmetic best = properties.fast_fp64 ? RsaArithmetic::kFp64 : RsaArithmetic::kU32;
  const char *wanted = process::diagnostic_variable("LANECRYPT_RSA_FORM");
  if (wanted == nullptr) return best;
  if (std::string_view(wanted) == "u32") return RsaArithmetic::kU32;
  if (std::string_view(wanted) != "fp64")
    return Status(LC_ERROR_ARGUMENT,
                  std::string("LANECRYPT_RSA_FORM is \"") + wanted + "\", and must be fp64 or u32");
  if (!properties.fast_fp64) return Status(LC_ERROR_UNSUPPORTED, "the device has no RSA in FP64");
  return RsaArithmetic::kFp64;
}

RsaLaunch::RsaLaunch(device::Device &device, RsaArithmetic arithmetic)
    : device_(device), arithmetic_(arithmetic), memory_(device) {}

uint32_t RsaLaunch::threads_of_block() const {
  return std::min<uint32_t>(RSA_THREAD_BLOCK, device_.properties().max_thread_block_size);
}

uint32_t RsaLaunch::most_threads_of_subgroup() const {
  const device::Properties &properties = device_.properties();
  return properties.single_thread_subgroups ? 1 : properties.warp_threads;
}

uint32_t RsaLaunch::shared_bytes(const RsaSubgroups &subgroups) const {
  // Subgroups that are single threads need no shared memory.
  if (most_threads_of_subgroup() == 1) return 0;
  if (subgroups.thread_per_limb)
    return threads_of_block() * RSA_THREAD_PER_LIMB_WORDS * uint32_t{sizeof(uint64_t)};
  return threads_of_block() * subgroups.limbs * (subgroups.thread_per_number ? 2 : 1) *
         uint32_t{sizeof(uint64_t)};
}

std::vector<RsaSubgroups> RsaLaunch::variants(uint32_t limbs, RsaPart part) const {
  const uint32_t most_threads = most_threads_of_subgroup();
  const bool of_subgroups = most_threads > 1;
  const std::string head = arithmetic_ == RsaArithmetic::kFp64 ? "rsa_fp64_" : "rsa_u32_";
  const bool of_power = part != RsaPart::kWhole;
  std::vector<RsaSubgroups> variants;
  for (const Instances &kernels : instances()) {
    if (kernels.arithmetic != arithmetic_ || kernels.of_subgroups != of_subgroups) continue;
    for (const uint32_t limbs_of_thread : kernels.thread_per_number)
      if (of_power && limbs_of_thread == limbs)
        variants.push_back({head + "thread_per_number_" + std::to_string(limbs_of_thread) + "_", 1,
                            limbs_of_thread, true});
    const std::vector<uint32_t> &threads =
        of_power ? kernels.subgroup_powers : kernels.subgroup_operations;
    for (auto at = threads.rbegin(); at != threads.rend(); ++at) {
      const uint32_t count = limbs / *at;
      if (count * *at == limbs && std::has_single_bit(count) && count <= most_threads)
        variants.push_back({head + std::to_string(*at) + "_", count, *at});
    }
    for (const uint32_t limbs_of_warp : kernels.thread_per_limb)
      if (part == RsaPart::kPower && limbs_of_warp == limbs && kWarpThreads <= most_threads)
        variants.push_back({head + "thread_per_limb_" + std::to_string(limbs_of_warp) + "_1_",
                            kWarpThreads, 1, false, true});
  }
  return variants;
}

// Few threads for each number give the highest throughput, and many the lowest latency. So this
// takes the fewest that keep the device busy.
RsaSubgroups RsaLaunch::choose(uint32_t limbs, uint64_t numbers, RsaPart part) const {
  std::vector<RsaSubgroups> all = variants(limbs, part);
  if (part != RsaPart::kWhole && forced_variant_ < all.size()) return all[forced_variant_];
  if (device_.properties().api != "cuda") return all.front();
  const uint64_t units = device_.properties().compute_units;
  if (all.back().thread_per_limb && numbers > units * kPowersByLimbOfUnit) all.pop_back();
  // About one warp for each scheduler.
  const uint64_t busy = units * 128 * 4 / 5;
  for (const RsaSubgroups &variant : all)
    if (numbers * variant.threads >= busy) return variant;
  return all.back();
}

RsaSubgroups RsaLaunch::best_variant(const RsaClass &size) const {
  return choose(limbs_of(size), UINT32_MAX, RsaPart::kPower);
}

// An operation has two powers.
uint64_t RsaLaunch::operations_of(const RsaSubgroups &variant, uint64_t thread_blocks) const {
  return std::max<uint64_t>(thread_blocks * threads_of_block() / variant.threads / 2, 1);
}

uint64_t RsaLaunch::most_at_once(const RsaClass &size) const {
  if (device_.properties().api != "cuda") return SIZE_MAX;
  const RsaSubgroups variant = best_variant(size);
  return operations_of(variant,
                       device_.resident_thread_blocks((variant.kernels + "power_all").c_str(),
                                                      threads_of_block(), shared_bytes(variant)));
}

uint64_t RsaLaunch::best_batch(const RsaClass &size) const {
  if (device_.properties().api != "cuda") return SIZE_MAX;
  return operations_of(best_variant(size), device_.properties().compute_units);
}

uint32_t RsaLaunch::thread_blocks_of(const RsaSubgroups &subgroups, const char *name,
                                     uint64_t numbers) {
  const uint64_t of_group = threads_of_block() / subgroups.threads;
  const uint64_t wanted = divide_up(numbers, of_group);
  const uint32_t resident = device_.resident_thread_blocks(
      (subgroups.kernels + name).c_str(), threads_of_block(), shared_bytes(subgroups));
  return static_cast<uint32_t>(std::min<uint64_t>(wanted, resident));
}

Status RsaLaunch::launch(device::Stream &stream, const RsaSubgroups &subgroups, const char *name,
                         uint32_t thread_blocks, std::span<const Argument> arguments) {
  const std::string kernel = subgroups.kernels + name;
  LC_TRY(stream.launch(
      {kernel.c_str(), thread_blocks, threads_of_block(), shared_bytes(subgroups), arguments}));
  ++launches_;
  return Status();
}

// The launch id is odd, so zeroed memory never equals it, and it does not repeat for 2^31 launches.
// It is no secret. It starts at a random number, because the device's memory may contain the launch
// ids of another engine.
uint32_t RsaLaunch::next_launch_id() { return launch_id_ += 2; }

// The plan that start() makes for all steps of a launch.
struct RsaLaunch::Plan {
  bool is_private = false;
  uint32_t count = 0;
  std::vector<const RsaItem *> keys;  // the first item of each
  std::vector<uint32_t> key_of;       // of each item, in `keys`
  RsaShape shape = {}, power_shape = {};
  cpu::RsaImageForm form = {};
  RsaSubgroups whole, power;
  uint32_t power_thread_blocks = 0;
  uint64_t image_bytes = 0, key_bytes = 0, input_bytes = 0, number_bytes = 0, table_bytes = 0;
};

// Numbers the distinct keys. Returns the number of operations of the most used one.
uint32_t RsaLaunch::number_keys(const RsaWork &work, Plan &plan) {
  std::unordered_map<const RsaKey *, uint32_t> numbers;
  std::vector<uint32_t> uses;
  plan.key_of.resize(plan.count);
  for (uint32_t n = 0; n < plan.count; ++n) {
    const RsaKey *key = work.items[n].key;
    if (n > 0 && key == work.items[n - 1].key) {
      plan.key_of[n] = plan.key_of[n - 1];
    } else {
      const auto [at, is_new] = numbers.try_emplace(key, static_cast<uint32_t>(plan.keys.size()));
      plan.key_of[n] = at->second;
      if (is_new) {
        plan.keys.push_back(&work.items[n]);
        uses.push_back(0);
      }
    }
    ++uses[plan.key_of[n]];
  }
  return *std::max_element(uses.begin(), uses.end());
}

// Computes the lengths of the numbers, and the shapes that describe them to the kernels.
void RsaLaunch::plan_shapes(const RsaClass &size, uint32_t most_of_one_key, Plan &plan) const {
  const bool fp64 = arithmetic_ == RsaArithmetic::kFp64;
  RsaShape &shape = plan.shape;
  uint32_t prime_bits = 0;
  for (const RsaItem *item : plan.keys) {
    const RsaKey *const key = item->key;
    shape.stride_bytes = std::max(shape.stride_bytes, (key->modulus_bytes + 7) / 8 * 8);
    shape.exponent_bits = std::max<uint32_t>(shape.exponent_bits, std::bit_width(key->exponent));
    if (plan.is_private) prime_bits = std::max(prime_bits, longest_prime_bits(*key));
  }
  shape.count = plan.count;
  shape.half_limbs = limbs_of(size);
  shape.full_limbs = 2 * shape.half_limbs;
  shape.exponent_words = plan.is_private ? (size.prime_bits + 63) / 64 * 2 : 0;
  shape.windows = count_up(prime_bits, RSA_WINDOW_BITS);
  shape.blind_windows = blind_windows_for(most_of_one_key);
  plan.form = {.fp64 = fp64,
               .limb_bits = fp64 ? uint32_t{RSA_FP64_BITS} : RSA_U32_BITS,
               .half_limbs = shape.half_limbs,
               .full_limbs = shape.full_limbs,
               .exponent_words = shape.exponent_words,
               .blind_windows = plan.is_private ? shape.blind_windows : 0,
               .is_private = plan.is_private};
  plan.whole = choose(shape.full_limbs, plan.count, RsaPart::kWhole);
  plan.power = choose(shape.half_limbs, 2 * uint64_t{plan.count}, RsaPart::kPower);
  shape.subgroup = plan.whole.threads;
  plan.power_shape = shape;
  plan.power_shape.subgroup = plan.power.threads;
}

// Computes the sizes and offsets of all data, in host memory and on the device.
void RsaLaunch::plan_memory(RsaWork &work, Plan &plan) {
  const RsaShape &shape = plan.shape;
  plan.image_bytes = round_up(plan.form.bytes(), 16);
  plan.key_bytes = plan.keys.size() * plan.image_bytes;
  plan.input_bytes = uint64_t{plan.count} * shape.stride_bytes;
  work.stride_bytes = shape.stride_bytes;
  work.pieces_at = 2 * round_up(sizeof(RsaShape), kAlignment);
  work.keys_at = work.pieces_at + round_up(plan.count * sizeof(RsaPiece), kAlignment);
  work.inputs_at = work.keys_at + round_up(plan.key_bytes, kAlignment);
  work.staged_bytes = work.inputs_at + plan.input_bytes;
  work.verdicts_at = plan.input_bytes;
  work.result_bytes = plan.input_bytes + plan.count * sizeof(uint32_t);
  if (!plan.is_private) return;
  plan.number_bytes = uint64_t{plan.count} * shape.full_limbs * plan.form.limb_bytes();
  plan.power_thread_blocks = thread_blocks_of(plan.power, "power_all", 2 * uint64_t{plan.count});
  plan.table_bytes = uint64_t{plan.power_thread_blocks} * RSA_THREAD_BLOCK * RSA_WINDOW_ENTRIES *
                     plan.power.limbs * plan.form.limb_bytes();
}

Status RsaLaunch::make_workspace(const RsaWork &work, const Plan &plan, RsaWorkspace &workspace) {
  constexpr MemoryKind kDevice = MemoryKind::kDevice;
  LC_TRY(memory_.grow(workspace.results, MemoryKind::kPinned, work.result_bytes));
  LC_TRY(memory_.grow(workspace.shape, kDevice, sizeof plan.shape));
  LC_TRY(memory_.grow(workspace.power_shape, kDevice, sizeof plan.power_shape));
  LC_TRY(memory_.grow(workspace.pieces, kDevice, plan.count * sizeof(RsaPiece)));
  LC_TRY(memory_.grow(workspace.keys, kDevice, plan.key_bytes));
  LC_TRY(memory_.grow(workspace.in, kDevice, plan.input_bytes));
  LC_TRY(memory_.grow(workspace.out, kDevice, work.result_bytes));
  if (!plan.is_private) return Status();
  LC_TRY(memory_.grow(workspace.blinded, kDevice, plan.number_bytes));
  LC_TRY(memory_.grow(workspace.halves, kDevice, plan.number_bytes));
  return memory_.grow(workspace.table, kDevice, plan.table_bytes);
}

// Writes the data to upload to the staging memory. An item that failed is launched with the input 0
// and another item's key, and its result is ignored.
Status RsaLaunch::stage(const RsaWork &work, const Plan &plan, RsaWorkspace &workspace,
                        ItemResults &results) {
  LC_TRY(memory_.grow(workspace.staging, MemoryKind::kPinned, work.staged_bytes));
  uint8_t *host = workspace.staging->host();
  memcpy(host, &plan.shape, sizeof plan.shape);
  memcpy(host + round_up(sizeof plan.shape, kAlignment), &plan.power_shape,
         sizeof plan.power_shape);
  std::vector<Failure> failures(plan.keys.size());
  size_t good_key = plan.keys.size();
  for (size_t n = 0; n < plan.keys.size(); ++n) {
    const RsaKey &key = *plan.keys[n]->key;
    failures[n] =
        Failure::of_item(plan.is_private && key.is_at_fault
                             ? cpu::key_at_fault()
                             : cpu::write_rsa_image(key, plan.form, plan.keys[n]->random,
                                                    host + work.keys_at + n * plan.image_bytes));
    if (failures[n].ok()) good_key = n;
  }
  Blinds random(plan.is_private ? plan.count : 0);
  if (plan.is_private) draw_blinds(work.items, random, results);
  for (uint32_t n = 0; n < plan.count; ++n)
    if (const Failure &failure = failures[plan.key_of[n]]; !failure.ok()) results.fail(n, failure);
  if (!results.has_any_right()) return Status();
  for (uint32_t n = 0; n < plan.count; ++n) {
    const RsaItem &item = work.items[n];
    const bool is_launched = results.is_right(n);
    const RsaPiece piece = {.key = (is_launched ? plan.key_of[n] : good_key) * plan.image_bytes,
                            .blind = plan.is_private ? random[n] : 0,
                            .unused = 0};
    memcpy(host + work.pieces_at + n * sizeof piece, &piece, sizeof piece);
    uint8_t *to = host + work.inputs_at + uint64_t{n} * work.stride_bytes;
    memset(to, 0, work.stride_bytes);
    if (is_launched)
      memcpy(to + work.stride_bytes - item.key->modulus_bytes, item.in, item.key->modulus_bytes);
  }
  return Status();
}

Status RsaLaunch::upload(device::Stream &stream, const RsaWork &work, const Plan &plan,
                         RsaWorkspace &workspace) {
  const uint8_t *host = workspace.staging->host();
  // Clears the output, so that stale results of an earlier launch are never taken for this one's if
  // a kernel or a copy silently did not run. The earlier launch's results are wiped here too, and
  // its launch id is another.
  LC_TRY(stream.zero(*workspace.out, 0, work.result_bytes));
  LC_TRY(stream.upload(*workspace.shape, 0, host, sizeof plan.shape));
  LC_TRY(stream.upload(*workspace.power_shape, 0, host + round_up(sizeof plan.shape, kAlignment),
                       sizeof plan.power_shape));
  LC_TRY(stream.upload(*workspace.pieces, 0, host + work.pieces_at, plan.count * sizeof(RsaPiece)));
  LC_TRY(stream.upload(*workspace.keys, 0, host + work.keys_at, plan.key_bytes));
  return stream.upload(*workspace.in, 0, host + work.inputs_at, plan.input_bytes);
}

// Blinds the inputs, computes their powers modulo both primes, and combines the halves (RFC 8017,
// section 5.2.1, RSASP1, step 2.b).
Status RsaLaunch::run_private(const RsaStreams &streams, const RsaWork &work, const Plan &plan,
                              RsaWorkspace &workspace) {
  device::Stream &stream = streams.ends;
  const Argument blind[] = {workspace.shape.get(), workspace.keys.get(), workspace.pieces.get(),
                            workspace.in.get(), workspace.blinded.get()};
  LC_TRY(launch(stream, plan.whole, "blind_all",
                thread_blocks_of(plan.whole, "blind_all", plan.count), blind));
  const Argument raise[] = {workspace.power_shape.get(), workspace.keys.get(),
                            workspace.pieces.get(),      workspace.blinded.get(),
                            workspace.table.get(),       workspace.halves.get()};
  LC_TRY(follow(streams.powers, stream, streams.turn));
  LC_TRY(launch(streams.powers, plan.power, "power_all", plan.power_thread_blocks, raise));
  LC_TRY(follow(stream, streams.powers, streams.turn));
  const Argument finish[] = {workspace.shape.get(), workspace.keys.get(),   workspace.pieces.get(),
                             workspace.in.get(),    workspace.halves.get(), workspace.out.get(),
                             work.launch_id};
  LC_TRY(launch(stream, plan.whole, "finish_all",
                thread_blocks_of(plan.whole, "finish_all", plan.count), finish));
  LC_TRY(stream.zero(*workspace.keys, 0, plan.key_bytes));
  LC_TRY(stream.zero(*workspace.blinded, 0, plan.number_bytes));
  LC_TRY(stream.zero(*workspace.halves, 0, plan.number_bytes));
  return stream.zero(*workspace.table, 0, plan.table_bytes);
}

Status RsaLaunch::run_public(device::Stream &stream, const RsaWork &work, const Plan &plan,
                             RsaWorkspace &workspace) {
  const Argument raise[] = {workspace.shape.get(), workspace.keys.get(), workspace.pieces.get(),
                            workspace.in.get(),    workspace.out.get(),  work.launch_id};
  return launch(stream, plan.whole, "public_all",
                thread_blocks_of(plan.whole, "public_all", plan.count), raise);
}

Status RsaLaunch::start(const RsaStreams &streams, RsaWorkspace &workspace, RsaWork &work,
                        ItemResults &results) {
  device::Stream &stream = streams.ends;
  Plan plan;
  plan.is_private = work.operation == LC_RSA_PRIVATE;
  plan.count = static_cast<uint32_t>(work.items.size());
  const uint32_t most_of_one_key = number_keys(work, plan);
  plan_shapes(rsa_class(rsa_kind(*work.items.front().key, work.operation)), most_of_one_key, plan);
  plan_memory(work, plan);
  work.variant =
      (plan.is_private ? "private " + plan.power.kernels : "public ") + plan.whole.kernels;
  LC_TRY(stage(work, plan, workspace, results));
  if (!results.has_any_right()) return Status();
  LC_TRY(make_workspace(work, plan, workspace));
  work.launch_id = next_launch_id();
  LC_TRY(upload(stream, work, plan, workspace));
  LC_TRY(stream.mark(streams.sent));
  LC_TRY(plan.is_private ? run_private(streams, work, plan, workspace)
                         : run_public(stream, work, plan, workspace));
  LC_TRY(stream.zero(*workspace.in, 0, plan.input_bytes));
  LC_TRY(stream.download(workspace.results->host(), *workspace.out, 0, work.result_bytes));
  return stream.zero(*workspace.out, 0, work.result_bytes);
}

void RsaLaunch::read_checks(const RsaWorkspace &workspace, const RsaWork &work,
                            ItemResults &results) {
  for (size_t n = 0; n < work.items.size(); ++n) {
    uint32_t verdict;
    memcpy(&verdict, workspace.results->host() + work.verdicts_at + n * sizeof verdict,
           sizeof verdict);
    if (results.is_right(n) && verdict != work.launch_id) results.mark_wrong(n);
  }
}

Result<bool> RsaLaunch::computes_back(const RsaWorkspace &workspace, const RsaWork &work,
                                      size_t n) {
  const RsaKey &key = *work.items[n].key;
  const uint32_t bytes = key.modulus_bytes;
  const uint8_t *in = work.items[n].in,
                *out = workspace.results->host() + (n + 1) * uint64_t{work.stride_bytes} - bytes;
  // run_rsa() would reject it.
  if (memcmp(out, key.numbers.n.data(), bytes) >= 0) return false;
  if (work.operation != LC_RSA_PRIVATE) std::swap(in, out);
  secure::WipedBytes back(bytes);
  LC_TRY(cpu::run_rsa(key, LC_RSA_PUBLIC, out, back.data()));
  return memcmp(back.data(), in, bytes) == 0;
}

void RsaLaunch::take_results(RsaWorkspace &workspace, RsaWork &work, const ItemResults &results) {
  for (size_t n = 0; n < work.items.size(); ++n) {
    const RsaItem &item = work.items[n];
    uint8_t *const from = workspace.results->host() + n * uint64_t{work.stride_bytes};
    const uint32_t bytes = item.key->modulus_bytes;
    if (results.is_right(n)) memcpy(item.out, from + work.stride_bytes - bytes, bytes);
    secure::wipe(from, work.stride_bytes);  // while it is in the cache
  }
  work.result_bytes = 0;
}

void RsaLaunch::wipe_sent(RsaWorkspace &workspace, RsaWork &work) {
  if (workspace.staging != nullptr)
    secure::wipe(workspace.staging->host(),
                 std::min(work.staged_bytes, workspace.staging->bytes()));
  work.staged_bytes = 0;
}

void RsaLaunch::wipe_host(RsaWorkspace &workspace, RsaWork &work) {
  wipe_sent(workspace, work);
  if (workspace.results != nullptr)
    secure::wipe(workspace.results->host(),
                 std::min(work.result_bytes, workspace.results->bytes()));
  work.result_bytes = 0;
}

void RsaLaunch::wipe_device(device::Stream &stream, RsaWorkspace &workspace) {
  for (const device::Buffer *buffer :
       {workspace.keys.get(), workspace.pieces.get(), workspace.in.get(), workspace.blinded.get(),
        workspace.halves.get(), workspace.table.get(), workspace.out.get()})
    if (buffer != nullptr) (void)stream.zero(*buffer, 0, buffer->bytes());
}

}  // namespace lanecrypt::runtime
