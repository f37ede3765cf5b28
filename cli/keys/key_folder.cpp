// SPDX-License-Identifier: Apache-2.0
#include "cli/keys/key_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <string_view>

#include "cli/failure.h"
#include "cli/io/file_access.h"
#include "cli/keys/file_owner.h"

namespace lanecrypt::cli {
namespace {

constexpr std::string_view kPartHead = ".key-", kPartTail = ".pem.part";
// The most bytes of a key file that are read; no key is longer.
constexpr size_t kMostFileBytes = 64 << 10;

// Returns whether `name` is that of a partial file, which an interrupted run left. Other names
// belong to the user.
bool is_part(std::string_view name) {
  if (!name.starts_with(kPartHead) || !name.ends_with(kPartTail)) return false;
  name.remove_prefix(kPartHead.size());
  name.remove_suffix(std::min(name.size(), kPartTail.size()));
  return !name.empty() && std::all_of(name.begin(), name.end(),
                                      [](char digit) { return digit >= '0' && digit <= '9'; });
}

// Returns the path without trailing slashes, after which open() would follow a symbolic link
// despite O_NOFOLLOW.
std::string without_last_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

// Renames a file, but does not replace an existing one. On failure errno is set.
bool name_anew(int folder, const char *from, const char *to) {
#if defined(SYS_renameat2) && defined(RENAME_NOREPLACE)
  if (syscall(SYS_renameat2, folder, from, folder, to, RENAME_NOREPLACE) == 0) return true;
  if (errno != ENOSYS && errno != EINVAL) return false;
#endif
  // The file system does not support RENAME_NOREPLACE. The lock on the folder keeps other runs out.
  return renameat(folder, from, folder, to) == 0;
}

}  // namespace

KeyFolder::KeyFolder(const std::string &path) : path_(without_last_slashes(path)) {
  if (mkdir(path_.c_str(), 0700) != 0 && errno != EEXIST) throw_errno("cannot make " + path, errno);
  folder_ = FileDescriptor(open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat entry {};
  if (!folder_) {
    const int error = errno;
    if (lstat(path_.c_str(), &entry) == 0 && S_ISLNK(entry.st_mode))
      throw Failure(
          ExitCode::kFailed,
          fmt::format("cannot open {}: it is a symbolic link; name the folder itself", path));
    throw_errno("cannot open " + path, error);
  }
  if (fstat(folder_.get(), &entry) != 0) throw_errno("cannot look at " + path, errno);
  if (const std::string fault = fault_of(entry, kOthersMayWrite); !fault.empty())
    throw Failure(ExitCode::kFailed, fmt::format("{} is no folder for keys: {}", path, fault));
  if (flock(folder_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK)
      throw Failure(ExitCode::kFailed, fmt::format("another run makes keys in {}", path));
    throw_errno("cannot lock " + path, errno);
  }
  const int listing = openat(folder_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *entries = listing < 0 ? nullptr : fdopendir(listing);
  if (entries == nullptr) throw_errno("cannot read " + path, errno);
  while (const dirent *listed = readdir(entries)) {
    const std::string_view name = listed->d_name;
    if (is_part(name)) (void)unlinkat(folder_.get(), listed->d_name, 0);
  }
  closedir(entries);
}

std::string KeyFolder::name_of(uint64_t number) { return fmt::format("key-{:08}.pem", number); }

std::string KeyFolder::path_of(uint64_t number) const { return path_ + "/" + name_of(number); }

void KeyFolder::refuse(uint64_t number, const std::string &why) const {
  throw Failure(ExitCode::kBadData,
                fmt::format("{} is not such a key: {}; move it away or choose another folder",
                            path_of(number), why));
}

SecretBytes KeyFolder::read(uint64_t number, bool *is_there) const {
  *is_there = false;
  // O_NONBLOCK, so that opening a FIFO of that name does not block.
  const FileDescriptor file(openat(folder_.get(), name_of(number).c_str(),
                                   O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  const int error = errno;
  if (!file && error == ENOENT) return SecretBytes(0);
  if (!file && error == ELOOP) refuse(number, "it is no file");
  if (!file) throw_errno("cannot open " + path_of(number), error);
  struct stat entry {};
  if (fstat(file.get(), &entry) != 0) throw_errno("cannot look at " + path_of(number), errno);
  if (!S_ISREG(entry.st_mode)) refuse(number, "it is no file");
  if (const std::string fault = fault_of(entry, kOthersMayWrite | kOthersMayRead); !fault.empty())
    refuse(number, fault);
  *is_there = true;
  SecretBytes text(kMostFileBytes);
  size_t bytes = 0;
  while (bytes < text.size()) {
    const ssize_t got = ::read(file.get(), text.data() + bytes, text.size() - bytes);
    if (got == 0) break;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_errno("cannot read " + path_of(number), errno);
    bytes += static_cast<size_t>(got);
  }
  text.shorten(bytes);
  return text;
}

std::vector<uint64_t> KeyFolder::missing(
    uint64_t count, const std::function<std::string(const SecretBytes &)> &look) const {
  std::vector<uint64_t> numbers;
  for (uint64_t number = 1; number <= count; number++) {
    bool is_there = false;
    const SecretBytes text = read(number, &is_there);
    if (is_there && text.size() == 0) {
      if (unlinkat(folder_.get(), name_of(number).c_str(), 0) != 0)
        throw_errno("cannot remove the empty " + path_of(number), errno);
      is_there = false;
    }
    if (!is_there) {
      numbers.push_back(number);
      continue;
    }
    if (const std::string wrong = look(text); !wrong.empty()) refuse(number, wrong);
  }
  return numbers;
}

void KeyFolder::write(uint64_t number, const SecretBytes &text) {
  const std::string name = name_of(number), part = "." + name + ".part";
  FileDescriptor file;
  {
    const std::lock_guard lock(mutex_);
    file = FileDescriptor(openat(folder_.get(), part.c_str(),
                                 O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file) throw_errno("cannot create a file in " + path_, errno);
    part_ = part;
  }
  FileAccess::remove_acl(file.get(), path_of(number));
  for (size_t at = 0; at < text.size();) {
    const ssize_t written = ::write(file.get(), text.data() + at, text.size() - at);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw_errno("cannot write " + path_of(number), errno);
    at += static_cast<size_t>(written);
  }
  if (const int error = file.close(); error != 0)
    throw_errno("cannot write " + path_of(number), error);
  const std::lock_guard lock(mutex_);
  if (!name_anew(folder_.get(), part.c_str(), name.c_str()))
    throw_errno("cannot name " + path_of(number), errno);
  part_.clear();
}

void KeyFolder::sync() {
  if (syncfs(folder_.get()) != 0) throw_errno("cannot write " + path_, errno);
}

void KeyFolder::discard() {
  const std::lock_guard lock(mutex_);
  if (!part_.empty()) (void)unlinkat(folder_.get(), part_.c_str(), 0);
  part_.clear();
}

}  // namespace lanecrypt::cli
