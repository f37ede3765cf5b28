// Reads and writes the files of the cache, and checks that no other user can have written them.
//
// SPDX-License-Identifier: Apache-2.0
#include "cache/file_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "process/file_size_signal.h"
#include "process/folder_trust.h"

namespace lanecrypt::cache {
namespace {

// File owns a file descriptor.
class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() { shut(); }
  File(const File &) = delete;
  File &operator=(const File &) = delete;
  int get() const { return descriptor_; }
  bool open() const { return descriptor_ >= 0; }
  // shut() closes the descriptor. It returns false if the last write did not reach the disk.
  bool shut() {
    const int descriptor = descriptor_;
    descriptor_ = -1;
    return descriptor < 0 || ::close(descriptor) == 0;
  }

 private:
  int descriptor_;
};

// hash() computes FNV-1a with 64 bits, to detect damage and to name files. It is no protection
// against an attacker; the ownership of the folder is.
uint64_t hash(const std::string &bytes) {
  uint64_t value = 0xcbf29ce484222325u;
  for (const char c : bytes) value = (value ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
  return value;
}

struct Header {
  char magic[8];
  uint64_t key_bytes, content_bytes, content_hash;
};
constexpr char kMagic[8] = {'l', 'c', 'o', 'p', 'e', 'n', 'c', '1'};
constexpr uint64_t kMostBytes = 256u << 20;

// path_of() returns the path of the cache's folder, or "" if there is no place for it. In a
// set-user-ID program secure_getenv() returns nothing: the files would belong to another user than
// the caller. A home folder is never created: some system users have one that must not exist.
std::string path_of(const char *folder) {
  if (const char *cache = secure_getenv("XDG_CACHE_HOME"); cache != nullptr && cache[0] == '/')
    return std::string(cache) + "/lanecrypt/" + folder;
  const char *home = secure_getenv("HOME");
  struct stat its {};
  if (home == nullptr || home[0] != '/' || stat(home, &its) != 0) return "";
  return std::string(home) + "/.cache/lanecrypt/" + folder;
}

// trusted() says whether the file belongs to this user, and no other user can write to it.
bool trusted(int descriptor, mode_t type) {
  struct stat info;
  return fstat(descriptor, &info) == 0 && (info.st_mode & S_IFMT) == type &&
         info.st_uid == geteuid() && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// open_folder() opens the cache's folder. It returns -1 if other users could have replaced it by
// another folder of this user, such as one with files that they made this user unpack.
int open_folder(const char *name, bool create) {
  const std::string path = path_of(name);
  const uid_t owners[] = {0, geteuid()};
  if (path.empty() || (create && !process::make_folders(path, owners)) ||
      !process::fault_of_folder(path, owners).empty())
    return -1;
  const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder >= 0 && !trusted(folder, S_IFDIR)) {
    ::close(folder);
    return -1;
  }
  return folder;
}

std::string file_name(const std::string &key) {
  char name[32];
  std::snprintf(name, sizeof name, "%016llx.bin", static_cast<unsigned long long>(hash(key)));
  return name;
}

// open_temporary() creates a new file, to be renamed when it is complete, and returns its
// descriptor, or -1. A killed process may have left a file of that name: in a container each new
// process may have the same process ID.
int open_temporary(int folder, const std::string &name, std::string *temporary) {
  constexpr int kAttempts = 100;
  static std::atomic<unsigned> number{0};
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    *temporary = name + "." + std::to_string(getpid()) + "." + std::to_string(number++) + ".tmp";
    const int file = openat(folder, temporary->c_str(),
                            O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file >= 0 || errno != EEXIST) return file;
  }
  return -1;
}

bool read_all(int descriptor, void *to, size_t bytes) {
  auto *at = static_cast<char *>(to);
  while (bytes > 0) {
    const ssize_t got = ::read(descriptor, at, bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    bytes -= static_cast<size_t>(got);
  }
  return true;
}

bool write_all(int descriptor, const void *from, size_t bytes) {
  auto *at = static_cast<const char *>(from);
  while (bytes > 0) {
    const ssize_t put = ::write(descriptor, at, bytes);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    at += put;
    bytes -= static_cast<size_t>(put);
  }
  return true;
}

}  // namespace

std::optional<std::string> load(const char *folder_name, const std::string &key) {
  const File folder(open_folder(folder_name, false));
  if (!folder.open()) return {};
  // O_NONBLOCK, because a FIFO of that name must not block this process.
  const File file(
      openat(folder.get(), file_name(key).c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!file.open() || !trusted(file.get(), S_IFREG)) return {};
  Header header;
  struct stat info;
  if (fstat(file.get(), &info) != 0 || !read_all(file.get(), &header, sizeof header)) return {};
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0) return {};
  if (header.key_bytes != key.size() || header.content_bytes > kMostBytes ||
      static_cast<uint64_t>(info.st_size) !=
          sizeof header + header.key_bytes + header.content_bytes) {
    return {};
  }
  std::string stored_key(header.key_bytes, '\0'), content(header.content_bytes, '\0');
  if (!read_all(file.get(), stored_key.data(), stored_key.size()) || stored_key != key) return {};
  if (!read_all(file.get(), content.data(), content.size())) return {};
  if (hash(content) != header.content_hash) return {};
  return content;
}

void store(const char *folder_name, const std::string &key, const std::string &content) {
  if (content.size() > kMostBytes) return;
  const File folder(open_folder(folder_name, true));
  if (!folder.open()) return;
  const std::string name = file_name(key);
  std::string temporary;
  File file(open_temporary(folder.get(), name, &temporary));
  if (!file.open()) return;
  Header header = {};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.key_bytes = key.size();
  header.content_bytes = content.size();
  header.content_hash = hash(content);
  const process::FileSizeSignalBlocked blocked;
  const bool written = write_all(file.get(), &header, sizeof header) &&
                       write_all(file.get(), key.data(), key.size()) &&
                       write_all(file.get(), content.data(), content.size()) && file.shut();
  if (!written || renameat(folder.get(), temporary.c_str(), folder.get(), name.c_str()) != 0) {
    unlinkat(folder.get(), temporary.c_str(), 0);
  }
}

}  // namespace lanecrypt::cache
