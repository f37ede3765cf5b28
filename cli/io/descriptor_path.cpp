// SPDX-License-Identifier: Apache-2.0
#include "cli/io/descriptor_path.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <system_error>
#include <utility>

namespace lanecrypt::cli {
namespace {

namespace fs = std::filesystem;

// The number of links that the kernel follows.
constexpr int kMostLinks = 40;

bool is_in_proc(const fs::path &folder) {
  struct statfs system {};
  return statfs(folder.c_str(), &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
}

// Returns the descriptor that `entry` of the folder /proc/PID/fd or /proc/PID/task/TID/fd stands
// for, if it is one of this process. `folder` contains no symbolic link.
std::optional<int> own_number(const fs::path &folder, const std::string &entry) {
  std::error_code error;
  const fs::path self = fs::canonical("/proc/self", error);
  if (error) return std::nullopt;
  const bool is_own =
      folder == self / "fd" ||
      (folder.filename() == "fd" && folder.parent_path().parent_path() == self / "task");
  int number = -1;
  const auto [end, fault] = std::from_chars(entry.data(), entry.data() + entry.size(), number);
  if (!is_own || fault != std::errc() || end != entry.data() + entry.size()) return std::nullopt;
  return number;
}

}  // namespace

std::optional<DescriptorPath> find_descriptor(std::string text) {
  DescriptorPath found{std::nullopt, true};
  fs::path path = std::move(text);
  for (int links = 0; links < kMostLinks; ++links) {
    struct stat entry {};
    if (lstat(path.c_str(), &entry) != 0 || !S_ISLNK(entry.st_mode)) return std::nullopt;
    const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    std::error_code error;
    const fs::path real = fs::canonical(folder, error);
    if (error) return std::nullopt;
    if (real.filename() == "fd" && is_in_proc(real)) {
      found.own = own_number(real, path.filename());
      return found;
    }
    found.is_safe = found.is_safe && entry.st_uid == 0;
    path = folder / fs::read_symlink(path, error);
    if (error) return std::nullopt;
  }
  return std::nullopt;
}

bool is_inherited(int descriptor) {
  const int flags = fcntl(descriptor, F_GETFD);
  return flags >= 0 && (flags & FD_CLOEXEC) == 0;
}

}  // namespace lanecrypt::cli
