// `lanecrypt enc` and `lanecrypt dec`: the options of openssl enc.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/crypt/encrypt_file.h"
#include "cli/failure.h"
#include "cli/subcommand.h"

namespace lanecrypt::cli {
namespace {

constexpr char kEncHelp[] = R"(Encrypts a file in the format of `openssl enc`, on a GPU.

Examples:
  lanecrypt enc -aes-256-ctr -pbkdf2 -in disk.img -out disk.img.enc
      asks for a password; `openssl enc -d -aes-256-ctr -pbkdf2` decrypts the file too
  lanecrypt enc -aes-256-ctr -pbkdf2 -pass file:pw.txt -in big.tar -out big.tar.enc --json
  tar c photos | lanecrypt enc -aes-256-ctr -pbkdf2 -pass env:PW > photos.tar.enc
)";

constexpr char kDecHelp[] = R"(Decrypts a file of `lanecrypt enc` or `openssl enc`, on a GPU.

Examples:
  lanecrypt dec -aes-256-ctr -pbkdf2 -in disk.img.enc -out disk.img
      asks for the password
  lanecrypt dec -aes-128-cbc -key-source file:key.hex \
      -iv 101112131415161718191a1b1c1d1e1f -in data.enc -out data

CTR does not detect a wrong passphrase or key: the output is then random bytes, and
the exit code is 0. CBC and ECB detect one by the padding at the end, which is right
by chance in one of 256 cases; with -nopad they do not detect it. None of these modes
detects that a file was changed. Keep a digest of the file and check it.
)";

constexpr char kFooter[] = R"(
Long options may have one dash or two.
Ciphers:{}
Exit codes: 0 done; 1 failed; 2 wrong use; 3 the input is cut or of another kind, or
its padding is wrong (not in CTR); 4 no usable device. See the man page lanecrypt(1).
)";

// Options of openssl enc that lanecrypt refuses, with the reason.
struct Refused {
  const char *name;
  bool takes_value;
  const char *reason;
};
constexpr Refused kRefused[] = {
    {"a", false, "base64 is not supported: use `openssl base64` in a pipe"},
    {"base64", false, "base64 is not supported: use `openssl base64` in a pipe"},
    {"A", false, "base64 is not supported: use `openssl base64` in a pipe"},
    {"z", false, "compression is not supported: use zlib-flate or gzip in a pipe"},
    {"none", false, "copying without encryption is not supported"},
    {"bufsize", true, "the buffers are chosen by lanecrypt; see --chunk"},
    {"engine", true, "engines are not supported; see --devices"},
    {"provider", true, "providers are not supported; see --devices"},
    {"provider-path", true, "providers are not supported; see --devices"},
    {"propquery", true, "providers are not supported; see --devices"},
    {"rand", true, "the random generator seeds itself"},
    {"writerand", true, "the random generator seeds itself"},
};

// Returns the names of all ciphers in lines of at most 80 columns. Each line begins with a newline.
std::string cipher_lines() {
  constexpr size_t kMostColumns = 80;
  std::string lines, line;
  for (const std::string &name : cipher_names()) {
    if (line.empty() || line.size() + 1 + name.size() > kMostColumns) {
      lines += line;
      line = "\n ";
    }
    line += " " + name;
  }
  return lines + line;
}

class Enc : public Subcommand {
 public:
  explicit Enc(bool encrypt) { request_.encrypt = encrypt; }

  std::vector<OptionName> option_names() const override {
    std::vector<OptionName> names = {
        {"e", "encrypt"},
        {"d", "decrypt"},
        {"in", "in", true},
        {"out", "out", true},
        {"cipher", "cipher", true},
        {"k", "passphrase", true, true},
        {"passphrase", "passphrase", true, true},
        {"kfile", "kfile", true},
        {"pass", "pass", true, true},
        {"K", "key", true, true},
        {"key", "key", true, true},
        {"key-source", "key-source", true, true},
        {"iv", "iv", true},
        {"S", "salt-hex", true},
        {"salt", "salt"},
        {"nosalt", "nosalt"},
        {"pbkdf2", "pbkdf2"},
        {"iter", "iter", true},
        {"md", "md", true},
        {"nopad", "nopad"},
        {"p", "print-key"},
        {"P", "print-key-only"},
        {"v", "verbose"},
        {"device", "devices", true},
        {"devices", "devices", true},
        {"require-gpu", "require-gpu"},
        {"chunk", "chunk", true},
        {"fsync", "fsync"},
        {"json", "json"},
        {"quiet", "quiet"},
        {"help", "help"},
        {"h", "help"},
    };
    for (const Refused &refused : kRefused)
      names.push_back({refused.name, std::string("refused-") + refused.name, refused.takes_value});
    return names;
  }

