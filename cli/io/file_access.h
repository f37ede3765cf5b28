// Who may read and write a file, and the file that is to replace it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <map>
#include <string>

namespace lanecrypt::cli {

// Owner, group, permission bits, access ACLs and security labels of a file. A file that replaces
// another gets all of them before it gets any data, so that the replacement neither lets anybody in
// nor locks anybody out.
class FileAccess {
 public:
  // Reads the access of the file at `path`; follows no symbolic link. Throws Failure.
  explicit FileAccess(const std::string &path);

  // Throws Failure if the file at `path` cannot be replaced by a rename: it is append-only or
  // immutable, its folder is, or something is mounted on it.
  static void require_replaceable(const std::string &path, const std::string &folder);
  // Removes the ACL that the new file of `descriptor` inherited from its folder, so that its
  // permission bits alone say who may use it. `name` is for messages. Throws Failure.
  static void remove_acl(int descriptor, const std::string &name);

  // Gives the same access to the file of `descriptor`, and reads it back. That file is new, empty
  // and closed to everybody but this process's user. Throws Failure if it does not come out equal:
  // then no data may be written into it. `path`, that of the old file, is for messages.
  void give_to(int descriptor, const std::string &path) const;

  bool operator==(const FileAccess &) const = default;

 private:
  FileAccess() = default;
  static FileAccess of_descriptor(int descriptor, const std::string &name);

  uid_t owner_ = 0;
  gid_t group_ = 0;
  mode_t permissions_ = 0;                         // of read, write and execute alone
  std::map<std::string, std::string> attributes_;  // extended ones: ACLs and labels
};

}  // namespace lanecrypt::cli
