// The error type of the command: an exit code and a message for the user.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

namespace lanecrypt::cli {

// Exit codes of the command; documented in lanecrypt(1).
enum class ExitCode {
  kOk = 0,
  kFailed = 1,     // input, output or the system failed, or a digest is wrong
  kUsage = 2,      // the command line is wrong; nothing was read or written
  kBadData = 3,    // wrong padding, key file or signature, or the input is truncated or not ours
  kNoDevice = 4,   // no device could run the job, and the CPU was not allowed
  kNoService = 5,  // no service listens
  // Only `lanecrypt run` uses these. Its other codes are those of the program that it runs.
  kRunFailed = 125,  // the service could not be started, or the command line of `run` is wrong
  kCannotRun = 126,  // the program exists but cannot be executed
  kNoProgram = 127,  // the program does not exist
};

// An error of the command. main() catches it and prints the text after "lanecrypt: ". An empty text
// means that the reasons were printed before. The text never contains secret data.
class Failure : public std::runtime_error {
 public:
  Failure(ExitCode code, const std::string &text) : std::runtime_error(text), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

// A Failure with the code kFailed and the text "`what`: " with the system's message for `error`.
Failure errno_failure(const std::string &what, int error);
[[noreturn]] void throw_errno(const std::string &what, int error);

}  // namespace lanecrypt::cli
