// Programs of ours that a library starts in somebody else's process, unnoticed. They are
// nobody's child: no SIGCHLD comes when they end, and no wait() of the process finds
// them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace lanecrypt::process {

// A program under way, whose standard output is kept. Nobody waits for its end, so it
// must end by itself, in bounded time, and its output must end with the line kLastLine.
// One thread at a time may use this. A child of fork can go on reading what its parent
// has not read.
class Program {
 public:
  static constexpr char kLastLine[] = "end\n";

  // Starts the file `path` with these arguments. It gets this process's environment
  // without what configures OpenSSL, and an empty standard input. Its errors are
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
  // Reads what is there. Waits for more, and for the end, at most for `limit`.
  State wait(std::chrono::milliseconds limit);
  // The output without its last line.
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
