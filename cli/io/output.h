// The output of a command: a file that gets its name only when it is complete, or a stream.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "cli/io/descriptor_path.h"
#include "cli/io/file_access.h"
#include "cli/io/file_descriptor.h"

namespace lanecrypt::cli {

class Output {
 public:
  // Who may read a new file: with kByUmask, those whom the umask allows; with kOwner, only its
  // owner. With kByUmask, a file that replaces another gets its access rights (FileAccess). With
  // kOwner, for private keys, the new file is accessible only to its owner, whatever the old file
  // allowed. Another user's file is refused, and so is a symbolic link, which another user may have
  // created.
  enum class Readers { kByUmask, kOwner };
  // Checks the output; opens and writes nothing. "-" is standard output. A regular file, new or to
  // be replaced, is later written in its final folder, unnamed or under a temporary name. A device
  // or a pipe is written directly, and so is an open descriptor that `path` names (/dev/fd/3,
  // /dev/stdout), from its current position on. Throws Failure if the output could not be written,
  // or if it is the file of `input`, which would be destroyed.
  Output(const std::string &path, const struct stat &input)
      : Output(path, input, Readers::kByUmask) {}
  // For an output without an input.
  Output(const std::string &path, Readers readers) : Output(path, (struct stat){}, readers) {}
  // Removes an uncommitted file.
  ~Output();
  // Opens or creates the output. Call it before anything is written. Throws Failure.
  void create();

  const std::string &name() const { return name_; }
  // Whether the bytes go to standard output, whatever name `path` has.
  bool reaches_stdout() const { return reaches_stdout_; }
  // Whether write_at() can be used, which is thread-safe. Otherwise the output is a stream.
  bool positioned() const { return positioned_; }

  // Writes the next bytes of the stream or the file. Throws Failure. Not thread-safe.
  void write(std::span<const uint8_t> data);
  // Writes at `offset`, independent of write(). Only if positioned(). Throws Failure.
  void write_at(uint64_t offset, std::span<const uint8_t> data);
  // Whether the file is, or will be, on a tmpfs. False unless positioned().
  bool is_on_ram_disk() const;
  // whether the file is on a RAM disk
  uint8_t *pages(uint64_t offset, size_t bytes);
  // The descriptor, for transfers outside this class. Only if positioned().
  int descriptor() const { return descriptor_; }
  // Sets O_DIRECT, so that writes bypass the page cache. Returns false if that is impossible.
  bool go_direct() { return !mapped_ && set_direct(descriptor_, true); }
  void leave_direct() { (void)set_direct(descriptor_, false); }
  [[noreturn]] void throw_error(int error) const;

  // Sets the size of the file. Only if positioned(). No other thread may use the output during the
  // call.
  void set_size(uint64_t bytes);
  // Completes the output after all data has been written: gives the file its name, replacing an
  // earlier file. If `sync` is true, the file survives a loss of power once this returns. Throws
  // Failure.
  void commit(bool sync);
  // Removes an uncommitted file now. Another thread may call this while one creates, writes or
  // commits, because the process is about to end.
  void discard();

 private:
  Output(const std::string &path, const struct stat &input, Readers readers);
  void refuse_input(const struct stat &input) const;
  void look_at_stdout();
  [[noreturn]] void throw_unopened(int error) const;
  [[noreturn]] void throw_link() const;
  [[noreturn]] void throw_another() const;
  [[noreturn]] void throw_stranger() const;
  void take_descriptor(const DescriptorPath &found, const struct stat &input);
  void take_file(const struct stat &input);
  void open_in_place();
  void open_temporary();
  void open_named_temporary();
  void unmap();
  bool write_mapped(uint64_t offset, std::span<const uint8_t> data);
  mode_t new_file_mode() const;
  void take_over_access();
  void cut_rest();

  const Readers readers_;
  std::string name_;  // for messages
  std::string path_;  // with symbolic links resolved
  std::string folder_;
  std::string temporary_;  // the temporary name, while the file has one
  FileDescriptor file_;
  int descriptor_ = -1;
  std::optional<int> named_;  // the descriptor of this process that the path names
  bool is_stdout_ = false, reaches_stdout_ = false;
  bool positioned_ = false;
  std::atomic<bool> mapped_ = false;  // on a RAM disk
  uint8_t *pages_ = nullptr;          // its mapping, after the first set_size()
  uint64_t mapped_bytes_ = 0;
  bool replaces_ = false;             // a file of that name existed
  std::optional<FileAccess> access_;  // the access rights that the new file has got from it
  struct stat replaced_ {};
  uint64_t written_ = 0;  // bytes written by write()
  std::mutex writing_;    // held by the thread that uses pwrite() on a mapped file
  std::mutex naming_;     // serialises create() and commit() with discard()
  bool committed_ = false;
};

}  // namespace lanecrypt::cli
