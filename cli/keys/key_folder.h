// A folder of key files, key-00000001.pem and so on. What is there stays, and a file
// appears only when it is whole.
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
  // Opens the folder, or makes it (mode 0700), and keeps other runs out of it. Removes
  // what a run that was broken off left half written. Throws Failure, also if the folder
  // is a link, belongs to another than the effective user, or can be written by others:
  // they could put keys of theirs there for us to keep.
  explicit KeyFolder(const std::string &path);
  // Removes what is half written.
  ~KeyFolder() { discard(); }

  static std::string name_of(uint64_t number);  // from 1 on
  std::string path_of(uint64_t number) const;

  // The numbers up to `count` that have no file. `look` says what is wrong with the text
  // of an existing file, or "". Throws Failure if something is wrong, or if others own,
  // read or write the file: the user may need that file. An empty file, as a loss of
  // power leaves it, is made anew.
  std::vector<uint64_t> missing(uint64_t count,
                                const std::function<std::string(const SecretBytes &)> &look) const;
  // Writes a new file, readable by its owner alone. Throws Failure.
  void write(uint64_t number, const SecretBytes &text);
  // When this returns, all files will survive a loss of power.
  void sync();
  // Removes what is half written. Any thread may call it: the process is about to end.
  void discard();

 private:
  [[noreturn]] void refuse(uint64_t number, const std::string &why) const;
  SecretBytes read(uint64_t number, bool *is_there) const;

  std::string path_;
  FileDescriptor folder_;
  std::mutex mutex_;
  std::string part_;  // the name of what is half written
};

}  // namespace lanecrypt::cli
