// Copies the access rights of a file to the file that will replace it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <map>
#include <string>

namespace lanecrypt::cli {

// The owner, group, permission bits, access ACLs and security labels of a file. A file that
// replaces another one gets all of them before it gets any data, so that the replacement neither
// grants nor removes anybody's access.
class FileAccess {
 public:
  // Reads the access rights of the file at `path` without following a symbolic link. Throws
  // Failure.
  explicit FileAccess(const std::string &path);

  // Throws Failure if the file at `path` cannot be replaced by a rename: the file or its folder is
  // append-only or immutable, or something is mounted on it.
  static void require_replaceable(const std::string &path, const std::string &folder);
  // Removes the ACL that the new file inherited from its folder, so that only its permission bits
  // determine who may use it. `name` is for messages. Throws Failure.
  static void remove_acl(int descriptor, const std::string &name);

  // Gives the same access rights to the file of `descriptor`, and reads them back. That file must
  // be new and empty, and accessible only to this process's user. Throws Failure if the rights
  // differ afterwards; the caller must then write no data into the file. `path` is that of the old
  // file, for messages.
  void give_to(int descriptor, const std::string &path) const;

  bool operator==(const FileAccess &) const = default;

 private:
  FileAccess() = default;
  static FileAccess of_descriptor(int descriptor, const std::string &name);

  uid_t owner_ = 0;
  gid_t group_ = 0;
  mode_t permissions_ = 0;                         // the permission bits (0777) only
  std::map<std::string, std::string> attributes_;  // the extended attributes: ACLs and labels
};

}  // namespace lanecrypt::cli
