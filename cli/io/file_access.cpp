// SPDX-License-Identifier: Apache-2.0
#include "cli/io/file_access.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <functional>
#include <string_view>
#include <system_error>

#include "cli/failure.h"

#ifndef STATX_ATTR_MOUNT_ROOT
#define STATX_ATTR_MOUNT_ROOT 0x00002000
#endif

namespace lanecrypt::cli {
namespace {

constexpr char kAcl[] = "system.posix_acl_access";
constexpr mode_t kPermissions = 0777;
// The ID that the kernel shows for every user and group that has no ID in this user namespace.
constexpr uid_t kUnmapped = 65534;

using Attributes = std::map<std::string, std::string>;
// listxattr() and getxattr(), bound to one file.
using List = std::function<ssize_t(char *to, size_t bytes)>;
using Get = std::function<ssize_t(const char *attribute, void *to, size_t bytes)>;

// Returns whether an extended attribute affects access: ACLs of every kind, and the labels of
// security modules. The other security attributes describe the file's contents. They would be wrong
// for other contents, and a write removes them.
bool decides_access(std::string_view attribute) {
  for (const std::string_view of_contents : {"security.capability", "security.ima", "security.evm"})
    if (attribute == of_contents) return false;
  return attribute.starts_with("system.") || attribute.starts_with("security.");
}

// Fills `text` with a call that returns the needed size if it is given 0 bytes. Returns false on an
// error, with errno set.
template <typename Fill>
bool fill(const Fill &call, std::string *text) {
  for (;;) {
    const ssize_t needed = call(nullptr, 0);
    if (needed < 0) return false;
    text->resize(static_cast<size_t>(needed));
    if (needed == 0) return true;
    const ssize_t got = call(text->data(), text->size());
    if (got < 0 && errno == ERANGE) continue;  // it has grown since
    if (got < 0) return false;
    text->resize(static_cast<size_t>(got));
    return true;
  }
}

Attributes read_attributes(const List &list, const Get &get, const std::string &name) {
  const std::string what = fmt::format("cannot read who may use {}", name);
  Attributes attributes;
  std::string names;
  if (!fill(list, &names)) {
    if (errno == ENOTSUP || errno == ENOSYS) return attributes;
    throw_errno(what, errno);
  }
  for (size_t at = 0; at < names.size();) {
    const std::string attribute = names.c_str() + at;
    at += attribute.size() + 1;
    if (!decides_access(attribute)) continue;
    const auto get_this = [&](char *to, size_t bytes) { return get(attribute.c_str(), to, bytes); };
    if (fill(get_this, &attributes[attribute])) continue;
    if (errno != ENODATA) throw_errno(fmt::format("{}: {}", what, attribute), errno);
    attributes.erase(attribute);
  }
  return attributes;
}

// Returns whether this user namespace shows several users or groups as kUnmapped. The owner and
// group of such a file can be neither read nor given to another file.
bool has_unmapped_numbers() {
  for (const char *map : {"/proc/self/uid_map", "/proc/self/gid_map"}) {
    std::ifstream file(map);
    uint64_t inside = 0, outside = 0, count = 0;
    if (file >> inside >> outside >> count && count < UINT32_MAX) return true;
  }
  return false;
}

[[noreturn]] void refuse(const std::string &path, const std::string &why) {
  throw Failure(ExitCode::kFailed,
                fmt::format("cannot replace '{}' by a file that the same users may read and write: "
                            "{}; it stays as it is. Choose a new name, or let the shell write into "
                            "the file: > {}",
                            path, why, path));
}

[[noreturn]] void refuse_errno(const std::string &path, const std::string &what, int error) {
  refuse(path, fmt::format("cannot give it the same {} ({})", what,
                           std::generic_category().message(error)));
}

}  // namespace

FileAccess::FileAccess(const std::string &path) {
  const std::string name = fmt::format("'{}'", path);
  struct stat entry {};
  if (lstat(path.c_str(), &entry) != 0)
    throw_errno(fmt::format("cannot read who may use {}", name), errno);
  owner_ = entry.st_uid;
  group_ = entry.st_gid;
  permissions_ = entry.st_mode & kPermissions;
  attributes_ =
      read_attributes([&](char *to, size_t bytes) { return llistxattr(path.c_str(), to, bytes); },
                      [&](const char *attribute, void *to, size_t bytes) {
                        return lgetxattr(path.c_str(), attribute, to, bytes);
                      },
                      name);
}

FileAccess FileAccess::of_descriptor(int descriptor, const std::string &name) {
  struct stat entry {};
  if (fstat(descriptor, &entry) != 0)
    throw_errno(fmt::format("cannot read who may use {}", name), errno);
  FileAccess access;
  access.owner_ = entry.st_uid;
  access.group_ = entry.st_gid;
  access.permissions_ = entry.st_mode & kPermissions;
  access.attributes_ =
      read_attributes([&](char *to, size_t bytes) { return flistxattr(descriptor, to, bytes); },
                      [&](const char *attribute, void *to, size_t bytes) {
                        return fgetxattr(descriptor, attribute, to, bytes);
                      },
                      name);
  return access;
}

void FileAccess::require_replaceable(const std::string &path, const std::string &folder) {
  const auto attributes_of = [](const std::string &name) -> uint64_t {
    struct statx entry {};
    // Without statx(), the rename fails later instead.
    if (statx(AT_FDCWD, name.c_str(), AT_SYMLINK_NOFOLLOW, 0, &entry) != 0) return 0;
    return entry.stx_attributes & entry.stx_attributes_mask;
  };
  constexpr uint64_t kFixed = STATX_ATTR_APPEND | STATX_ATTR_IMMUTABLE;
  const uint64_t own = attributes_of(path);
  if ((own & kFixed) != 0) refuse(path, "it is append-only or immutable");
  if ((own & STATX_ATTR_MOUNT_ROOT) != 0) refuse(path, "it is a mount point");
  if ((attributes_of(folder) & kFixed) != 0) refuse(path, "its folder is append-only or immutable");
}

void FileAccess::remove_acl(int descriptor, const std::string &name) {
  if (fremovexattr(descriptor, kAcl) == 0 || errno == ENODATA || errno == ENOTSUP) return;
  throw_errno(fmt::format("cannot keep others from {}", name), errno);
}

void FileAccess::give_to(int descriptor, const std::string &path) const {
  const std::string name = fmt::format("what is to replace '{}'", path);
  if ((owner_ == kUnmapped || group_ == kUnmapped) && has_unmapped_numbers())
    refuse(path, "its owner or its group has no number in this namespace");
  const FileAccess made = of_descriptor(descriptor, name);
  // Sets the owner and group first: until they are right, only the file's own owner may open it.
  if ((made.owner_ != owner_ || made.group_ != group_) && fchown(descriptor, owner_, group_) != 0)
    refuse_errno(path,
                 made.owner_ != owner_ ? fmt::format("owner, user {}", owner_)
                                       : fmt::format("group, {}", group_),
                 errno);
  for (const auto &[attribute, value] : made.attributes_)
    if (attributes_.count(attribute) == 0 && fremovexattr(descriptor, attribute.c_str()) != 0 &&
        errno != ENODATA)
      refuse_errno(path, fmt::format("attributes: {} is too many", attribute), errno);
  for (const auto &[attribute, value] : attributes_) {
    const auto present = made.attributes_.find(attribute);
    if (present != made.attributes_.end() && present->second == value) continue;
    if (fsetxattr(descriptor, attribute.c_str(), value.data(), value.size(), 0) != 0)
      refuse_errno(path, attribute == kAcl ? "access control list" : "attribute " + attribute,
                   errno);
  }
  // An ACL may have set the permission bits already.
  if (of_descriptor(descriptor, name).permissions_ != permissions_ &&
      fchmod(descriptor, permissions_) != 0)
    refuse_errno(path, fmt::format("permissions, {:04o}", permissions_), errno);
  if (of_descriptor(descriptor, name) != *this)
    refuse(path, "the file system does not keep owner, group, permissions and labels as they are");
}

}  // namespace lanecrypt::cli
