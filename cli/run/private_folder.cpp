// SPDX-License-Identifier: Apache-2.0
#include "cli/run/private_folder.h"

#include <pwd.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "cli/failure.h"
#include "process/folder_trust.h"

namespace lanecrypt::cli {
namespace {

constexpr char kName[] = "/lanecrypt-run.XXXXXX";

// Whether a folder is this user's, and nobody else may look into it.
bool is_our_own(const char *folder) {
  struct stat status {};
  return lstat(folder, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
         (status.st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

// Whether nobody but root and this user can put another folder in the place of one that this user
// makes there.
bool is_out_of_others_reach(const std::string &folder) {
  const uid_t owners[] = {0, geteuid()};
  return process::fault_of_folder(folder, owners).empty();
}

// Whether the name of a socket in our folder there fits into a socket's address.
bool is_short_enough(std::string_view folder) {
  return folder.size() + sizeof kName + sizeof "/socket" <= sizeof(sockaddr_un::sun_path);
}

// The variable's value if it is an absolute path, otherwise "".
std::string path_in(const char *variable) {
  const char *const value = secure_getenv(variable);
  return value != nullptr && value[0] == '/' ? value : "";
}

std::string home_folder() {
  if (std::string home = path_in("HOME"); !home.empty()) return home;
  const passwd *const user = getpwuid(geteuid());
  return user != nullptr && user->pw_dir != nullptr && user->pw_dir[0] == '/' ? user->pw_dir : "";
}

// Makes the folder, and those above it, for this user alone, as far as they are not there.
bool make_folders(const std::filesystem::path &folder) {
  if (mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST) return true;
  return errno == ENOENT && folder.has_relative_path() && make_folders(folder.parent_path()) &&
         mkdir(folder.c_str(), 0700) == 0;
}

// XDG_STATE_HOME, or ~/.local/state; "" if there is none and none can be made.
std::string state_folder() {
  std::string folder = path_in("XDG_STATE_HOME");
  if (folder.empty()) {
    const std::string home = home_folder();
    if (home.empty() || !is_out_of_others_reach(home)) return "";
    folder = home + "/.local/state";
  }
  return make_folders(folder) ? folder : "";
}

// The folders to try, the best first. In all but the last, nobody else can take the name of our
// folder after it has been removed, unless a folder above them goes too.
std::vector<std::string> parent_folders() {
  std::vector<std::string> parents;
  const auto add = [&](const std::string &folder) {
    if (!folder.empty() && is_short_enough(folder) && is_out_of_others_reach(folder))
      parents.push_back(folder);
  };
  if (geteuid() == 0) add("/run");
  if (const std::string runtime = path_in("XDG_RUNTIME_DIR"); is_our_own(runtime.c_str()))
    add(runtime);
  add(state_folder());
  const std::string temporary = path_in("TMPDIR");
  // If it is not there, mkdtemp() says so.
  const bool is_usable =
      !temporary.empty() && is_short_enough(temporary) &&
      (is_out_of_others_reach(temporary) || access(temporary.c_str(), F_OK) != 0);
  parents.push_back(is_usable ? temporary : "/tmp");
  return parents;
}

// Whether the file system takes sockets. Some in which users have their homes do not.
bool takes_sockets(const std::string &folder) {
  const std::string socket = folder + "/socket";
  return mknod(socket.c_str(), S_IFSOCK | 0600, 0) == 0 && unlink(socket.c_str()) == 0;
}

}  // namespace

std::string make_private_folder() {
  const std::vector<std::string> parents = parent_folders();
  for (const std::string &parent : parents) {
    std::string folder = parent + kName;
    if (mkdtemp(folder.data()) != nullptr) {
      if (takes_sockets(folder) || parent == parents.back()) return folder;
      (void)rmdir(folder.c_str());
    }
  }
  throw_errno("cannot make a folder in " + parents.back(), errno);
}

void clear_private_folder(const std::string &folder) {
  std::error_code ignored;
  std::vector<std::filesystem::path> files;
  for (std::filesystem::directory_iterator at(folder, ignored), end; at != end;
       at.increment(ignored))
    files.push_back(at->path());
  for (const std::filesystem::path &file : files) std::filesystem::remove_all(file, ignored);
  struct stat parent {};
  const std::string above = folder.substr(0, folder.rfind('/'));
  if (stat(above.c_str(), &parent) == 0 && (parent.st_mode & (S_IWGRP | S_IWOTH)) == 0)
    (void)rmdir(folder.c_str());
}

}  // namespace lanecrypt::cli
