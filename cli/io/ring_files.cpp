// SPDX-License-Identifier: Apache-2.0
#include "cli/io/ring_files.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "cli/crypt/pipeline.h"
#include "cli/failure.h"

namespace lanecrypt::cli {
namespace {

// The least size for io_uring by default. A smaller file is quickly read into the page cache, and
// the kernel can write it to the disk after the command has ended.
constexpr uint64_t kLargeBytes = 1 << 30;

}  // namespace

std::unique_ptr<RingFiles> RingFiles::make(Input &input, Output &output, size_t chunk_bytes,
                                           unsigned chunks) {
  const char *setting = secure_getenv("LANECRYPT_FILE_IO");
  const std::string_view way = setting == nullptr ? "" : setting;
  if (!way.empty() && way != "plain" && way != "ring" && way != "direct")
    throw Failure(ExitCode::kUsage,
                  "LANECRYPT_FILE_IO is neither \"plain\" nor \"ring\" nor \"direct\"");
  const bool all = way == "ring" || way == "direct";
  const bool is_large = input.size() && *input.size() >= kLargeBytes;
  if (way == "plain" || (!all && !is_large)) return nullptr;
  std::unique_ptr<FileRing> ring = FileRing::make(2 * chunks);
  if (ring == nullptr) return nullptr;
  std::unique_ptr<RingFiles> files(new RingFiles(input, output, std::move(ring)));
  const bool may_be_direct = way != "ring" && chunk_bytes % kAlignment == 0;
  files->input_.direct =
      may_be_direct && input.positioned() && (all || !input.is_cached()) && input.go_direct();
  files->output_.direct = may_be_direct && output.positioned() && output.go_direct();
  files->input_.passes = files->input_.direct || (all && input.positioned());
  files->output_.passes = files->output_.direct || (all && output.positioned());
  if (!files->reads() && !files->writes()) return nullptr;
  return files;
}

RingFiles::~RingFiles() {
  if (input_.direct) in_.leave_direct();
  if (output_.direct) out_.leave_direct();
}

void RingFiles::read(Chunk &chunk, uint64_t offset, size_t bytes, size_t lead) {
  const uint64_t place = in_.place(offset), end = place + bytes;
  const uint64_t begin = input_.direct ? down(place - lead) : place - lead;
  chunk.in = chunk.in_room + (place - begin);
  const uint64_t asked = (input_.direct ? up(end) : end) - begin;
  transfers_.push_back({&chunk, false, chunk.in_room, begin, asked, end - begin});
  this->begin(transfers_.back());
}

void RingFiles::write(Chunk &chunk, uint64_t at, size_t bytes) {
  const size_t asked = output_.direct ? up(bytes) : bytes;
  std::memset(chunk.out_room + bytes, 0, asked - bytes);
  transfers_.push_back({&chunk, true, chunk.out_room, at, asked, asked});
  begin(transfers_.back());
}

void RingFiles::begin(Transfer &transfer) {
  uint8_t *memory = transfer.memory + transfer.done;
  const size_t bytes = transfer.bytes - transfer.done;
  const uint64_t at = transfer.at + transfer.done;
  const auto tag = reinterpret_cast<uint64_t>(&transfer);
  if (transfer.is_write)
    ring_->write(out_.descriptor(), memory, bytes, at, !output_.direct, tag);
  else
    ring_->read(in_.descriptor(), memory, bytes, at, !input_.direct, tag);
}

// Handles a completion of a transfer. Returns true if the transfer has been started again for the
// rest, and false if it is complete. Throws Failure.
bool RingFiles::go_on(Transfer &transfer, int result) {
  Side &side = transfer.is_write ? output_ : input_;
  if (result == -EINVAL && side.direct) {
    // The file system accepted O_DIRECT but does not support it. The rest goes through the page
    // cache.
    transfer.is_write ? out_.leave_direct() : in_.leave_direct();
  } else if (result < 0 && result != -EINTR && result != -EAGAIN) {
    transfer.is_write ? out_.throw_error(-result) : in_.throw_error(-result);
  } else if (result == 0 && transfer.done < transfer.needed) {
    if (transfer.is_write) out_.throw_error(EIO);
    in_.throw_shorter();
  } else if (result >= 0) {
    transfer.done += static_cast<size_t>(result);
    if (transfer.done >= transfer.needed) return false;
  }
  begin(transfer);
  return true;
}

std::vector<RingFiles::Over> RingFiles::wait() {
  std::vector<Over> over;
  std::exception_ptr failure;
  for (const RingCompletion &completion : ring_->wait()) {
    auto *transfer = reinterpret_cast<Transfer *>(completion.tag);
    const auto forget = [&] {
      transfers_.remove_if([&](const Transfer &one) { return &one == transfer; });
    };
    try {
      if (go_on(*transfer, completion.result)) continue;
      over.push_back({transfer->chunk, transfer->is_write});
    } catch (...) {
      if (!failure) failure = std::current_exception();
    }
    forget();
  }
  if (failure) std::rethrow_exception(failure);
  return over;
}

void RingFiles::drain() {
  while (!transfers_.empty())
    for (const RingCompletion &completion : ring_->wait())
      transfers_.remove_if(
          [&](const Transfer &one) { return reinterpret_cast<uint64_t>(&one) == completion.tag; });
}

}  // namespace lanecrypt::cli
