// SPDX-License-Identifier: Apache-2.0
#include "cli/run/private_folder.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "cli/failure.h"

namespace lanecrypt::cli {
namespace {

constexpr char kName[] = "/lanecrypt-run.XXXXXX";

// Whether a folder is this user's, and nobody else may look into it.
bool is_our_own(const char *folder) {
  struct stat status {};
  return lstat(folder, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
         (status.st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

// Whether nobody but root and this user can put another folder in the place of one that is made
// there. What is not there is left to whoever makes it.
bool is_out_of_others_reach(const char *folder) {
  std::error_code error;
  std::filesystem::path path = std::filesystem::canonical(folder, error);
  if (error) return true;
  for (;; path = path.parent_path()) {
    struct stat status {};
    if (lstat(path.c_str(), &status) != 0) return false;
    if (status.st_uid != 0 && status.st_uid != geteuid()) return false;
    // In a sticky folder, such as /tmp, others cannot rename what is not theirs.
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0 && (status.st_mode & S_ISVTX) == 0)
      return false;
    if (path == path.root_path()) return true;
  }
}

// Whether the name of a socket in our folder there fits into a socket's address.
bool is_short_enough(std::string_view folder) {
  return folder.size() + sizeof kName + sizeof "/socket" <= sizeof(sockaddr_un::sun_path);
}

std::string parent_folder() {
  const char *const runtime = secure_getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && runtime[0] == '/' && is_our_own(runtime) && is_short_enough(runtime))
    return runtime;
  const char *const temporary = secure_getenv("TMPDIR");
  if (temporary != nullptr && temporary[0] == '/' && is_short_enough(temporary) &&
      is_out_of_others_reach(temporary))
    return temporary;
  return "/tmp";
}

}  // namespace

std::string make_private_folder() {
  const std::string parent = parent_folder();
  std::string folder = parent + kName;
  if (mkdtemp(folder.data()) == nullptr) throw_errno("cannot make a folder in " + parent, errno);
  return folder;
}

void remove_private_folder(const std::string &folder) {
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

}  // namespace lanecrypt::cli
