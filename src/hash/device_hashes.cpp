// SPDX-License-Identifier: Apache-2.0
#include "hash/device_hashes.h"

#include <algorithm>
#include <cstring>

#include "cpu/hash/cpu_hash.h"

namespace lanecrypt::runtime {
namespace {

using device::Buffer;
using device::MemoryKind;

// The alignment that a device requires of a buffer that is passed to a kernel.
constexpr uint64_t kViewAlignment = 4096;

// `Base` is the caller's memory as the kernels get it: a buffer, and offsets from its beginning.
struct Base {
  const Buffer *buffer = nullptr;
  uint64_t address = 0;

  uint64_t offset_of(const uint8_t *at) const { return reinterpret_cast<uint64_t>(at) - address; }
};

// `Range` is the smallest address range that includes all memory that a job names.
struct Range {
  uint64_t begin = UINT64_MAX, end = 0;

  void add(const uint8_t *at, uint64_t bytes) {
    if (bytes == 0) return;
    begin = std::min(begin, reinterpret_cast<uint64_t>(at));
    end = std::max(end, reinterpret_cast<uint64_t>(at) + bytes);
  }
};

// Returns the base of `range`. A device with flat addresses needs none. On others all memory must
// be in one buffer, of which `view` becomes a view.
Result<Base> base_of(device::Device &device, const Range &range, std::unique_ptr<Buffer> *view) {
  if (device.properties().flat_addresses || range.end == 0) return Base{};
  const uint64_t begin = range.begin / kViewAlignment * kViewAlignment;
  Result<std::unique_ptr<Buffer>> made = device.view(begin, range.end - begin);
  if (!made.ok())
    return Status(LC_ERROR_ARGUMENT,
                  "the messages, or their digests, are not in one buffer of this device");
  *view = std::move(*made);
  return Base{view->get(), begin};
}

// `Steps` is what the steps of a job share.
struct Steps {
  HashLaunch &launch;
  DeviceHashes &flight;
  Base in, out;

