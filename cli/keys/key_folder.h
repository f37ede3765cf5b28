// A folder of key files, key-00000001.pem and so on. Existing files stay, and a file gets its name
// only when it is complete.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "cli/io/file_descriptor.h"
#include "cli/keys/secret_bytes.h"

namespace lanecrypt::cli {

class KeyFolder {
 public:
  // Opens the folder, or creates it with mode 0700, and locks it against other runs. Removes the
  // partial files of an interrupted run. Throws Failure, also if the folder is a symbolic link,
  // does not belong to the effective user, or is writable by others, who could put their own keys
  // there for this command to keep.
  explicit KeyFolder(const std::string &path);
  // Removes a partial file.
  ~KeyFolder() { discard(); }

  static std::string name_of(uint64_t number);  // `number` counts from 1
  std::string path_of(uint64_t number) const;

  // Returns the numbers up to `count` that have no file. `look` returns what is wrong with the text
  // of an existing file, or "". Throws Failure if something is wrong, or if others own the file or
  // can read or write it; the file is kept, because the user may need it. Removes an empty file,
  // which a loss of power can leave, and returns its number.
  std::vector<uint64_t> missing(uint64_t count,
                                const std::function<std::string(const SecretBytes &)> &look) const;
  // Writes a new file that only its owner can read. Throws Failure.
  void write(uint64_t number, const SecretBytes &text);
  // Writes all files to the disk, so that they survive a loss of power. Throws Failure.
  void sync();
  // Removes a partial file. Thread-safe: another thread calls it when the process is about to end.
  void discard();

 private:
  [[noreturn]] void refuse(uint64_t number, const std::string &why) const;
  SecretBytes read(uint64_t number, bool *is_there) const;

  std::string path_;
  FileDescriptor folder_;
  std::mutex mutex_;
  std::string part_;  // the name of the partial file
};

}  // namespace lanecrypt::cli
