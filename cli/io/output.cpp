// SPDX-License-Identifier: Apache-2.0
#include "cli/io/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <openssl/rand.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "cli/failure.h"
#include "cli/keys/hex.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace lanecrypt::cli {
namespace {

constexpr int kNameAttempts = 100;

std::string folder_of(const std::string &path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// Returns whether another user may have created this file or pipe in a folder such as /tmp, in
// order to read what is written to it, or to own the file that replaces it. Linux refuses to open
// such a file with O_CREAT (fs.protected_regular, fs.protected_fifos), but does not refuse a rename
// over it.
bool is_of_a_stranger(const std::string &path, const struct stat &entry) {
  if ((!S_ISREG(entry.st_mode) && !S_ISFIFO(entry.st_mode)) || entry.st_uid == geteuid())
    return false;
  const std::unique_ptr<char, decltype(&std::free)> real(realpath(path.c_str(), nullptr),
                                                         &std::free);
  struct stat folder {};
  // An anonymous pipe is in no folder.
  if (!real || stat(folder_of(real.get()).c_str(), &folder) != 0) return false;
  return (folder.st_mode & S_ISVTX) != 0 && (folder.st_mode & (S_IWGRP | S_IWOTH)) != 0 &&
         entry.st_uid != folder.st_uid;
}

std::string temporary_name(const std::string &folder) {
  uint8_t random[8];
  if (RAND_bytes(random, sizeof random) != 1)
    throw Failure(ExitCode::kFailed, "OpenSSL's random generator gave no name for a file");
  return folder + "/.lanecrypt-" + to_hex(random) + ".tmp";
}

std::string resolve(const std::string &path) {
  const std::unique_ptr<char, decltype(&std::free)> real(realpath(path.c_str(), nullptr),
                                                         &std::free);
  if (!real) throw_errno(fmt::format("cannot resolve '{}'", path), errno);
  return real.get();
}

}  // namespace

Output::Output(const std::string &path, const struct stat &input, Readers readers)
    : readers_(readers), name_(fmt::format("'{}'", path)), path_(path) {
  if (path.empty()) throw Failure(ExitCode::kUsage, "the output has an empty name");
  if (path == "-") {
    name_ = "standard output";
    is_stdout_ = reaches_stdout_ = true;
    descriptor_ = STDOUT_FILENO;
    if (fstat(descriptor_, &replaced_) != 0) throw_errno("cannot write standard output", errno);
    refuse_input(input);
    return;
  }
  if (const std::optional<DescriptorPath> found = find_descriptor(path))
    take_descriptor(*found, input);
  else
    take_file(input);
}

void Output::refuse_input(const struct stat &input) const {
  if (replaced_.st_dev == input.st_dev && replaced_.st_ino == input.st_ino &&
      (S_ISREG(replaced_.st_mode) || S_ISBLK(replaced_.st_mode)))
    throw Failure(ExitCode::kUsage,
                  fmt::format("{} is the input too: it would be destroyed", name_));
}

void Output::look_at_stdout() {
  if (struct stat out{}; fstat(STDOUT_FILENO, &out) == 0)
    reaches_stdout_ = out.st_dev == replaced_.st_dev && out.st_ino == replaced_.st_ino;
}

void Output::throw_unopened(int error) const {
  throw_errno(fmt::format("cannot open {} for writing", name_), error);
}

void Output::throw_link() const {
  throw Failure(ExitCode::kFailed,
                fmt::format("{} is a symbolic link: name the file itself", name_));
}

// Accepts a path that leads to a file descriptor. A path through /proc may lead to an unnamed file,
// or to one that another process has opened, so neither its name nor a rename can be used.
void Output::take_descriptor(const DescriptorPath &found, const struct stat &input) {
  if (found.own) {
    const int flags = is_inherited(*found.own) ? fcntl(*found.own, F_GETFL) : -1;
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY || fstat(*found.own, &replaced_) != 0)
      throw_unopened(EBADF);
    named_ = found.own;
  } else if (stat(path_.c_str(), &replaced_) != 0) {
    throw_unopened(errno);
  }
  refuse_input(input);
  look_at_stdout();
  if (S_ISDIR(replaced_.st_mode))
    throw Failure(ExitCode::kFailed, fmt::format("{} is a directory, not a file", name_));
  if (readers_ == Readers::kOwner && (!found.own || !found.is_safe)) throw_link();
  if (!found.own && is_of_a_stranger(path_, replaced_)) throw_stranger();
}

