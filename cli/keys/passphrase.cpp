// SPDX-License-Identifier: Apache-2.0
#include "cli/keys/passphrase.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "cli/console.h"
#include "cli/failure.h"
#include "cli/io/file_descriptor.h"

namespace lanecrypt::cli {
namespace {

// The sizes of the buffers, without the terminator, in which openssl reads a line from a source and
// from -kfile. Only that much of a longer line counts; otherwise neither tool could open the
// other's files.
constexpr size_t kSourceLineBytes = 1023;
constexpr size_t kKeyFileLineBytes = 127;
// The size of the buffer, with the terminator, for which openssl enc asks on a terminal. A longer
// answer is refused.
constexpr size_t kPromptBytes = 512;

// What is read, for messages.
struct Wanted {
  const char *noun;
  const char *option;
  // Whether a line that is too long is truncated with a warning, as OpenSSL does, or refused.
  bool may_cut;
};
constexpr Wanted kPassphrase{"passphrase", "-pass", true};
constexpr Wanted kKey{"key", "-key-source", false};

struct Line {
  SecretBytes text;
  bool any = false;  // at least one byte was read, even if it was a newline
};

// Reads a line byte by byte, because another reader may want what follows it.
Line read_line(int descriptor, size_t max_bytes, const Wanted &wanted, const std::string &what) {
  Line line{SecretBytes(max_bytes)};
  size_t bytes = 0;
  for (;;) {
    char character = 0;
    const ssize_t got = read(descriptor, &character, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_errno(fmt::format("cannot read the {} from {}", wanted.noun, what), errno);
    if (got == 0) break;
    line.any = true;
    if (character == '\n') break;
    if (character == '\0')
      throw Failure(ExitCode::kUsage,
                    fmt::format("the {} in {} has a zero byte, {}", wanted.noun, what,
                                wanted.may_cut ? "which OpenSSL would read as its end"
                                               : "but it is to be hexadecimal text"));
    if (bytes == max_bytes) {
      if (!wanted.may_cut)
        throw Failure(ExitCode::kUsage, fmt::format("the {} in {} is longer than {} bytes",
                                                    wanted.noun, what, max_bytes));
      complain(
          fmt::format("warning: only the first {} bytes of the {} in {} are used, as OpenSSL does",
                      max_bytes, wanted.noun, what));
      break;
    }
    line.text.data()[bytes++] = static_cast<uint8_t>(character);
  }
  line.text.shorten(bytes);
  return line;
}

FileDescriptor open_for_reading(const std::string &path, const Wanted &wanted) {
  FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) throw_errno(fmt::format("cannot open {} file '{}'", wanted.noun, path), errno);
  return file;
}

SecretBytes line_or_failure(int descriptor, const Wanted &wanted, const std::string &what) {
  Line line = read_line(descriptor, kSourceLineBytes, wanted, what);
  if (!line.any)
    throw Failure(ExitCode::kFailed, fmt::format("there is no {} in {}", wanted.noun, what));
  return std::move(line.text);
}

// Reads from "env:", "file:", "fd:" or "stdin". Returns nothing if `text` is none of these.
std::optional<SecretBytes> read_source(std::string_view text, const Wanted &wanted) {
  if (text.starts_with("env:")) {
    const std::string name(text.substr(4));
    const char *value = secure_getenv(name.c_str());
    if (!value)
      throw Failure(ExitCode::kUsage,
                    fmt::format("{} env:{}: the environment has no variable of that name",
                                wanted.option, name));
    return SecretBytes::copy_of(value);
  }
  if (text.starts_with("file:")) {
    const std::string path(text.substr(5));
    return line_or_failure(open_for_reading(path, wanted).get(), wanted,
                           fmt::format("file '{}'", path));
  }
  if (text.starts_with("fd:")) {
    const std::string_view digits = text.substr(3);
    int descriptor = -1;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), descriptor);
    if (error != std::errc() || end != digits.data() + digits.size() || descriptor < 0)
      throw Failure(
          ExitCode::kUsage,
          fmt::format("{} fd:NUMBER needs the number of an open descriptor", wanted.option));
    return line_or_failure(descriptor, wanted, fmt::format("descriptor {}", descriptor));
  }
  if (text == "stdin") return line_or_failure(STDIN_FILENO, wanted, "standard input");
  return std::nullopt;
}

