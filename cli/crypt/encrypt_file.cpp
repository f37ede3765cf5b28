// SPDX-License-Identifier: Apache-2.0
#include "cli/crypt/encrypt_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>

#include "cli/console.h"
#include "cli/crypt/chain_engine.h"
#include "cli/crypt/cores_engine.h"
#include "cli/crypt/device_engine.h"
#include "cli/crypt/pipeline.h"
#include "cli/crypt/report.h"
#include "cli/crypt/salted_file.h"
#include "cli/failure.h"
#include "cli/interrupt.h"
#include "cli/io/input.h"
#include "cli/io/output.h"
#include "cli/keys/hex.h"
#include "cli/keys/passphrase.h"
#include "cli/progress_line.h"

namespace lanecrypt::cli {
namespace {

// Below this size the CPU finishes long before a device is open.
constexpr uint64_t kWorthADeviceBytes = 8 << 20;

struct KeyAndIv {
  SecretBytes key;
  Block iv{};
  std::optional<Salt> salt;
  bool write_salt = false;  // the salt is written before the output
};

// Reads the secrets that need no terminal. This happens before the command opens a file, so that
// the first line of standard input is not read as data, and a descriptor number from the user
// cannot be one of the command's own.
void read_secrets(EncryptRequest &request) {
  if (request.key_source && !asks_for_key(*request.key_source))
    request.key = read_key_source(*request.key_source);
  if (request.passphrase) return;
  if (request.passphrase_file)
    request.passphrase = read_passphrase_file(*request.passphrase_file);
  else if (request.passphrase_source)
    request.passphrase = read_passphrase_source(*request.passphrase_source);
}

std::optional<SecretBytes> find_passphrase(EncryptRequest &request) {
  if (request.passphrase) return std::move(request.passphrase);
  if (request.key) return std::nullopt;
  return ask_passphrase(fmt::format("enter {} {} password:", request.cipher.name,
                                    request.encrypt ? "encryption" : "decryption"),
                        request.encrypt);
}

// Makes the key and the IV as openssl enc does: -iv and -K replace what the passphrase gives.
KeyAndIv make_key(EncryptRequest &request, Input &input) {
  const BlockCipherMode &cipher = request.cipher;
  KeyAndIv made;
  made.key = SecretBytes(cipher.key_bytes);
  const std::span<uint8_t> iv(made.iv.data(), cipher.iv_bytes());
  Salt given_salt{};
  if (request.salt) parse_hex(*request.salt, given_salt, "salt (-S)");
  if (request.iv) {
    if (iv.empty())
      complain("warning: iv not used by this cipher");
    else
      parse_hex(*request.iv, iv, "IV (-iv)");
  }
  if (request.key_source && !request.key)
    request.key =
        ask_key(fmt::format("enter {} key in hexadecimal:", cipher.name), request.encrypt);
  const char *key_option = request.key_source ? "-key-source" : "-K";
  if (request.key)
    parse_hex({request.key->text(), request.key->size()}, {made.key.data(), made.key.size()},
              fmt::format("key ({})", key_option));

  const std::optional<SecretBytes> passphrase = find_passphrase(request);
  if (!passphrase) {
    if (!request.iv && !iv.empty())
      throw Failure(ExitCode::kUsage,
                    fmt::format("iv undefined: {} with {} needs -iv too", cipher.name, key_option));
    return made;
  }
  if (!request.no_salt) {
    if (request.salt) {
      made.salt = given_salt;
    } else if (request.encrypt) {
      made.salt = random_salt();
      made.write_salt = true;
    } else {
      made.salt = read_salted_header(input);
    }
  }
  if (!request.derivation.pbkdf2)
    say("*** WARNING : deprecated key derivation used.\n"
        "Using -iter or -pbkdf2 would be better.\n");
  SecretBytes key(cipher.key_bytes);
  Block derived_iv{};
  derive_key(cipher, request.derivation, *passphrase, made.salt, {key.data(), key.size()},
             std::span<uint8_t>(derived_iv.data(), iv.size()));
  if (!request.key) made.key = std::move(key);
  if (!request.iv) made.iv = derived_iv;
  return made;
}

void print_key(const EncryptRequest &request, const KeyAndIv &made) {
  if (made.salt) fmt::print("salt={}\n", to_hex(*made.salt));
  fmt::print("key={}\n", to_hex({made.key.data(), made.key.size()}));
  if (request.cipher.iv_bytes() != 0) fmt::print("iv ={}\n", to_hex(made.iv));
  finish_standard_output();
}

struct Choice {
  Runner runner = Runner::kDevice;
  std::string reason;  // why the CPU does all the work; empty if a device should
};

Choice choose_runner(const EncryptRequest &request, const Input &input, const Output &output) {
  if (request.encrypt && request.cipher.block_mode() == Mode::kCbc)
    return {Runner::kChain, "CBC encryption of one file is one serial chain: it ran on the CPU"};
  // A user who names devices wants them to be used. The same holds for LANECRYPT_FILE_IO, which
  // says how files are read and written.
  if (request.devices || request.require_device || secure_getenv("LANECRYPT_DEVICES")) return {};
  if (input.is_in_memory() && output.is_on_ram_disk() && !secure_getenv("LANECRYPT_FILE_IO") &&
      CoresEngine::is_quick(request.cipher))
    return {Runner::kCores,
            "both files lie in memory, where copies to a device take longer than the cipher: it "
            "ran on the CPU"};
  if (input.size() && *input.size() < kWorthADeviceBytes)
    return {Runner::kDevice, "the input is too small for a device: it ran on the CPU"};
  return {};
}

// Throws Failure, with each device's reason, if no selected device can be used. Runs before
// anything is written.
void require_device(const Context &context) {
  std::string reasons;
  const uint32_t count = context.device_count();
  for (uint32_t i = 0; i < count; i++) {
    const lc_device_info info = context.device(i);
    if (!info.selected) continue;
    if (info.state != LC_DEVICE_UNUSABLE && info.state != LC_DEVICE_LOST) return;
    reasons += fmt::format("; {}: {}", info.id, info.reason);
  }
  throw Failure(
      ExitCode::kNoDevice,
      fmt::format("no usable device, and --require-gpu does not allow the CPU{}", reasons));
}

PipelinePlan make_plan(const EncryptRequest &request, const Input &input, const Block &iv,
                       Runner runner) {
  PipelinePlan plan;
  plan.runner = runner;
  plan.cipher = request.cipher;
  plan.encrypt = request.encrypt;
  plan.pad = request.pad;
  plan.iv = iv;
  plan.chunk_bytes = request.chunk_bytes.value_or(0);
  suit_machine(plan, input.size());
  return plan;
}

void print_report(const EncryptRequest &request, const Report &report, bool data_on_stdout) {
  if (request.json) {
    const std::string line = to_json(report) + "\n";
    if (data_on_stdout)
      say(line);
    else
      fmt::print("{}", line);
  }
  if (request.verbose || (!request.quiet && !request.json && isatty(STDERR_FILENO)))
    say(to_text(report) + "\n");
}

}  // namespace

void encrypt_file(EncryptRequest &request) {
  check_digest(request.derivation.digest);
  read_secrets(request);
  Input input(request.in);
  std::optional<Output> output;
  if (!request.print_key_only) output.emplace(request.out, input.status());
  const KeyAndIv made = make_key(request, input);
  if (request.print_key || request.print_key_only) print_key(request, made);
  if (request.print_key_only) return;

  // The time starts here, because a user may have been typing before.
  const auto start = std::chrono::steady_clock::now();
  const auto seconds_since_start = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  const InterruptWatch watch([&output] { output->discard(); });
  input.read_ahead(kWorthADeviceBytes);

  Report report;
  const Choice choice = choose_runner(request, input, *output);
  report.note = choice.reason;
  if (choice.runner == Runner::kChain && request.require_device)
    throw Failure(ExitCode::kNoDevice,
                  "CBC encryption of one file is one serial chain, which no device can run; "
                  "--require-gpu does not allow the CPU");
  const PipelinePlan plan = make_plan(request, input, made.iv, choice.runner);
  Progress progress;
  std::optional<Context> context;
  std::unique_ptr<Engine> engine;
  try {
    if (choice.runner == Runner::kChain) {
      engine = std::make_unique<ChainEngine>(request.cipher, made.key, made.iv);
      progress.set_device("CPU (CBC encryption is serial)");
    } else if (choice.runner == Runner::kCores) {
      engine = std::make_unique<CoresEngine>(request.cipher, request.encrypt, made.key, input);
      progress.set_device("CPU");
    } else {
      const char *devices = request.devices ? request.devices->c_str() : nullptr;
      context.emplace(report.note.empty() ? devices : "none",
                      request.require_device ? LC_FALLBACK_NONE : LC_FALLBACK_CPU);
      if (request.require_device) require_device(*context);
      context->pinned(kBlockBytes);  // opens the device now, which takes long, so that
                                     // start_seconds includes it
      engine = std::make_unique<DeviceEngine>(*context, request.cipher, request.encrypt, made.key,
                                              progress);
    }
    report.start_seconds = seconds_since_start();

    const ProgressLine line(progress, input.size(), !request.quiet);
    output->create();
    std::vector<uint8_t> header;
    if (made.write_salt) {
      const auto salted = salted_header(*made.salt);
      header.assign(salted.begin(), salted.end());
    }
    const PipelineOutcome outcome = run_pipeline(plan, input, *output, header, *engine, progress);
    report.output_bytes = outcome.bytes;
    report.input_io = outcome.input_io;
    report.output_io = outcome.output_io;
    output->commit(request.sync);
  } catch (const Error &error) {
    throw failure_of(error);
  }
  input.finish();
  if (input.has_grown())
    complain(
        fmt::format("warning: {} became longer while it was being read; what came after its first "
                    "{} bytes is not in the output",
                    input.name(), progress.done_bytes()));

  report.seconds = seconds_since_start();
  report.cpu_seconds = process_cpu_seconds();
  report.cipher = request.cipher.name;
  report.direction = request.encrypt ? "encrypt" : "decrypt";
  report.bytes = progress.done_bytes();
  if (!context) {
    report.cpu_bytes = report.bytes;
  } else {
    const auto &device_engine = static_cast<const DeviceEngine &>(*engine);
    report.device_bytes = device_engine.device_bytes();
    report.cpu_bytes = device_engine.cpu_bytes();
    report.devices = devices_used(*context);
  }
  print_report(request, report, output->reaches_stdout());
}

}  // namespace lanecrypt::cli
