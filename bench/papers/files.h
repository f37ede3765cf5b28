// The eight files of paper R (Rosenberg 2007), and a folder in which they lie.
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
    kEqual,     // 0xAA
    kGrowing,   // random, from 0 alone at the beginning to all values at the end
    kRandom,
  };
  unsigned number;  // as in the paper
  Content content;
  uint64_t bytes;  // as published, or a part of it, in whole blocks
};

// The files with their published sizes, divided by `divisor`.
std::vector<PaperFile> paper_files(uint64_t divisor);

// A folder of its own in `parent`. It is removed with its contents, also by Ctrl-C and
// similar signals.
class PaperFolder {
 public:
  // Throws Failure if none can be made.
  explicit PaperFolder(const std::string &parent);
  ~PaperFolder();
  PaperFolder(const PaperFolder &) = delete;
  PaperFolder &operator=(const PaperFolder &) = delete;

  // Removes it now. Any thread may call it when the process is about to end.
  void remove() const;

  std::string file(const std::string &name) const { return path_ + "/" + name; }
  uint64_t free_bytes() const;
  // Whether what is written there stays in memory.
  bool is_ram_disk() const;

 private:
  std::string path_;
};

// Throws Failure if the disk is full or fails.
void write_paper_file(const PaperFile &file, const std::string &path);
// Moves what was written to the disk and out of memory: the next reader waits for the
// disk. Does nothing for a RAM disk.
void forget_file(const std::string &path);
// Throws a Failure that begins with `what` if two files differ.
void compare_files(const std::string &path, const std::string &other, const std::string &what);

}  // namespace lanecrypt::bench