  const char *also_options() const override { return "cipher"; }

  void declare(CLI::App &app) override {
    app.description(request_.encrypt ? kEncHelp : kDecHelp);
    app.footer(fmt::format(kFooter, cipher_lines()));
    app.add_flag("-e,--encrypt", encrypt_, "Encrypts, which is the default of enc.");
    app.add_flag("-d,--decrypt", decrypt_, "Decrypts, which is the default of dec.");
    app.add_option("--in", request_.in, "Reads this file. The default is standard input.")
        ->option_text("FILE");
    app.add_option("--out", request_.out, "Writes this file. The default is standard output.")
        ->option_text("FILE");
    app.add_option(
           "--cipher", cipher_,
           "Uses this cipher. The name itself can also be the option, such as -aes-256-ctr.")
        ->option_text("NAME");

    const std::string key = "Key";
    app.add_option(
           "--pass", pass_,
           "Reads the passphrase from file:PATH (first line), env:NAME, fd:NUMBER, stdin or "
           "pass:TEXT (other users may see TEXT). The default is to ask on the terminal.")
        ->option_text("SOURCE")
        ->group(key);
    app.add_option("--kfile", kfile_, "Reads the passphrase from the first line of a file.")
        ->option_text("FILE")
        ->group(key);
    app.add_option("-k,--passphrase", passphrase_, "Uses this passphrase. Other users may see it.")
        ->option_text("TEXT")
        ->group(key);
    app.add_option("-K,--key", key_, "Uses this key, in hexadecimal. Other users may see it.")
        ->option_text("HEX")
        ->group(key);
    app.add_option(
           "--key-source", key_source_,
           "Reads the key, in hexadecimal, from file:PATH (first line), env:NAME, fd:NUMBER, "
           "stdin or prompt, which asks on the terminal.")
        ->option_text("SOURCE")
        ->group(key);
    app.add_option("--iv", iv_, "Sets the IV or the first counter block, in 32 hexadecimal digits.")
        ->option_text("HEX")
        ->group(key);
    app.add_flag("--pbkdf2", pbkdf2_, "Derives the key with PBKDF2 (recommended).")->group(key);
    app.add_option("--iter", iterations_, "Uses PBKDF2 with N iterations. The default is 10000.")
        ->option_text("N")
        ->check(CLI::Range(1, INT32_MAX))
        ->group(key);
    app.add_option("--md", digest_, "Uses this digest to derive the key. The default is sha256.")
        ->option_text("NAME")
        ->group(key);
    app.add_option("-S,--salt-hex", salt_,
                   "Uses this salt, in 16 hexadecimal digits. The file then contains no salt.")
        ->option_text("HEX")
        ->group(key);
    app.add_flag("--salt", salted_, "Uses a salt, which is the default.")->group(key);
    app.add_flag("--nosalt", request_.no_salt, "Uses no salt (weak).")->group(key);
    app.add_flag("-p,--print-key", request_.print_key,
                 "Prints the salt, the key and the IV, and continues.")
        ->group(key);
    app.add_flag("-P,--print-key-only", request_.print_key_only,
                 "Prints the salt, the key and the IV, and exits.")
        ->group(key);

    const std::string running = "Running";
    app.add_flag("--nopad", no_pad_,
                 "Uses no padding in ECB and CBC. The data must be whole blocks.")
        ->group(running);
    app.add_option(
           "--devices,--device", devices_,
           "Uses these devices, such as cuda:0 or opencl; \"none\" for the CPU. See `lanecrypt "
           "devices`.")
        ->option_text("LIST")
        ->group(running);
    app.add_flag("--require-gpu", request_.require_device,
                 "Fails if no device can be used, instead of using the CPU.")
        ->group(running);
    app.add_option(
           "--chunk", chunk_bytes_,
           "Processes chunks of this many bytes. The default is 8388608, or 2097152 on the CPU "
           "for files in memory.")
        ->option_text("BYTES")
        ->check(CLI::Range(kBlockBytes, kMaxChunkBytes))
        ->group(running);
    app.add_flag("--fsync", request_.sync,
                 "Exits only after the output has been written to the disk.")
        ->group(running);
    app.add_flag(
           "--json", request_.json,
           "Prints a report as a line of JSON on standard output, or on standard error if the "
           "data go to standard output.")
        ->group(running);
    app.add_flag("-v,--verbose", request_.verbose,
                 "Prints a report as a line of text on standard error.")
        ->group(running);
    app.add_flag("--quiet", request_.quiet, "Prints no progress line and no report.")
        ->group(running);

    for (const Refused &refused : kRefused) {
      const std::string name = std::string("--refused-") + refused.name;
      const auto refuse = [&refused] {
        throw Failure(ExitCode::kUsage, fmt::format("-{}: {}", refused.name, refused.reason));
      };
      if (refused.takes_value)
        app.add_option_function<std::string>(name, [refuse](const std::string &) { refuse(); })
            ->group("");
      else
        app.add_flag_callback(name, refuse)->group("");
    }
  }

