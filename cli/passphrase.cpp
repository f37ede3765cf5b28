// SPDX-License-Identifier: Apache-2.0
#include "passphrase.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "failure.h"
#include "file_descriptor.h"

namespace lanecrypt::cli {
namespace {

// The buffers of openssl's two ways to read a line, less their terminator: a
// longer line counts up to here, or neither tool could open the other's files.
constexpr size_t kSourceLineBytes = 1023;
constexpr size_t kKeyFileLineBytes = 127;
constexpr size_t kPromptBytes = 1024;

struct Line {
  SecretBytes text;
  bool any = false;  // at least one byte was there, be it a newline
};

// Byte by byte: what follows the line may be another reader's.
Line read_line(int descriptor, size_t max_bytes, const std::string &what) {
  Line line{SecretBytes(max_bytes)};
  size_t bytes = 0;
  for (;;) {
    char character = 0;
    const ssize_t got = read(descriptor, &character, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_errno(fmt::format("cannot read the passphrase from {}", what), errno);
    if (got == 0) break;
    line.any = true;
    if (character == '\n') break;
    if (character == '\0')
      throw Failure(ExitCode::kUsage,
                    fmt::format("the passphrase in {} has a zero byte, which OpenSSL would take "
                                "for its end",
                                what));
    if (bytes == max_bytes) {
      fmt::print(stderr,
                 "lanecrypt: warning: only the first {} bytes of the passphrase in {} are used, "
                 "as OpenSSL does\n",
                 max_bytes, what);
      break;
    }
    line.text.data()[bytes++] = static_cast<uint8_t>(character);
  }
  line.text.shorten(bytes);
  return line;
}

FileDescriptor open_for_reading(const std::string &path) {
  FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) throw_errno(fmt::format("cannot open passphrase file '{}'", path), errno);
  return file;
}

SecretBytes line_or_failure(int descriptor, const std::string &what) {
  Line line = read_line(descriptor, kSourceLineBytes, what);
  if (!line.any)
    throw Failure(ExitCode::kFailed, fmt::format("there is no passphrase in {}", what));
  return std::move(line.text);
}

}  // namespace

SecretBytes read_passphrase_source(const SecretBytes &source) {
  const std::string_view text{source.text(), source.size()};
  if (text.starts_with("pass:")) return SecretBytes::copy_of(text.substr(5));
  if (text.starts_with("env:")) {
    const std::string name(text.substr(4));
    const char *value = std::getenv(name.c_str());
    if (!value)
      throw Failure(
          ExitCode::kUsage,
          fmt::format("-pass env:{}: the environment has no variable of that name", name));
    return SecretBytes::copy_of(value);
  }
  if (text.starts_with("file:")) {
    const std::string path(text.substr(5));
    return line_or_failure(open_for_reading(path).get(), fmt::format("file '{}'", path));
  }
  if (text.starts_with("fd:")) {
    const std::string_view digits = text.substr(3);
    int descriptor = -1;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), descriptor);
    if (error != std::errc() || end != digits.data() + digits.size() || descriptor < 0)
      throw Failure(ExitCode::kUsage, "-pass fd:NUMBER needs the number of an open descriptor");
    return line_or_failure(descriptor, fmt::format("descriptor {}", descriptor));
  }
  if (text == "stdin") return line_or_failure(STDIN_FILENO, "standard input");
  // The text is not quoted: it may be a passphrase without its prefix.
  throw Failure(ExitCode::kUsage,
                "-pass needs one of pass:TEXT, env:NAME, file:PATH, fd:NUMBER or stdin");
}

SecretBytes read_passphrase_file(const std::string &path) {
  const bool from_stdin = path == "-";
  FileDescriptor file;
  if (!from_stdin) file = open_for_reading(path);
  const std::string what = from_stdin ? "standard input" : fmt::format("file '{}'", path);
  Line line = read_line(from_stdin ? STDIN_FILENO : file.get(), kKeyFileLineBytes, what);
  size_t bytes = line.text.size();
  while (bytes > 0 && line.text.data()[bytes - 1] == '\r') bytes--;
  line.text.shorten(bytes);
  if (bytes == 0)
    throw Failure(ExitCode::kUsage, fmt::format("the passphrase in {} is empty", what));
  return std::move(line.text);
}

SecretBytes ask_passphrase(const std::string &prompt, bool verify) {
  // OpenSSL would read standard input instead, and that is the data.
  if (!FileDescriptor(open("/dev/tty", O_RDWR | O_CLOEXEC)))
    throw Failure(ExitCode::kUsage,
                  "no passphrase and no key: give -pass, -kfile, -k or -K and -iv (there is no "
                  "terminal to ask on)");
  SecretBytes answer(kPromptBytes);
  const int wrong = EVP_read_pw_string(answer.text(), static_cast<int>(answer.size()),
                                       prompt.c_str(), verify ? 1 : 0);
  // -2: interrupted. Otherwise OpenSSL does not tell a failure from a second
  // passphrase that differs, after which it has said "Verify failure".
  if (wrong == -2) throw Failure(ExitCode::kFailed, "interrupted; nothing was written");
  if (wrong != 0)
    throw Failure(ExitCode::kFailed, verify ? "the two passphrases differ, or could not be read; "
                                              "nothing was written"
                                            : "no passphrase was read from the terminal");
  answer.shorten(strnlen(answer.text(), answer.size()));
  if (answer.size() == 0)
    throw Failure(ExitCode::kUsage, "the passphrase is empty; nothing was written");
  return answer;
}

}  // namespace lanecrypt::cli
