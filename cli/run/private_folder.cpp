// SPDX-License-Identifier: Apache-2.0
#include "cli/run/private_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/failure.h"
#include "process/folder_trust.h"

namespace lanecrypt::cli {
namespace {

constexpr char kName[] = "/lanecrypt-run.XXXXXX";

// Returns whether a folder belongs to this user and is accessible to nobody else.
bool is_our_own(const struct stat &its) {
  return S_ISDIR(its.st_mode) && its.st_uid == geteuid() &&
         (its.st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

// The users whose folders can be trusted.
std::array<uid_t, 2> owners() { return {0, geteuid()}; }

// Returns "" if nobody but root and this user can replace a folder that this user makes in
// `folder`. Otherwise returns the reason.
std::string fault_of(const std::string &folder) {
  return process::fault_of_folder(folder, owners());
}

bool is_out_of_others_reach(const std::string &folder) { return fault_of(folder).empty(); }

bool may_others_write(const struct stat &its) { return (its.st_mode & (S_IWGRP | S_IWOTH)) != 0; }

// Returns whether the path of a socket in a private folder there fits into a socket address.
bool is_short_enough(std::string_view folder) {
  return folder.size() + sizeof kName + sizeof "/socket" <= sizeof(sockaddr_un::sun_path);
}

// Returns the variable's value if it is an absolute path, otherwise "".
std::string path_in(const char *variable) {
  const char *const value = secure_getenv(variable);
  return value != nullptr && value[0] == '/' ? value : "";
}

std::string home_folder() {
  if (std::string home = path_in("HOME"); !home.empty()) return home;
  const passwd *const user = getpwuid(geteuid());
  return user != nullptr && user->pw_dir != nullptr && user->pw_dir[0] == '/' ? user->pw_dir : "";
}

// The parent folders to try, best first; each returns "" if it does not exist. After the private
// folder has been removed, nobody else can create it there again, unless a folder above is removed
// too.

std::string run_folder() { return geteuid() == 0 ? "/run" : ""; }

std::string runtime_folder() {
  const std::string runtime = path_in("XDG_RUNTIME_DIR");
  struct stat its {};
  return lstat(runtime.c_str(), &its) == 0 && is_our_own(its) ? runtime : "";
}

// Returns XDG_STATE_HOME or ~/.local/state, and creates it if necessary. "" if that is impossible.
std::string state_folder() {
  std::string folder = path_in("XDG_STATE_HOME");
  if (folder.empty()) {
    const std::string home = home_folder();
    if (home.empty() || !is_out_of_others_reach(home)) return "";
    folder = home + "/.local/state";
  }
  return process::make_folders(folder, owners()) ? folder : "";
}

// Returns whether the path does not exist, and only root and this user could create it.
bool is_missing(std::filesystem::path path) {
  struct stat its {};
  bool is_there = true;
  while (lstat(path.c_str(), &its) != 0) {
    if (errno != ENOENT || !path.has_relative_path()) return false;
    is_there = false;
    path = path.parent_path();
  }
  return !is_there && !may_others_write(its) && is_out_of_others_reach(path);
}

// Returns TMPDIR, or /tmp if TMPDIR is not set or too long, or if others could replace the private
// folder in it.
std::string last_parent() {
  const std::string temporary = path_in("TMPDIR");
  if (temporary.empty() || !is_short_enough(temporary)) return "/tmp";
  if (is_missing(temporary)) throw_errno("cannot make a folder in " + temporary, ENOENT);
  return is_out_of_others_reach(temporary) ? temporary : "/tmp";
}

// Returns whether the file system supports sockets. Some file systems for home directories do not.
bool takes_sockets(const PrivateFolder &folder) {
  const int at = folder.descriptor.get();
  return mknodat(at, "socket", S_IFSOCK | 0600, 0) == 0 && unlinkat(at, "socket", 0) == 0;
}

// Creates the private folder in `parent`. If that fails, returns nothing and sets `why`.
std::optional<PrivateFolder> make_in(const std::string &parent, std::string *why) {
  if (*why = fault_of(parent); !why->empty()) return std::nullopt;
  std::string path = parent + kName;
  if (mkdtemp(path.data()) == nullptr) {
    *why = std::strerror(errno);
    return std::nullopt;
  }
  FileDescriptor descriptor(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat its {};
  if (!descriptor || fstat(descriptor.get(), &its) != 0) {
    *why = std::strerror(errno);
    return std::nullopt;
  }
  // The rule that was checked for the parent must hold for what is at this path now.
  *why = is_our_own(its) ? fault_of(path) : "it does not belong to this user alone";
  if (!why->empty()) return std::nullopt;
  return PrivateFolder{std::move(path), std::move(descriptor)};
}

void remove_all_in(int folder) {
  // Opens the folder again, because reading it moves the descriptor's position.
  const int reading = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *const listing = reading >= 0 ? fdopendir(reading) : nullptr;
  if (listing == nullptr) {
    if (reading >= 0) (void)close(reading);
    return;
  }
  std::vector<std::string> names;
  while (const dirent *const entry = readdir(listing))
    if (const std::string_view name = entry->d_name; name != "." && name != "..")
      names.emplace_back(name);
  (void)closedir(listing);
  for (const std::string &name : names) {
    if (unlinkat(folder, name.c_str(), 0) == 0) continue;
    if (const FileDescriptor below(
            openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        below)
      remove_all_in(below.get());
    (void)unlinkat(folder, name.c_str(), AT_REMOVEDIR);
  }
}

}  // namespace

PrivateFolder make_private_folder() {
  std::string why;
  for (const auto best_parent : {run_folder, runtime_folder, state_folder}) {
    const std::string parent = best_parent();
    if (parent.empty() || !is_short_enough(parent)) continue;
    if (std::optional<PrivateFolder> made = make_in(parent, &why)) {
      if (takes_sockets(*made)) return std::move(*made);
      clear_private_folder(made->descriptor.get(), made->path);
    }
  }
  const std::string parent = last_parent();
  if (std::optional<PrivateFolder> made = make_in(parent, &why)) return std::move(*made);
  throw Failure(ExitCode::kFailed, "cannot make a folder in " + parent + ": " + why);
}

void clear_private_folder(int descriptor, const std::string &path) {
  remove_all_in(descriptor);
  const FileDescriptor parent(openat(descriptor, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::string name = path.substr(path.rfind('/') + 1);
  struct stat above {
  }, ours{}, there{};
  if (parent && fstat(parent.get(), &above) == 0 && !may_others_write(above) &&
      fstat(descriptor, &ours) == 0 &&
      fstatat(parent.get(), name.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 &&
      ours.st_dev == there.st_dev && ours.st_ino == there.st_ino)
    (void)unlinkat(parent.get(), name.c_str(), AT_REMOVEDIR);
}

}  // namespace lanecrypt::cli
