// What is written: a file that appears under its name only when it is whole,
// or a stream.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>

#include "cli/io/file_descriptor.h"

namespace lanecrypt::cli {

class Output {
 public:
  // Who may read a new file: whom the umask lets, or its owner alone. The latter replaces
  // a file that is there by one of the caller's own, and takes no symbolic link for a
  // file, which another user may have put there.
  enum class Readers { kByUmask, kOwner };
  // "-" is standard output. A regular file, new or to be replaced, is
  // written without a name, or under a temporary one, in the folder where it
  // is to lie; a device or a pipe is written as it is. `input` is what must
  // not be written over. Only looks; throws Failure where it could not be.
  Output(const std::string &path, const struct stat &input)
      : Output(path, input, Readers::kByUmask) {}
  // Of what has no input.
  Output(const std::string &path, Readers readers) : Output(path, (struct stat){}, readers) {}
  // Removes what was not committed.
  ~Output();
  // Opens it, before anything is written. Throws Failure.
  void create();

  const std::string &name() const { return name_; }
  // Whether what is written comes out of standard output, by whatever name.
  bool reaches_stdout() const { return reaches_stdout_; }
  // Whether write_at() works, from any thread. Otherwise it is a stream.
  bool positioned() const { return positioned_; }

  // The next bytes of the stream, or of the file; not from two threads.
  void write(std::span<const uint8_t> data);
  // Positioned only: at `offset`, independent of write(). Throws Failure.
  void write_at(uint64_t offset, std::span<const uint8_t> data);
  // Positioned only: whether it lies, or will lie, in memory: in a tmpfs.
  bool is_on_ram_disk() const;
  // The file's own memory from `offset` on, ready to be written to, until commit();
  // nullptr where it cannot be had, as where it is not on a RAM disk, where that is full,
  // or before set_size(). From any thread.
  uint8_t *pages(uint64_t offset, size_t bytes);
  // Positioned only: for transfers of others' making.
  int descriptor() const { return descriptor_; }
  // Past the page cache, from now on: O_DIRECT. False where that cannot be.
  bool go_direct() { return !mapped_ && set_direct(descriptor_, true); }
  void leave_direct() { (void)set_direct(descriptor_, false); }
  [[noreturn]] void throw_error(int error) const;

  // Positioned only: the file will hold this many bytes. One thread, while none writes.
  void set_size(uint64_t bytes);
  // All is written: gives the file its name, in place of an earlier file of
  // that name. `sync`: when this returns it will survive a loss of power.
  void commit(bool sync);
  // Removes what was not committed, now. May be called from another thread
  // while this one creates, writes or commits: the process is about to end.
  void discard();

 private:
  Output(const std::string &path, const struct stat &input, Readers readers);
  void open_temporary();
  void open_named_temporary();
  void unmap();
  bool write_mapped(uint64_t offset, std::span<const uint8_t> data);
  void take_over_mode();

  const Readers readers_;
  std::string name_;  // for messages
  std::string path_;  // with symbolic links resolved
  std::string folder_;
  std::string temporary_;  // its name while it has one
  FileDescriptor file_;
  int descriptor_ = -1;
  bool is_stdout_ = false, reaches_stdout_ = false;
  bool positioned_ = false;
  std::atomic<bool> mapped_ = false;  // on a RAM disk
  uint8_t *pages_ = nullptr;          // of it, since the first set_size()
  uint64_t mapped_bytes_ = 0;
  bool replaces_ = false;  // a file of that name exists
  struct stat replaced_ {};
  uint64_t written_ = 0;  // by write()
  std::mutex writing_;    // of a mapped file: who may write() it
  std::mutex naming_;     // between create() or commit() and discard()
  bool committed_ = false;
};

}  // namespace lanecrypt::cli
