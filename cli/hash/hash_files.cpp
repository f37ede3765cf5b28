// SPDX-License-Identifier: Apache-2.0
#include "cli/hash/hash_files.h"

#include <openssl/crypto.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>
#include <vector>

#include "cli/crypt/device_engine.h"
#include "cli/io/message.h"

namespace lanecrypt::cli {
namespace {

// A batch is full if it has `kMostFiles` files, holds `kMostHeld` bytes of memory, or has
// `kMostBytes` bytes of data. The last limit applies only from `kLeastFiles` files on, so that the
// cores can share long files.
constexpr size_t kMostFiles = 16384, kLeastFiles = 64;
constexpr uint64_t kMostHeld = 512 << 20, kMostBytes = uint64_t{4} << 30;
// The CPU hashes less than this before a device is open.
constexpr uint64_t kWorthADevice = 8 << 20;
// Longer messages get their own job if the hash is not a tree: the library leaves a whole job to
// the CPU if one message is most of it.
constexpr uint64_t kLong = 16 << 20;

}  // namespace

struct HashFiles::Batch {
  struct File {
    size_t number;
    std::optional<Message> message;
    std::optional<Failure> failure;
    bool is_missing = false;
  };

  std::vector<File> files;
  std::vector<uint8_t> digests;
  std::vector<Ticket> tickets;  // of the jobs that use the memory above
  uint64_t bytes = 0;

  Batch() = default;
  Batch(Batch &&) = default;
  Batch &operator=(Batch &&) = delete;
  // Waits for jobs that an exception left running. Erases the digests, because a derived key is a
  // secret.
  ~Batch() {
    for (Ticket &ticket : tickets) {
      try {
        (void)ticket.wait();
      } catch (const Error &) {
      }
    }
    if (!digests.empty()) OPENSSL_cleanse(digests.data(), digests.size());
  }
};

// Opens and reads files into the batch until it is full. Returns the index of the first file that
// is left.
size_t HashFiles::gather(std::span<const std::string> paths, size_t next, Batch &batch) const {
  uint64_t held = 0;
  for (; next < paths.size() && batch.files.size() < kMostFiles && held < kMostHeld; ++next) {
    if (batch.bytes >= kMostBytes && batch.files.size() >= kLeastFiles) break;
    Batch::File file{next, std::nullopt, std::nullopt};
    held += settings_.digest_bytes;
    try {
      file.message.emplace(paths[next]);
      held += file.message->held_bytes();
      batch.bytes += file.message->size();
    } catch (const Failure &failure) {
      file.failure = failure;
      file.is_missing = access(paths[next].c_str(), F_OK) != 0 && errno == ENOENT;
    }
    batch.files.push_back(std::move(file));
  }
  return next;
}

void HashFiles::open(bool is_little) {
  const bool asks = settings_.devices || settings_.require_device ||
                    secure_getenv("LANECRYPT_DEVICES") != nullptr;
  const bool wants_devices = asks || !is_little;
  if (context_ && !(is_without_devices_ && wants_devices)) return;
  is_without_devices_ = !wants_devices;
  const char *const named = settings_.devices ? settings_.devices->c_str() : nullptr;
  context_.emplace(wants_devices ? named : "none",
                   settings_.require_device ? LC_FALLBACK_NONE : LC_FALLBACK_CPU);
}

void HashFiles::start(Batch &batch) {
  batch.digests.resize(batch.files.size() * settings_.digest_bytes);
  std::vector<lc_hash_message> usual, longs;
  for (size_t n = 0; n < batch.files.size(); ++n) {
    const std::optional<Message> &message = batch.files[n].message;
    if (!message) continue;
    const bool is_long = message->size() > kLong && !settings_.is_tree();
    (is_long ? longs : usual)
        .push_back(
            {message->data(), message->size(), batch.digests.data() + n * settings_.digest_bytes});
  }
  lc_hash_job job{};
  job.struct_size = sizeof job;
  job.hash = settings_.hash;
  job.memory = LC_MEMORY_HOST;
  job.device = LC_ANY_DEVICE;
  job.message_size = sizeof(lc_hash_message);
  job.digest_bytes = settings_.digest_bytes;
  job.leaf_bytes = settings_.leaf_bytes;
  if (settings_.key) {
    job.key = settings_.key->data();
    job.key_bytes = settings_.key->size();
  }
  job.text = settings_.text.data();
  job.text_bytes = settings_.text.size();
  for (const std::vector<lc_hash_message> *messages : {&usual, &longs}) {
    if (messages->empty()) continue;
    job.messages = messages->data();
    job.message_count = messages->size();
    lc_ticket *ticket = nullptr;
    check(lc_hash_submit(context_->get(), &job, nullptr, &ticket));
    batch.tickets.emplace_back(ticket);
  }
}

void HashFiles::finish(Batch &batch, const Tell &tell) {
  for (Ticket &ticket : batch.tickets) {
    const lc_result result = ticket.wait();
    sum_.device_bytes += result.device_bytes;
    sum_.cpu_bytes += result.cpu_bytes;
  }
  for (size_t n = 0; n < batch.files.size(); ++n) {
    Batch::File &file = batch.files[n];
    if (file.message) file.failure = file.message->damage();
    const std::span<const uint8_t> digest(batch.digests.data() + n * settings_.digest_bytes,
                                          settings_.digest_bytes);
    tell({file.number, digest, file.failure ? &*file.failure : nullptr, file.is_missing});
  }
  // The reader of a pipe gets the results before the next batch.
  (void)std::fflush(stdout);
}

// Reads one batch while the previous one is hashed.
void HashFiles::run(std::span<const std::string> paths, const Tell &tell) {
  try {
    std::optional<Batch> before;
    for (size_t next = 0; next < paths.size();) {
      Batch batch;
      next = gather(paths, next, batch);
      if (before) finish(*before, tell);
      before.reset();
      open(next == paths.size() && batch.bytes < kWorthADevice);
      start(batch);
      before.emplace(std::move(batch));
    }
    if (before) finish(*before, tell);
  } catch (const Error &error) {
    throw failure_of(error);
  }
}

Report HashFiles::report() const {
  Report report;
  report.cpu_seconds = process_cpu_seconds();
  report.bytes = sum_.device_bytes + sum_.cpu_bytes;
  report.device_bytes = sum_.device_bytes;
  report.cpu_bytes = sum_.cpu_bytes;
  if (context_) report.devices = devices_used(*context_);
  return report;
}

}  // namespace lanecrypt::cli
