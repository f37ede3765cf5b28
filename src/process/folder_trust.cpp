// Checks the owners and permissions of all folders on a path.
//
// SPDX-License-Identifier: Apache-2.0
#include "process/folder_trust.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

namespace lanecrypt::process {
namespace {

constexpr int kMostLinks = 40;  // the kernel's limit

// push_names() pushes the names of `path` onto the stack, with the first one on top.
void push_names(std::string_view path, std::vector<std::string> *names) {
  while (!path.empty()) {
    const size_t slash = path.rfind('/');
    const size_t begin = slash == std::string_view::npos ? 0 : slash + 1;
    if (begin < path.size()) names->emplace_back(path.substr(begin));
    path = path.substr(0, slash == std::string_view::npos ? 0 : slash);
  }
}

std::string fault_of_entry(const struct stat &its, std::span<const uid_t> owners) {
  if (std::find(owners.begin(), owners.end(), its.st_uid) == owners.end())
    return "it belongs to another user";
  if (S_ISLNK(its.st_mode)) return "";
  if (!S_ISDIR(its.st_mode)) return std::strerror(ENOTDIR);
  if ((its.st_mode & (S_IWGRP | S_IWOTH)) != 0 && (its.st_mode & S_ISVTX) == 0)
    return "others than its owner may write to this folder";
  return "";
}

}  // namespace

std::string fault_of_folder(const std::string &folder, std::span<const uid_t> owners) {
  std::vector<std::string> names;
  push_names(folder, &names);
  // The resolved path so far, without links. It is "" for the root.
  std::string at;
  int links = 0;
  for (std::string next;;) {
    const std::string here = next.empty() ? "/" : next;
    struct stat its {};
    if (lstat(here.c_str(), &its) != 0) return here + ": " + std::strerror(errno);
    if (const std::string fault = fault_of_entry(its, owners); !fault.empty())
      return here + ": " + fault;
    if (S_ISLNK(its.st_mode)) {
      std::array<char, PATH_MAX> target;
      const ssize_t bytes = readlink(here.c_str(), target.data(), target.size());
      if (bytes <= 0) return here + ": " + std::strerror(errno);
      if (++links > kMostLinks) return here + ": " + std::strerror(ELOOP);
      if (target[0] == '/') at.clear();
      push_names({target.data(), size_t(bytes)}, &names);
    } else {
      at = next;
    }
    next.clear();
    while (!names.empty() && next.empty()) {
      const std::string name = std::move(names.back());
      names.pop_back();
      if (name == "..")
        at.erase(std::min(at.rfind('/'), at.size()));
      else if (name != ".")
        next = at + "/" + name;
    }
    if (next.empty()) return "";
  }
}

bool make_folders(const std::string &folder, std::span<const uid_t> owners) {
  struct stat its {};
  if (lstat(folder.c_str(), &its) == 0) return true;
  if (errno != ENOENT) return false;
  std::string above = folder.substr(0, folder.find_last_not_of('/') + 1);
  above.erase(above.rfind('/') + 1);
  return !above.empty() && make_folders(above, owners) && fault_of_folder(above, owners).empty() &&
         (mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST);
}

}  // namespace lanecrypt::process
