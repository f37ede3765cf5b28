// SPDX-License-Identifier: Apache-2.0
#include "hash/host_hashes.h"

#include <algorithm>
#include <cstring>

#include "cpu/hash/cpu_hash.h"
#include "job/round_up.h"
#include "thread/stuck.h"

namespace lanecrypt::runtime {
namespace {

using device::MemoryKind;

// The most messages that are hashed concurrently, and the most pieces of one chunk.
constexpr size_t kMostBegun = 16384, kMostPieces = 65536;
// The alignment of pieces, which is the size of the kernels' loads.
constexpr uint64_t kAlignment = 16;
// The least bytes of a piece that does not end its message.
constexpr uint64_t kLeastPiece = 4096;

}  // namespace

Status HostHashes::open() {
  for (Slot &slot : slots_) {
    Result<std::unique_ptr<device::Stream>> stream = device_.make_stream();
    if (!stream.ok()) return stream.status();
    Result<std::unique_ptr<device::Event>> done = device_.make_event();
    if (!done.ok()) return done.status();
    slot.stream = std::move(*stream);
    slot.done = std::move(*done);
  }
  return Status();
}

Status HostHashes::wait(device::Event &event) {
  if (is_stuck_ || !await_within(event, options_.time_limit)) {
    is_stuck_ = true;
    return stuck_status(options_.time_limit);
  }
  return event.wait();
}

// Returns the next slot, after waiting for its previous chunk.
Result<HostHashes::Slot *> HostHashes::next_slot() {
  Slot &slot = slots_[turn_++ % slots_.size()];
  if (slot.is_used) LC_TRY(wait(*slot.done));
  const uint64_t pieces = kMostPieces * sizeof(HashPiece);
  LC_TRY(launch_.memory().grow(slot.host, MemoryKind::kPinned, options_.chunk_bytes + pieces));
  LC_TRY(launch_.memory().grow(slot.in, MemoryKind::kDevice, options_.chunk_bytes));
  LC_TRY(launch_.memory().grow(slot.pieces, MemoryKind::kDevice, pieces));
  slot.is_used = true;
  return &slot;
}

// Makes later work in the slot's stream wait for the kernels of the last chunk.
Status HostHashes::follow(Slot &slot) {
  if (last_ != nullptr && last_ != &slot) LC_TRY(slot.stream->await(*last_->done));
  last_ = &slot;
  return Status();
}

void HostHashes::copy(Slot &slot, std::span<const Copy> copies) {
  constexpr uint64_t kPart = 1 << 20;
  uint64_t bytes = 0;
  std::vector<size_t> begins = {0};
  for (size_t n = 0; n < copies.size(); ++n) {
    bytes += copies[n].bytes;
    if (bytes < kPart) continue;
    begins.push_back(n + 1);
    bytes = 0;
  }
  if (begins.back() != copies.size()) begins.push_back(copies.size());
  workers_.share(begins.size() - 1, [&](size_t part) {
    for (size_t n = begins[part]; n < begins[part + 1]; ++n)
      if (copies[n].bytes != 0)
        std::memcpy(slot.host->host() + copies[n].to, copies[n].from, copies[n].bytes);
  });
}

Status HostHashes::begin(const HashJob &job) {
  plain_.clear();
  trees_.clear();
  last_ = nullptr;
  const HashSpec &spec = job.spec;
  for (size_t n = 0; n < job.messages.size(); ++n) {
    if (HashLaunch::is_plain(spec, job.messages[n].length, job.messages.size()))
      plain_.push_back(n);
    else
      trees_.push_back({.message = n, .sample = {}});
  }
  constexpr MemoryKind kDevice = MemoryKind::kDevice;
  LaunchMemory &memory = launch_.memory();
  uint64_t results = job.messages.size() * spec.digest_bytes;
  LC_TRY(memory.grow(workspace_.digests, kDevice, std::max<uint64_t>(results, 1)));
  LC_TRY(memory.grow(workspace_.states, kDevice,
                     4 * HASH_STATE_WORDS * std::clamp<size_t>(plain_.size(), 1, kMostBegun)));
  uint64_t most_values = 0;
  for (Tree &tree : trees_) {
    const uint64_t leaves = spec.leaves(job.messages[tree.message].length);
    most_values = std::max(most_values, std::min(leaves, HashLaunch::kMostValues));
    const bool is_parallel = spec.method->family == HashFamily::kParallel;
    if (!is_parallel) tree.sample = check_.choose_part(job, tree.message);
    tree.values_at = results;
    if (is_parallel)
      tree.values_bytes = leaves * spec.method->value_bytes;
    else if (tree.sample)
      tree.values_bytes =
          std::min(cpu::kPartLeaves, leaves - tree.sample->part * cpu::kPartLeaves) *
          spec.method->value_bytes;
    tree.parts_at = tree.values_at + tree.values_bytes;
    if (tree.sample && leaves > cpu::kPartLeaves)
      tree.parts_bytes =
          cpu::tree_parts(spec, job.messages[tree.message].length) * spec.method->value_bytes;
    results = tree.parts_at + tree.parts_bytes;
  }
  LC_TRY(memory.grow(workspace_.values, kDevice,
                     std::max<uint64_t>(most_values * spec.method->value_bytes, 1)));
  LC_TRY(memory.grow(workspace_.results, MemoryKind::kPinned, std::max<uint64_t>(results, 1)));
  Result<Slot *> first = next_slot();
  if (!first.ok()) return first.status();
  LC_TRY(follow(**first));
  LC_TRY(launch_.begin(*(*first)->stream, workspace_, spec));
  return (*first)->stream->mark(*(*first)->done);
}

Failure HostHashes::run(const HashJob &job) {
  Status status = begin(job);
  if (status.ok()) status = hash_messages(job);
  for (Tree &tree : trees_)
    if (status.ok()) status = hash_tree(job, tree);
  if (status.ok()) status = bring_back(job);
  const Status wiped = wipe_device(job);
  if (status.ok()) status = wiped;
  for (Slot &slot : slots_) {
    // Waits for all slots, so that nothing still uses memory that the next job or the caller
    // reuses.
    if (slot.is_used && !is_stuck_ && slot.stream->mark(*slot.done).ok()) {
      const Status over = wait(*slot.done);
      if (status.ok()) status = over;
    }
    slot.is_used = false;
  }
  Failure failure = Failure::of_device(status);
  if (failure.ok()) failure = Failure::of_check(check(job));
  if (failure.ok())
    for (size_t n = 0; n < job.messages.size(); ++n)
      if (job.spec.digest_bytes != 0)
        std::memcpy(job.messages[n].digest, workspace_.results->host() + n * job.spec.digest_bytes,
                    job.spec.digest_bytes);
  if (!is_stuck_) launch_.memory().free_outgrown();
  wipe_host(job);
  return failure;
}

// Zeroes secrets on the device, after all of its work.
Status HostHashes::wipe_device(const HashJob &job) {
  if (last_ == nullptr || is_stuck_) return Status();
  if (job.spec.hashes_keys())
    for (const Slot &slot : slots_)
      if (slot.bytes != 0) LC_TRY(last_->stream->zero(*slot.in, 0, slot.bytes));
  return launch_.end(*last_->stream, workspace_, job.spec);
}

void HostHashes::wipe_host(const HashJob &job) {
  for (Slot &slot : slots_) {
    if (job.spec.hashes_keys() && slot.bytes != 0) secure::wipe(slot.host->host(), slot.bytes);
    slot.bytes = 0;
  }
  if (job.spec.flags == 0) return;
  for (const auto *buffer : {&workspace_.small, &workspace_.results})
    if (*buffer != nullptr) secure::wipe((*buffer)->host(), (*buffer)->bytes());
}

// Returns what the length of a piece must be a multiple of, unless the piece ends its message.
uint64_t HostHashes::block_of(const HashJob &job) const {
  const uint64_t block = job.spec.method->block_bytes;
  // It is also a multiple of the size of the kernels' loads.
  return block % kAlignment == 0 ? block : 2 * block;
}

Status HostHashes::hash_messages(const HashJob &job) {
  std::vector<Begun> begun;
  free_states_.clear();
  for (uint32_t n = 0; n < std::min(plain_.size(), kMostBegun); ++n) free_states_.push_back(n);
  size_t next = 0;
  while (next < plain_.size() || !begun.empty()) {
    for (; begun.size() < kMostBegun && next < plain_.size(); ++next) {
      begun.push_back({plain_[next], 0, free_states_.back()});
      free_states_.pop_back();
    }
    LC_TRY(hash_chunk(job, begun));
  }
  return Status();
}

// Hashes a chunk: a piece of each of as many messages as fit. Messages that remain move to the
// front; messages that ended are removed.
Status HostHashes::hash_chunk(const HashJob &job, std::vector<Begun> &begun) {
  Result<Slot *> found = next_slot();
  if (!found.ok()) return found.status();
  Slot &slot = **found;
  const bool whole = job.spec.is_tree();
  const uint64_t block = block_of(job);
  const uint64_t share = std::max(options_.chunk_bytes / begun.size(), kLeastPiece) / block * block;
  auto *const pieces = reinterpret_cast<HashPiece *>(slot.host->host() + options_.chunk_bytes);
  std::vector<Copy> copies;
  std::vector<Begun> left, untouched;
  HashInputs inputs = {slot.pieces.get(), 0, 0, slot.in.get(), workspace_.digests.get()};
  uint64_t at = 0;
  for (Begun &one : begun) {
    const HashMessage &message = job.messages[one.message];
    const uint64_t rest = message.length - one.done;
    const uint64_t bytes = whole || rest <= share ? rest : share;
    if (inputs.count == kMostPieces || at + bytes > options_.chunk_bytes) {
      untouched.push_back(one);
      continue;
    }
    const bool ends = bytes == rest;
    pieces[inputs.count++] = {
        at, bytes, one.done, one.message * job.spec.digest_bytes, one.state, ends ? 1u : 0u};
    copies.push_back({message.in + one.done, at, bytes});
    inputs.longest = std::max(inputs.longest, bytes);
    at = std::min(round_up(at + bytes, kAlignment), options_.chunk_bytes);
    if (ends)
      free_states_.push_back(one.state);
    else
      left.push_back({one.message, one.done + bytes, one.state});
  }
  slot.bytes = std::max(slot.bytes, at);
  copy(slot, copies);
  LC_TRY(slot.stream->upload(*slot.pieces, 0, pieces, inputs.count * sizeof(HashPiece)));
  if (at != 0) LC_TRY(slot.stream->upload(*slot.in, 0, slot.host->host(), at));
  LC_TRY(follow(slot));
  LC_TRY(launch_.hash(*slot.stream, workspace_, job.spec, inputs));
  begun = std::move(untouched);
  begun.insert(begun.end(), left.begin(), left.end());
  return slot.stream->mark(*slot.done);
}

Status HostHashes::hash_tree(const HashJob &job, Tree &tree) {
  const HashSpec &spec = job.spec;
  const HashMessage &message = job.messages[tree.message];
  const uint64_t leaves = spec.leaves(message.length);
  const bool is_parallel = spec.method->family == HashFamily::kParallel;
  const uint64_t leaf_bytes = std::min(spec.leaf_bytes, std::max<uint64_t>(message.length, 1));
  if (!is_parallel) LC_TRY(launch_.make_levels(workspace_, leaves));
  const uint64_t step = std::max<uint64_t>(options_.chunk_bytes / leaf_bytes, 1);
  uint64_t held_from = 0;  // the first leaf whose value is in workspace_.values
  for (uint64_t first = 0; first < leaves;) {
    const uint64_t count =
        std::min({step, leaves - first, held_from + HashLaunch::kMostValues - first});
    const uint64_t at = first * spec.leaf_bytes;
    const uint64_t bytes = std::min(count * spec.leaf_bytes, message.length - at);
    Result<Slot *> found = next_slot();
    if (!found.ok()) return found.status();
    Slot &slot = **found;
    constexpr uint64_t kPart = 1 << 20;
    std::vector<Copy> copies;
    for (uint64_t n = 0; n < bytes; n += kPart)
      copies.push_back({message.in + at + n, n, std::min(kPart, bytes - n)});
    slot.bytes = std::max(slot.bytes, bytes);
    copy(slot, copies);
    if (bytes != 0) LC_TRY(slot.stream->upload(*slot.in, 0, slot.host->host(), bytes));
    LC_TRY(follow(slot));
    LC_TRY(
        launch_.hash_leaves(*slot.stream, workspace_, spec,
                            {slot.in.get(), 0, bytes, first, uint32_t(count), first - held_from}));
    first += count;
    const uint64_t held = first - held_from;
    if (first == leaves || held == HashLaunch::kMostValues) {
      if (!is_parallel && leaves > cpu::kPartLeaves)
        LC_TRY(launch_.join_values(*slot.stream, workspace_, spec, uint32_t(held),
                                   held_from / cpu::kPartLeaves));
      LC_TRY(take_values(job, tree, held_from, held));
      held_from = first;
    }
    LC_TRY(slot.stream->mark(*slot.done));
  }
  if (is_parallel) return Status();
  device::Stream &stream = *last_->stream;
  LC_TRY(launch_.make_root(stream, workspace_, spec, leaves, workspace_.digests.get(),
                           tree.message * spec.digest_bytes));
  if (tree.parts_bytes != 0)
    LC_TRY(stream.download(workspace_.results->host() + tree.parts_at, *workspace_.levels, 0,
                           tree.parts_bytes));
  return stream.mark(*last_->done);
}

// Downloads the wanted ones of `count` values, which begin with that of leaf `first`.
Status HostHashes::take_values(const HashJob &job, Tree &tree, uint64_t first, uint64_t count) {
  const uint64_t bytes = job.spec.method->value_bytes;
  uint8_t *const to = workspace_.results->host() + tree.values_at;
  if (job.spec.method->family == HashFamily::kParallel)
    return last_->stream->download(to + first * bytes, *workspace_.values, 0, count * bytes);
  if (!tree.sample) return Status();
  const uint64_t wanted = tree.sample->part * cpu::kPartLeaves;
  if (wanted < first || wanted >= first + count) return Status();
  return last_->stream->download(to, *workspace_.values, (wanted - first) * bytes,
                                 tree.values_bytes);
}

Status HostHashes::bring_back(const HashJob &job) {
  device::Stream &stream = *last_->stream;
  if (job.spec.method->family != HashFamily::kParallel)
    LC_TRY(stream.download(workspace_.results->host(), *workspace_.digests, 0,
                           job.messages.size() * job.spec.digest_bytes));
  return Status();
}

Status HostHashes::check(const HashJob &job) {
  const uint64_t bytes = job.spec.digest_bytes;
  uint8_t *const host = workspace_.results->host();
  const auto digest_of = [&](size_t n) { return std::span<uint8_t>(host + n * bytes, bytes); };
  for (const size_t n : check_.choose(job, plain_))
    LC_TRY(check_.check_message(job, n, digest_of(n)));
  for (const Tree &tree : trees_) {
    const HashMessage &message = job.messages[tree.message];
    const std::span<const uint8_t> values(host + tree.values_at, tree.values_bytes);
    if (job.spec.method->family == HashFamily::kParallel) {
      LC_TRY(check_.check_leaf(job, tree.message, values));
      LC_TRY(cpu::tree_root(job.spec, {values.begin(), values.end()},
                            job.spec.leaves(message.length), digest_of(tree.message)));
    } else if (tree.sample) {
      LC_TRY(check_.check_tree(job, tree.message, *tree.sample, values,
                               {host + tree.parts_at, tree.parts_bytes}, digest_of(tree.message)));
    } else if (!check_.is_off()) {
      LC_TRY(check_.check_message(job, tree.message, digest_of(tree.message)));
    }
  }
  return Status();
}

}  // namespace lanecrypt::runtime
