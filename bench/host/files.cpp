// SPDX-License-Identifier: Apache-2.0
#include "bench/host/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>

#include "bench/report/turns.h"
#include "cli/failure.h"
#include "cli/program.h"
#include "cpu/core_count.h"

namespace lanecrypt::bench {
namespace {

constexpr uint64_t kSliceBytes = 64 << 20;  // bytes of data generated at a time

std::string hex_of(const uint8_t *bytes, size_t count) {
  std::string text;
  for (size_t n = 0; n < count; ++n) text += fmt::format("{:02x}", bytes[n]);
  return text;
}

// A temporary folder inside another one. The destructor removes it with its contents.
class OwnFolder {
 public:
  explicit OwnFolder(const std::string &in) : path_(in + "/lanecrypt.XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) cli::throw_errno("cannot make a folder in " + in, errno);
  }
  ~OwnFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  OwnFolder(const OwnFolder &) = delete;
  OwnFolder &operator=(const OwnFolder &) = delete;

  std::string file(const std::string &name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

class MappedFile {
 public:
  explicit MappedFile(const std::string &path) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) cli::throw_errno("cannot read " + path, errno);
    struct stat status {};
    fstat(file, &status);
    bytes_ = static_cast<uint64_t>(status.st_size);
    void *const mapped = mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, file, 0);
    const int error = errno;
    close(file);
    if (mapped == MAP_FAILED) cli::throw_errno("cannot read " + path, error);
    data_ = static_cast<const uint8_t *>(mapped);
  }
  ~MappedFile() { munmap(const_cast<uint8_t *>(data_), bytes_); }
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;

  // Compares the contents on all cores.
  bool operator==(const MappedFile &other) const {
    if (bytes_ != other.bytes_) return false;
    const uint64_t share = bytes_ / cpu::usable_cores() + 1;
    std::vector<std::future<bool>> checks;
    for (uint64_t at = 0; at < bytes_; at += share)
      checks.push_back(std::async(std::launch::async, [&, at] {
        return std::memcmp(data_ + at, other.data_ + at, std::min(share, bytes_ - at)) == 0;
      }));
    bool all = true;
    for (std::future<bool> &check : checks) all &= check.get();
    return all;
  }

 private:
  uint64_t bytes_ = 0;
  const uint8_t *data_ = nullptr;
};

void write_data(const std::string &path, const BenchData &data, uint64_t bytes) {
  std::ofstream file(path, std::ios::binary);
  std::vector<uint8_t> slice(std::min(bytes, kSliceBytes));
  for (uint64_t done = 0; done < bytes; done += slice.size()) {
    data.fill(done, slice);
    file.write(reinterpret_cast<const char *>(slice.data()),
               static_cast<std::streamsize>(std::min<uint64_t>(slice.size(), bytes - done)));
  }
  if (!file.flush()) throw cli::Failure(cli::ExitCode::kFailed, "cannot write " + path);
}

// Runs a program and waits for it. Throws Failure (kFailed) unless it exits with status 0.
void run_to_end(const std::vector<std::string> &words) {
  std::vector<char *> arguments;
  for (const std::string &word : words) arguments.push_back(const_cast<char *>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int error =
      posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) cli::throw_errno("cannot run " + words[0], error);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw cli::Failure(cli::ExitCode::kFailed, words[0] + " " + words[1] + " failed");
}

// Returns "", "-ram-disk" or "-ram-disk-huge-pages" for the rows' names, because the figures of
// these differ much.
std::string kind_of(const std::string &folder) {
  struct statfs system {};
  struct stat status {};
  if (statfs(folder.c_str(), &system) != 0 || system.f_type != TMPFS_MAGIC) return "";
  if (stat(folder.c_str(), &status) != 0) return "-ram-disk";
  const std::string device = fmt::format(" {}:{} ", major(status.st_dev), minor(status.st_dev));
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);)
    if (line.find(device) != std::string::npos && line.find("huge=always") != std::string::npos)
      return "-ram-disk-huge-pages";
  return "-ram-disk";
}

}  // namespace

void bench_files(const std::string &folder, const std::vector<EvpDevice> &devices, uint64_t bytes,
                 unsigned runs, const BenchData &data, BenchLog &log) {
  const BenchCase run{*cli::find_cipher("aes-256-ctr")};
  const std::string row = run.name() + ".enc-file" + kind_of(folder);
  std::vector<std::pair<std::string, std::vector<std::string>>> programs = {
      {row + ".openssl", {"openssl", "enc"}},
      {row + ".openssl-bufsize-1M", {"openssl", "enc", "-bufsize", "1048576"}}};
  const std::string command = cli::sibling_program("lanecrypt");
  programs.push_back({row + ".own-choice", {command, "enc"}});
  for (const EvpDevice &device : devices)
    programs.push_back(
        {row + "." + device.where, {command, "enc", "-devices", device.id, "-require-gpu"}});
  std::erase_if(programs, [&](const auto &program) { return !log.wants(program.first); });
  if (programs.empty()) return;
  log.tell(fmt::format("{}, {} bytes", row, bytes));
  const OwnFolder own(folder);
  std::error_code error;
  if (const auto space = std::filesystem::space(folder, error);
      error || space.available < 3 * bytes)
    throw cli::Failure(cli::ExitCode::kUsage,
                       fmt::format("{} has no room for three files of {} bytes", folder, bytes));
  const std::string in = own.file("in"), expected = own.file("expected"), out = own.file("out");
  write_data(in, data, bytes);
  const cli::Block iv = data.iv(run, 0);
  const auto words_of = [&](std::vector<std::string> words, const std::string &to) {
    for (const std::string &word :
         {"-" + run.cipher.name, std::string("-K"), hex_of(data.key(), run.cipher.key_bytes),
          std::string("-iv"), hex_of(iv.data(), iv.size()), std::string("-in"), in,
          std::string("-out"), to})
      words.push_back(word);
    return words;
  };
  run_to_end(words_of({"openssl", "enc"}, expected));
  std::vector<Contender> contenders;
  for (const auto &[name, program] : programs)
    contenders.push_back({name,
                          bytes,
                          [words = words_of(program, out)] { run_to_end(words); },
                          [&, name = name] {
                            if (!(MappedFile(out) == MappedFile(expected)))
                              throw cli::Failure(cli::ExitCode::kFailed,
                                                 name + ": the output is not OpenSSL's");
                            unlink(out.c_str());
                          },
                          {}});
  measure_contenders(contenders, runs, {}, log);
}

}  // namespace lanecrypt::bench