  void run(std::vector<SecretBytes> secrets) override {
    if (encrypt_ && decrypt_) throw Failure(ExitCode::kUsage, "-e and -d exclude each other");
    if (encrypt_ || decrypt_) request_.encrypt = encrypt_;
    if (cipher_.empty())
      throw Failure(ExitCode::kUsage, "no cipher was given: add one such as -aes-256-ctr");
    const auto cipher = find_cipher(cipher_);
    if (!cipher)
      throw Failure(ExitCode::kUsage, fmt::format("unknown cipher '{}': there are {}", cipher_,
                                                  fmt::join(cipher_names(), ", ")));
    request_.cipher = *cipher;
    const auto take = [&](const std::optional<size_t> &number) -> std::optional<SecretBytes> {
      if (!number) return std::nullopt;
      return std::move(secrets.at(*number));
    };
    request_.passphrase = take(passphrase_);
    request_.passphrase_source = take(pass_);
    if (key_ && key_source_)
      throw Failure(ExitCode::kUsage, "-K and -key-source exclude each other");
    request_.key = take(key_);
    request_.key_source = take(key_source_);
    request_.passphrase_file = kfile_;
    request_.iv = iv_;
    request_.salt = salt_;
    if (salt_ && request_.no_salt)
      throw Failure(ExitCode::kUsage, "-S and -nosalt exclude each other");
    request_.derivation.pbkdf2 = pbkdf2_ || iterations_;
    if (iterations_) request_.derivation.iterations = *iterations_;
    if (digest_) request_.derivation.digest = *digest_;
    request_.pad = !no_pad_;
    request_.devices = devices_;
    if (chunk_bytes_ && *chunk_bytes_ % kBlockBytes != 0)
      throw Failure(ExitCode::kUsage, "--chunk must be a multiple of 16 bytes");
    request_.chunk_bytes = chunk_bytes_;
    encrypt_file(request_);
  }

 private:
  EncryptRequest request_;
  bool encrypt_ = false, decrypt_ = false;
  std::string cipher_;
  std::optional<size_t> passphrase_, pass_, key_, key_source_;  // indices into `secrets`
  std::optional<std::string> kfile_, iv_, salt_, digest_, devices_;
  std::optional<int> iterations_;
  std::optional<size_t> chunk_bytes_;
  bool pbkdf2_ = false, salted_ = false, no_pad_ = false;
};

}  // namespace

std::unique_ptr<Subcommand> make_enc() { return std::make_unique<Enc>(true); }
std::unique_ptr<Subcommand> make_dec() { return std::make_unique<Enc>(false); }

}  // namespace lanecrypt::cli