  const HashJob &job() const { return flight.request->job; }
  device::Stream &stream() { return *flight.stream; }
  uint64_t out_of(size_t n) const {
    return out.buffer == flight.workspace.digests.get() && out.buffer != nullptr
               ? n * job().spec.digest_bytes
               : out.offset_of(job().messages[n].digest);
  }
  Status hash_messages(const std::vector<size_t> &messages);
  Status hash_tree(size_t n);
};

Status Steps::hash_messages(const std::vector<size_t> &messages) {
  if (messages.empty()) return Status();
  HashWorkspace &workspace = flight.workspace;
  const uint64_t bytes = messages.size() * sizeof(HashPiece);
  LaunchMemory &memory = launch.memory();
  LC_TRY(memory.grow(workspace.table_host, MemoryKind::kPinned, bytes));
  LC_TRY(memory.grow(workspace.table, MemoryKind::kDevice, bytes));
  auto *const pieces = reinterpret_cast<HashPiece *>(workspace.table_host->host());
  HashInputs inputs = {workspace.table.get(), uint32_t(messages.size()), 0, in.buffer, out.buffer};
  for (uint32_t n = 0; n < messages.size(); ++n) {
    const HashMessage &message = job().messages[messages[n]];
    const uint64_t at = message.length == 0 ? 0 : in.offset_of(message.in);
    pieces[n] = {at, message.length, 0, out_of(messages[n]), n, 1};
    inputs.longest = std::max(inputs.longest, message.length);
  }
  LC_TRY(memory.grow(workspace.states, MemoryKind::kDevice,
                     HashLaunch::needs_states(job().spec, inputs.longest)
                         ? 4 * HASH_STATE_WORDS * messages.size()
                         : 1));
  LC_TRY(stream().upload(*workspace.table, 0, pieces, bytes));
  return launch.hash(stream(), workspace, job().spec, inputs);
}

Status Steps::hash_tree(size_t n) {
  HashWorkspace &workspace = flight.workspace;
  const HashSpec &spec = job().spec;
  const HashMessage &message = job().messages[n];
  const uint64_t leaves = spec.leaves(message.length);
  const bool is_parallel = spec.method->family == HashFamily::kParallel;
  if (!is_parallel) LC_TRY(launch.make_levels(workspace, leaves));
  for (uint64_t first = 0; first < leaves; first += HashLaunch::kMostValues) {
    const auto count = uint32_t(std::min(leaves - first, HashLaunch::kMostValues));
    const uint64_t at = first * spec.leaf_bytes;
    LC_TRY(launch.hash_leaves(stream(), workspace, spec,
                              {in.buffer, message.length == 0 ? 0 : in.offset_of(message.in) + at,
                               message.length - at, first, count, 0}));
    if (is_parallel)
      LC_TRY(stream().download(
          workspace.results->host() + flight.values_at[n] + first * spec.method->value_bytes,
          *workspace.values, 0, uint64_t{count} * spec.method->value_bytes));
    else if (leaves > cpu::kPartLeaves)
      LC_TRY(launch.join_values(stream(), workspace, spec, count, first / cpu::kPartLeaves));
  }
  if (is_parallel) return Status();
  return launch.make_root(stream(), workspace, spec, leaves, out.buffer, out_of(n));
}

Status put_into_stream(device::Device &device, HashLaunch &launch, DeviceHashes &flight) {
  const HashJob &job = flight.request->job;
  const HashSpec &spec = job.spec;
  HashWorkspace &workspace = flight.workspace;
  LaunchMemory &memory = launch.memory();
  const bool to_host = job.digest_memory == LC_MEMORY_HOST;
  const bool is_parallel = spec.method->family == HashFamily::kParallel;

  Range in, out;
  std::vector<size_t> plain, trees;
  uint64_t most_values = 1, results = job.messages.size() * spec.digest_bytes;
  for (size_t n = 0; n < job.messages.size(); ++n) {
    const HashMessage &message = job.messages[n];
    in.add(message.in, message.length);
    if (!to_host) out.add(message.digest, spec.digest_bytes);
    const bool is_plain = HashLaunch::is_plain(spec, message.length, job.messages.size());
    (is_plain ? plain : trees).push_back(n);
    if (is_plain) continue;
    const uint64_t leaves = spec.leaves(message.length);
    most_values = std::max(most_values, std::min(leaves, HashLaunch::kMostValues));
    if (!is_parallel) continue;
    flight.values_at.resize(job.messages.size());
    flight.values_at[n] = results;
    results += leaves * spec.method->value_bytes;
  }
  LC_TRY(memory.grow(workspace.values, MemoryKind::kDevice,
                     most_values * std::max(spec.method->value_bytes, 1u)));
  Steps steps = {launch, flight, {}, {}};
  Result<Base> in_base = base_of(device, in, &flight.in_view);
  if (!in_base.ok()) return in_base.status();
  steps.in = *in_base;
  if (to_host) {
    LC_TRY(memory.grow(workspace.results, MemoryKind::kPinned, std::max<uint64_t>(results, 1)));
    LC_TRY(memory.grow(workspace.digests, MemoryKind::kDevice,
                       std::max<uint64_t>(job.messages.size() * spec.digest_bytes, 1)));
    steps.out = {workspace.digests.get(), 0};
  } else {
    Result<Base> out_base = base_of(device, out, &flight.out_view);
    if (!out_base.ok()) return out_base.status();
    steps.out = *out_base;
  }
  LC_TRY(launch.begin(*flight.stream, workspace, spec));
  LC_TRY(steps.hash_messages(plain));
  for (const size_t n : trees) LC_TRY(steps.hash_tree(n));
  if (to_host && !is_parallel)
    LC_TRY(flight.stream->download(workspace.results->host(), *workspace.digests, 0,
                                   job.messages.size() * spec.digest_bytes));
  return Status();
}

}  // namespace

Status start_hashes(device::Device &device, HashLaunch &launch, DeviceHashes &flight) {
  Status status = put_into_stream(device, launch, flight);
  const Status wiped = launch.end(*flight.stream, flight.workspace, flight.request->job.spec);
  if (status.ok()) status = wiped;
  if (status.ok()) status = flight.stream->mark(*flight.done);
  // The stream must be idle before the memory is reused.
  if (!status.ok()) (void)flight.stream->finish();
  return status;
}

Status finish_hashes(DeviceHashes &flight) {
  const HashJob &job = flight.request->job;
  const uint64_t bytes = job.spec.digest_bytes;
  if (job.digest_memory == LC_MEMORY_HOST && bytes != 0)
    for (size_t n = 0; n < job.messages.size(); ++n) {
      const HashMessage &message = job.messages[n];
      const uint64_t leaves = job.spec.leaves(message.length);
      if (job.spec.method->family == HashFamily::kParallel) {
        const uint8_t *const values = flight.workspace.results->host() + flight.values_at[n];
        LC_TRY(cpu::tree_root(job.spec, {values, values + leaves * job.spec.method->value_bytes},
                              leaves, {message.digest, bytes}));
      } else {
        std::memcpy(message.digest, flight.workspace.results->host() + n * bytes, bytes);
      }
    }
  return Status();
}

void wipe_hashes(DeviceHashes &flight) {
  if (flight.request->job.spec.flags == 0) return;
  for (const auto *buffer : {&flight.workspace.small, &flight.workspace.results})
    if (*buffer != nullptr) secure::wipe((*buffer)->host(), (*buffer)->bytes());
}

}  // namespace lanecrypt::runtime
