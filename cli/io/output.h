// The output: a file that appears under its name only when it is whole, or a stream.
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
  // Who may read a new file: those whom the umask allows, or its owner alone. With kByUmask, a
  // file that is replaced passes its access on (FileAccess). With kOwner, for private keys, the
  // new file is the caller's alone, whatever the old one was: another user's file is refused,
  // and so is a symbolic link, which another user may have put there.
  enum class Readers { kByUmask, kOwner };
  // "-" is standard output. A regular file, new or to be replaced, is written in its
  // later folder, without a name or under a temporary one. A device or a pipe is written
  // as it is, and so is what an open descriptor leads to, if `path` names one (/dev/fd/3,
  // /dev/stdout): from its position on, as by any write to it. `input` must not be written
  // over. This only looks. It throws Failure if the output could not be written.
  Output(const std::string &path, const struct stat &input)
      : Output(path, input, Readers::kByUmask) {}
  // An output without an input.
  Output(const std::string &path, Readers readers) : Output(path, (struct stat){}, readers) {}
  // Removes what was not committed.
  ~Output();
  // Opens it, before anything is written. Throws Failure.
  void create();

  const std::string &name() const { return name_; }
  // Whether the bytes come out of standard output, by whatever name.
  bool reaches_stdout() const { return reaches_stdout_; }
  // Whether write_at() works, from any thread. Otherwise it is a stream.
  bool positioned() const { return positioned_; }

  // Writes the next bytes of the stream or the file. One thread at a time.
  void write(std::span<const uint8_t> data);
  // Positioned only: writes at `offset`, independent of write(). Throws Failure.
  void write_at(uint64_t offset, std::span<const uint8_t> data);
  // Positioned only: whether it lies, or will lie, in memory: in a tmpfs.
  bool is_on_ram_disk() const;
  // The file's own memory from `offset` on, ready to be written to, until commit().
  // nullptr if there is none: if the file is not on a RAM disk, if that is full, or
  // before set_size(). Any thread.
  uint8_t *pages(uint64_t offset, size_t bytes);
  // Positioned only: for transfers that others make.
  int descriptor() const { return descriptor_; }
  // From now on, goes past the page cache: O_DIRECT. False if that is impossible.
  bool go_direct() { return !mapped_ && set_direct(descriptor_, true); }
  void leave_direct() { (void)set_direct(descriptor_, false); }
  [[noreturn]] void throw_error(int error) const;

  // Positioned only: the file will have this many bytes. One thread, while none writes.
  void set_size(uint64_t bytes);
  // All is written. Gives the file its name, in the place of an earlier file of that
  // name. `sync`: when this returns, the file will survive a loss of power.
  void commit(bool sync);
  // Removes now what was not committed. Another thread may call it while this one
  // creates, writes or commits: the process is about to end.
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
  std::string temporary_;  // its name while it has one
  FileDescriptor file_;
  int descriptor_ = -1;
  std::optional<int> named_;  // the descriptor of this process that the path names
  bool is_stdout_ = false, reaches_stdout_ = false;
  bool positioned_ = false;
  std::atomic<bool> mapped_ = false;  // on a RAM disk
  uint8_t *pages_ = nullptr;          // of it, since the first set_size()
  uint64_t mapped_bytes_ = 0;
  bool replaces_ = false;             // a file of that name exists
  std::optional<FileAccess> access_;  // what the new file has got of it
  struct stat replaced_ {};
  uint64_t written_ = 0;  // by write()
  std::mutex writing_;    // of a mapped file: who may write() it
  std::mutex naming_;     // between create() or commit() and discard()
  bool committed_ = false;
};

}  // namespace lanecrypt::cli
