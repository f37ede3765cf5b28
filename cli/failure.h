// How the command fails: an exit code and a sentence for a person.
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
  kBadData = 3,    // wrong padding, key file or signature, or the input is cut or foreign
  kNoDevice = 4,   // no device could do it, and the CPU was not allowed
  kNoService = 5,  // no service listens
  // Of `lanecrypt run`, whose other codes are those of the program that it runs:
  kRunFailed = 125,  // it could not start the service, or its own command line is wrong
  kCannotRun = 126,  // the program is there and cannot be run
  kNoProgram = 127,  // the program is not there
};

// Thrown anywhere in the command, caught in main(): the text is printed after
// "lanecrypt: ", unless it is empty: then the reasons were printed before. Never holds secret data.
class Failure : public std::runtime_error {
 public:
  Failure(ExitCode code, const std::string &text) : std::runtime_error(text), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

// kFailed, with the text of errno after `what`.
Failure errno_failure(const std::string &what, int error);
[[noreturn]] void throw_errno(const std::string &what, int error);

}  // namespace lanecrypt::cli