void Output::take_file(const struct stat &input) {
  if (stat(path_.c_str(), &replaced_) == 0) {
    refuse_input(input);
    look_at_stdout();
    if (S_ISDIR(replaced_.st_mode))
      throw Failure(ExitCode::kFailed, fmt::format("{} is a directory, not a file", name_));
    struct stat link {};
    const bool is_link = lstat(path_.c_str(), &link) == 0 && S_ISLNK(link.st_mode);
    if (readers_ == Readers::kOwner && is_link && (link.st_uid != 0 || S_ISREG(replaced_.st_mode)))
      throw_link();
    // Another user may read from this pipe.
    if (readers_ == Readers::kOwner && S_ISFIFO(replaced_.st_mode) &&
        replaced_.st_uid != geteuid() && !reaches_stdout_)
      throw Failure(ExitCode::kFailed, fmt::format("{} is another user's pipe", name_));
    if (readers_ == Readers::kByUmask && is_of_a_stranger(path_, replaced_)) throw_stranger();
    if (!S_ISREG(replaced_.st_mode)) return;
    // A rename needs no write permission for the file itself. If its owner has forbidden writing,
    // respect that.
    if (faccessat(AT_FDCWD, path_.c_str(), W_OK, AT_EACCESS) != 0) throw_unopened(errno);
    if (readers_ == Readers::kOwner && replaced_.st_uid != geteuid())
      throw Failure(ExitCode::kFailed,
                    fmt::format("{} belongs to another user, who could not read the new file: "
                                "choose a new name, or move the file away",
                                name_));
    replaces_ = true;
    path_ = resolve(path_);  // the symbolic link stays, and its target is replaced
  } else if (errno != ENOENT) {
    throw_unopened(errno);
  } else if (struct stat link{}; lstat(path_.c_str(), &link) == 0) {
    throw Failure(ExitCode::kFailed,
                  fmt::format("{} is a symbolic link that leads nowhere", name_));
  } else if (path_.back() == '/') {
    throw Failure(ExitCode::kFailed, fmt::format("{} is the name of a directory", name_));
  }
  folder_ = folder_of(path_);
  positioned_ = true;
  if (replaces_) FileAccess::require_replaceable(path_, folder_);
}

void Output::throw_another() const {
  throw Failure(ExitCode::kFailed, fmt::format("{} has become another file", name_));
}

void Output::throw_stranger() const {
  throw Failure(
      ExitCode::kFailed,
      fmt::format("{} belongs to another user, in a folder where everyone may make files", name_));
}

Output::~Output() {
  unmap();
  discard();
}

void Output::create() {
  if (is_stdout_) return;
  if (!positioned_) {
    open_in_place();
    return;
  }
  {
    const std::lock_guard lock(naming_);
    open_temporary();
  }
  descriptor_ = file_.get();
  if (readers_ == Readers::kOwner)
    FileAccess::remove_acl(descriptor_, name_);
  else if (replaces_)
    take_over_access();
  // The kernel serialises writes to one file of a RAM disk. Copies into its mapped pages run in
  // parallel, each a little slower.
  mapped_ = is_on_ram_disk();
}

void Output::open_in_place() {
  // Duplicates the descriptor: opening the file again would give a separate position and ignore
  // O_APPEND.
  file_ = FileDescriptor(named_ ? fcntl(*named_, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
                                : open(path_.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file_) throw_unopened(errno);
  descriptor_ = file_.get();
  // The path may lead to another file by now.
  if (struct stat opened{}; fstat(descriptor_, &opened) != 0 || opened.st_dev != replaced_.st_dev ||
                            opened.st_ino != replaced_.st_ino)
    throw_another();
}

bool Output::is_on_ram_disk() const {
  struct statfs system {};
  return positioned_ && statfs(folder_.c_str(), &system) == 0 && system.f_type == TMPFS_MAGIC;
}

// Returns the mode for open(2), before the umask. A file that will get the access rights of another
// file is accessible only to its owner until then.
mode_t Output::new_file_mode() const {
  return readers_ == Readers::kOwner || replaces_ ? 0600 : 0666;
}

void Output::open_temporary() {
  // An unnamed file (O_TMPFILE) leaves nothing behind, even if the process is killed. Not every
  // file system supports it, and giving it a name later needs /proc.
  if (access("/proc/self/fd", X_OK) == 0)
    file_ = FileDescriptor(open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, new_file_mode()));
  if (!file_) open_named_temporary();
}

void Output::open_named_temporary() {
  for (int attempt = 0; attempt < kNameAttempts; attempt++) {
    const std::string candidate = temporary_name(folder_);
    file_ = FileDescriptor(
        open(candidate.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, new_file_mode()));
    if (file_) {
      temporary_ = candidate;
      return;
    }
    if (errno != EEXIST) break;
  }
  const int error = errno;
  std::string what = fmt::format("cannot create {} in folder '{}'", name_, folder_);
  if (replaces_) what += fmt::format(" to replace it (> {} would write into it)", path_);
  throw_errno(what, error);
}

// Gives the new file the access rights of the file that it replaces. commit() calls this again,
// because the old file's rights may have changed, or the old file may have been created since.
void Output::take_over_access() {
  struct stat now {};
  if (lstat(path_.c_str(), &now) != 0) {
    if (errno != ENOENT) throw_unopened(errno);
    return;
  }
  if (!S_ISREG(now.st_mode)) throw_another();
  FileAccess access(path_);
  if (access_ == access) return;
  access.give_to(descriptor_, path_);
  access_ = std::move(access);
}

void Output::write(std::span<const uint8_t> data) {
  if (positioned_) {
    write_at(written_, data);
    written_ += data.size();
    return;
  }
  size_t done = 0;
  while (done < data.size()) {
    const ssize_t put = ::write(descriptor_, data.data() + done, data.size() - done);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && errno == EAGAIN) {
      // The descriptor may be inherited and non-blocking.
      pollfd writable{descriptor_, POLLOUT, 0};
      (void)poll(&writable, 1, -1);
      continue;
    }
    if (put < 0) throw_error(errno);
    done += static_cast<size_t>(put);
  }
  written_ += done;
}