void drop_carriage_returns(SecretBytes &text) {
  size_t bytes = text.size();
  while (bytes > 0 && text.data()[bytes - 1] == '\r') bytes--;
  text.shorten(bytes);
}

bool has_terminal() { return bool(FileDescriptor(open("/dev/tty", O_RDWR | O_CLOEXEC))); }

// Asks on the terminal. The caller has checked that there is one.
SecretBytes ask(const std::string &prompt, bool verify, const Wanted &wanted) {
  SecretBytes answer(kPromptBytes);
  // EVP_read_pw_string() writes a terminator after the given number of bytes.
  const int wrong = EVP_read_pw_string(answer.text(), static_cast<int>(answer.size()) - 1,
                                       prompt.c_str(), verify ? 1 : 0);
  // -2 means interrupted. Otherwise OpenSSL does not distinguish a failure from a second answer
  // that differs; in the latter case it has printed "Verify failure".
  if (wrong == -2) {
    const char *const text = "interrupted; nothing was written";
    complain(text);
    std::raise(SIGINT);  // ends the process as usual, unless the signal is ignored
    throw Failure(ExitCode::kFailed, text);
  }
  if (wrong != 0)
    throw Failure(ExitCode::kFailed,
                  verify
                      ? fmt::format("the two {}s differ, or could not be read; nothing was written",
                                    wanted.noun)
                      : fmt::format("no {} was read from the terminal", wanted.noun));
  answer.shorten(strnlen(answer.text(), answer.size()));
  if (answer.size() == 0)
    throw Failure(ExitCode::kUsage,
                  fmt::format("the {} is empty; nothing was written", wanted.noun));
  return answer;
}

}  // namespace

SecretBytes read_passphrase_source(const SecretBytes &source) {
  const std::string_view text{source.text(), source.size()};
  if (text.starts_with("pass:")) return SecretBytes::copy_of(text.substr(5));
  if (std::optional<SecretBytes> read = read_source(text, kPassphrase)) return std::move(*read);
  // The message does not quote the text, which may be a passphrase without its prefix.
  throw Failure(ExitCode::kUsage,
                "-pass needs one of pass:TEXT, env:NAME, file:PATH, fd:NUMBER or stdin");
}

bool asks_for_key(const SecretBytes &source) {
  return std::string_view{source.text(), source.size()} == "prompt";
}

SecretBytes read_key_source(const SecretBytes &source) {
  std::optional<SecretBytes> read = read_source({source.text(), source.size()}, kKey);
  // The message does not quote the text, which may be the key itself.
  if (!read)
    throw Failure(ExitCode::kUsage,
                  "-key-source needs one of env:NAME, file:PATH, fd:NUMBER, stdin or prompt");
  drop_carriage_returns(*read);
  return std::move(*read);
}

SecretBytes read_passphrase_file(const std::string &path) {
  const bool from_stdin = path == "-";
  FileDescriptor file;
  if (!from_stdin) file = open_for_reading(path, kPassphrase);
  const std::string what = from_stdin ? "standard input" : fmt::format("file '{}'", path);
  Line line =
      read_line(from_stdin ? STDIN_FILENO : file.get(), kKeyFileLineBytes, kPassphrase, what);
  drop_carriage_returns(line.text);
  if (line.text.size() == 0)
    throw Failure(ExitCode::kUsage, fmt::format("the passphrase in {} is empty", what));
  return std::move(line.text);
}

SecretBytes ask_key(const std::string &prompt, bool verify) {
  if (!has_terminal())
    throw Failure(ExitCode::kUsage, "-key-source prompt: there is no terminal to ask on");
  return ask(prompt, verify, kKey);
}

SecretBytes ask_passphrase(const std::string &prompt, bool verify) {
  // Without a terminal OpenSSL would read standard input, which has the data.
  if (!has_terminal())
    throw Failure(ExitCode::kUsage,
                  "no passphrase and no key: give -pass, -kfile, -k, or -key-source or -K with "
                  "-iv (there is no terminal to ask on)");
  return ask(prompt, verify, kPassphrase);
}

}  // namespace lanecrypt::cli
