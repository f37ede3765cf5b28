// The eight files of paper R (Rosenberg 2007), and a temporary folder for them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lanecrypt::bench {

struct PaperFile {
  enum class Content {
    kCounting,  // bytes 0 to 255, repeated
    kEqual,     // only 0xAA
    kGrowing,   // random, with a range that grows from only 0 to all values
    kRandom,
  };
  unsigned number;  // as in the paper
  Content content;
  uint64_t bytes;  // the published size or a part of it, in whole blocks
};

// Returns the files with their published sizes divided by `divisor`.
std::vector<PaperFile> paper_files(uint64_t divisor);

// A temporary folder in `parent`. The destructor removes it with its contents, and so does the
// handler of SIGINT and similar signals.
class PaperFolder {
 public:
  // Throws Failure if the folder cannot be made.
  explicit PaperFolder(const std::string &parent);
  ~PaperFolder();
  PaperFolder(const PaperFolder &) = delete;
  PaperFolder &operator=(const PaperFolder &) = delete;

  // Removes the folder now. Any thread may call it when the process is about to end.
  void remove() const;

  std::string file(const std::string &name) const { return path_ + "/" + name; }
  uint64_t free_bytes() const;
  // Returns whether files in the folder stay in memory (tmpfs or ramfs).
  bool is_ram_disk() const;

 private:
  std::string path_;
};

// Throws Failure if the disk is full or fails.
void write_paper_file(const PaperFile &file, const std::string &path);
// Writes the file to the disk and drops it from the page cache, so that the next reader waits for
// the disk. Has no effect on a RAM disk.
void forget_file(const std::string &path);
// Throws a Failure that begins with `what` if the two files differ.
void compare_files(const std::string &path, const std::string &other, const std::string &what);

}  // namespace lanecrypt::bench
