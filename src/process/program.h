// Programs of ours that a library starts in somebody else's process, without its
// noticing: they are nobody's child, so no SIGCHLD comes when they end, and no wait()
// of the process finds them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace lanecrypt::process {

// A program under way, whose standard output is kept. Since nobody waits for it, it must
// end by itself, in bounded time, and end its output by the line kLastLine. One thread
// at a time; a child of fork can go on reading where its parent has not.
class Program {
 public:
  static constexpr char kLastLine[] = "end\n";

  // Starts the file `path` with these arguments, the environment of this process less
  // what configures OpenSSL, and nothing on its standard input; its errors are
  // discarded. nullptr where it cannot be started, with the reason in `why`.
  static std::unique_ptr<Program> start(const std::string &path,
                                        const std::vector<std::string> &arguments,
                                        std::string *why);
  ~Program();
  Program(const Program &) = delete;

  enum class State {
    kRuns,
    kDone,    // the output is whole
    kFailed,  // it ended before its last line, or wrote too much
  };
  // Reads what is there, and waits for more and for the end, so long at the most.
  State wait(std::chrono::milliseconds limit);
  // Without the last line.
  const std::string &output() const { return output_; }

 private:
  Program(int output, int staying) : descriptor_(output), staying_(staying) {}
  State end(State state);

  int descriptor_;
  int staying_;  // the process between, where it stays; -1 otherwise
  State state_ = State::kRuns;
  std::string output_;
};

}  // namespace lanecrypt::process