void Output::write_at(uint64_t offset, std::span<const uint8_t> data) {
  std::unique_lock<std::mutex> turn;
  if (mapped_) {
    // One thread uses pwrite(). Threads that would have to wait for it write to the mapping.
    turn = std::unique_lock(writing_, std::try_to_lock);
    if (!turn && write_mapped(offset, data)) return;
  }
  size_t done = 0;
  while (done < data.size()) {
    const ssize_t put = pwrite(descriptor_, data.data() + done, data.size() - done,
                               static_cast<off_t>(offset + done));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) throw_error(errno);
    done += static_cast<size_t>(put);
  }
}

void Output::throw_error(int error) const {
  throw_errno(fmt::format("cannot write {}", name_), error);
}

// Copies `data` into the mapping. Returns false if that is impossible; pwrite() then writes the
// data or reports the error.
bool Output::write_mapped(uint64_t offset, std::span<const uint8_t> data) {
  const uint64_t page_bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  if (data.size() < page_bytes) return false;
  uint8_t *const to = pages(offset, data.size());
  if (to != nullptr) std::memcpy(to, data.data(), data.size());
  return to != nullptr;
}

uint8_t *Output::pages(uint64_t offset, size_t bytes) {
  const uint64_t page_bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  if (!mapped_ || pages_ == nullptr || offset + bytes > mapped_bytes_) return nullptr;
  const uint64_t start = offset / page_bytes * page_bytes;
  // Allocates the pages now, so that a full disk is an error here and not a SIGBUS later.
  if (madvise(pages_ + start, offset + bytes - start, MADV_POPULATE_WRITE) == 0)
    return pages_ + offset;
  if (errno == EINVAL) mapped_ = false;  // the kernel does not support it
  return nullptr;
}

void Output::set_size(uint64_t bytes) {
  if (ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0)
    throw_errno(fmt::format("cannot make {} {} bytes long", name_, bytes), errno);
  if (!mapped_ || pages_ != nullptr || bytes == 0) return;
  void *const pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (pages == MAP_FAILED) return;
  pages_ = static_cast<uint8_t *>(pages);
  mapped_bytes_ = bytes;
}

void Output::unmap() {
  if (pages_ != nullptr) munmap(pages_, mapped_bytes_);
  pages_ = nullptr;
}

void Output::commit(bool sync) {
  unmap();
  const auto fail = [&](int error) { throw_errno(fmt::format("cannot write {}", name_), error); };
  if (positioned_ && readers_ == Readers::kByUmask) take_over_access();
  if (sync && fsync(descriptor_) != 0 && errno != EINVAL && errno != EROFS) fail(errno);
  if (!positioned_) {
    cut_rest();
    if (const int error = file_.close()) fail(error);
    committed_ = true;
    return;
  }
  const std::lock_guard lock(naming_);
  if (temporary_.empty()) {
    const std::string unnamed = fmt::format("/proc/self/fd/{}", descriptor_);
    const auto link_as = [&](const std::string &name) {
      return linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
    };
    // linkat() cannot replace a file, so the file first gets a temporary name and is then renamed.
    if (replaces_ || !link_as(path_)) {
      if (!replaces_ && errno != EEXIST) fail(errno);
      const std::string passing = temporary_name(folder_);
      if (!link_as(passing)) fail(errno);
      temporary_ = passing;
    }
  }
  if (!temporary_.empty() && rename(temporary_.c_str(), path_.c_str()) != 0) fail(errno);
  temporary_.clear();
  committed_ = true;
  if (const int error = file_.close()) fail(error);
  if (sync) {
    const FileDescriptor folder(open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder || fsync(folder.get()) != 0)
      throw_errno(fmt::format("cannot sync folder '{}'", folder_), errno);
  }
}

// Truncates a file that was written through a descriptor at the end of the output, if it was
// longer.
void Output::cut_rest() {
  struct stat now {};
  if (is_stdout_ || fstat(descriptor_, &now) != 0 || !S_ISREG(now.st_mode)) return;
  const off_t end = lseek(descriptor_, 0, SEEK_CUR);
  if (end >= 0 && end < now.st_size && ftruncate(descriptor_, end) != 0) throw_error(errno);
}

void Output::discard() {
  const std::lock_guard lock(naming_);
  if (committed_ || temporary_.empty()) return;
  unlink(temporary_.c_str());
  temporary_.clear();
}

}  // namespace lanecrypt::cli
