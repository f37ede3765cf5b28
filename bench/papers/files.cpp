// SPDX-License-Identifier: Apache-2.0
#include "bench/papers/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <span>

#include "bench/load/data.h"
#include "cli/failure.h"
#include "cli/io/file_descriptor.h"

namespace lanecrypt::bench {
namespace {

constexpr size_t kPieceBytes = 4 << 20;

cli::FileDescriptor open_file(const std::string &path, int flags) {
  cli::FileDescriptor file(open(path.c_str(), flags | O_CLOEXEC, 0600));
  if (!file) cli::throw_errno(fmt::format("cannot open '{}'", path), errno);
  return file;
}

// Reads until `out` is full or the file ends. Returns the number of bytes read.
size_t read_piece(const cli::FileDescriptor &file, std::span<uint8_t> out,
                  const std::string &path) {
  size_t done = 0;
  while (done < out.size()) {
    const ssize_t got = read(file.get(), out.data() + done, out.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) cli::throw_errno(fmt::format("cannot read '{}'", path), errno);
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

void write_piece(const cli::FileDescriptor &file, std::span<const uint8_t> in,
                 const std::string &path) {
  while (!in.empty()) {
    const ssize_t put = write(file.get(), in.data(), in.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) cli::throw_errno(fmt::format("cannot write '{}'", path), errno);
    in = in.subspan(static_cast<size_t>(put));
  }
}

// Turns the random bytes in `piece` into the content of the file at `offset`.
void shape_piece(const PaperFile &file, uint64_t offset, std::span<uint8_t> piece) {
  switch (file.content) {
    case PaperFile::Content::kCounting:
      for (size_t n = 0; n < piece.size(); n++) piece[n] = static_cast<uint8_t>(offset + n);
      return;
    case PaperFile::Content::kEqual:
      std::fill(piece.begin(), piece.end(), 0xaa);
      return;
    case PaperFile::Content::kGrowing:
      for (size_t n = 0; n < piece.size(); n++) {
        const uint64_t values = 1 + (offset + n) * 256 / file.bytes;
        piece[n] = static_cast<uint8_t>(piece[n] * values >> 8);
      }
      return;
    case PaperFile::Content::kRandom:
      return;
  }
}

}  // namespace

std::vector<PaperFile> paper_files(uint64_t divisor) {
  using Content = PaperFile::Content;
  std::vector<PaperFile> files = {
      {1, Content::kCounting, 884'736'000}, {2, Content::kEqual, 884'736'000},
      {3, Content::kGrowing, 884'736'000},  {4, Content::kRandom, 884'736'000},
      {5, Content::kRandom, 442'368'000},   {6, Content::kRandom, 442'368'000},
      {7, Content::kRandom, 117'964'800},   {8, Content::kRandom, 58'982'400},
  };
  for (PaperFile &file : files)
    file.bytes = std::max<uint64_t>(file.bytes / divisor / cli::kBlockBytes, 1) * cli::kBlockBytes;
  return files;
}

PaperFolder::PaperFolder(const std::string &parent) : path_(parent + "/lanecrypt-papers-XXXXXX") {
  if (mkdtemp(path_.data()) == nullptr)
    cli::throw_errno(fmt::format("cannot make a folder in '{}'", parent), errno);
}

PaperFolder::~PaperFolder() { remove(); }

void PaperFolder::remove() const {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

uint64_t PaperFolder::free_bytes() const {
  struct statvfs room {};
  if (statvfs(path_.c_str(), &room) != 0) return 0;
  return uint64_t{room.f_bavail} * room.f_frsize;
}

bool PaperFolder::is_ram_disk() const {
  constexpr long kTmpfs = 0x01021994, kRamfs = 0x858458f6;
  struct statfs kind {};
  return statfs(path_.c_str(), &kind) == 0 &&
         (static_cast<long>(kind.f_type) == kTmpfs || static_cast<long>(kind.f_type) == kRamfs);
}

void write_paper_file(const PaperFile &file, const std::string &path) {
  const cli::FileDescriptor to = open_file(path, O_WRONLY | O_CREAT | O_TRUNC);
  const BenchData random;
  std::vector<uint8_t> piece(kPieceBytes);
  for (uint64_t done = 0; done < file.bytes; done += kPieceBytes) {
    const std::span<uint8_t> part(piece.data(), std::min<uint64_t>(kPieceBytes, file.bytes - done));
    if (file.content == PaperFile::Content::kRandom || file.content == PaperFile::Content::kGrowing)
      random.fill(done, part);
    shape_piece(file, done, part);
    write_piece(to, part, path);
  }
}

void forget_file(const std::string &path) {
  const cli::FileDescriptor file = open_file(path, O_RDONLY);
  if (fsync(file.get()) != 0) cli::throw_errno(fmt::format("cannot write '{}'", path), errno);
  (void)posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
}

void compare_files(const std::string &path, const std::string &other, const std::string &what) {
  const cli::FileDescriptor a = open_file(path, O_RDONLY), b = open_file(other, O_RDONLY);
  std::vector<uint8_t> from_a(kPieceBytes), from_b(kPieceBytes);
  for (uint64_t offset = 0;; offset += kPieceBytes) {
    const size_t got = read_piece(a, from_a, path), got_b = read_piece(b, from_b, other);
    if (got != got_b || std::memcmp(from_a.data(), from_b.data(), got) != 0)
      throw cli::Failure(cli::ExitCode::kFailed,
                         fmt::format("{}: the output differs after byte {}", what, offset));
    if (got < kPieceBytes) return;
  }
}

}  // namespace lanecrypt::bench
