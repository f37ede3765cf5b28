// Helper programs that the library starts unnoticed in a foreign process. They are not children of
// that process: no SIGCHLD is sent when they end, and no wait() of the process finds them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace lanecrypt::process {

// Program is a running program whose standard output is collected. Nothing waits for its end, so it
// must end by itself, in bounded time, and its output must end with the line kLastLine. Only one
// thread at a time may use this object. A child of fork() can continue to read what its parent has
// not read.
class Program {
 public:
  static constexpr char kLastLine[] = "end\n";

  // start() starts the file `path` with these arguments. The program gets this process's
  // environment without the variables that configure OpenSSL, and an empty standard input. Its
  // standard error is discarded. If it cannot be started, start() returns nullptr, with the reason
  // in `*why`.
  static std::unique_ptr<Program> start(const std::string &path,
                                        const std::vector<std::string> &arguments,
                                        std::string *why);
  ~Program();
  Program(const Program &) = delete;

  enum class State {
    kRuns,
    kDone,    // the output is complete
    kFailed,  // it ended before its last line, or wrote too much
  };
  // wait() reads what is available. It waits for more output, and for the end, at most for `limit`.
  State wait(std::chrono::milliseconds limit);
  // The output without its last line.
  const std::string &output() const { return output_; }

 private:
  Program(int output, int staying) : descriptor_(output), staying_(staying) {}
  State end(State state);

  int descriptor_;
  int staying_;  // the intermediate process if it stays, else -1
  State state_ = State::kRuns;
  std::string output_;
};

}  // namespace lanecrypt::process
