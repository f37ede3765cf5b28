// lanecryptd: owns the devices of a machine, and does RSA, ML-DSA and SLH-DSA for all its programs
// in common batches.
//
// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <new>
#include <string>

#include "lanecrypt/lanecrypt.h"
#include "process/privilege.h"
#include "service/daemon/daemon.h"
#include "service/daemon/failure.h"
#include "service/daemon/log.h"
#include "service/daemon/system/hardening.h"

namespace lanecrypt::service::daemon {
namespace {

constexpr int kFailed = 1, kUsage = 2;
// EX_TEMPFAIL of sysexits.h.
constexpr int kNoDeviceLeft = 75;
constexpr char kHelp[] =
    R"(Owns the GPUs of this machine, and does RSA, ML-DSA and SLH-DSA of all
programs whose OpenSSL uses the provider gpu, in common batches. It runs in the
foreground.)";
constexpr char kDefaultGroup[] = "lanecrypt";

struct Options {
  std::string socket = "/run/lanecrypt/socket";
  std::string group;
  std::string devices;
  std::string verify = "sampled";
  int ready = -1, until_closed = -1;
  bool end_if_lost = false, version = false;
};

lc_verify verify_of(const std::string &name) {
  if (name == "off") return LC_VERIFY_OFF;
  return name == "full" ? LC_VERIFY_FULL : LC_VERIFY_SAMPLED;
}

std::optional<gid_t> find_group(const Options &options) {
  const bool is_named = !options.group.empty();
  errno = 0;
  const group *const found = getgrnam(is_named ? options.group.c_str() : kDefaultGroup);
  if (found != nullptr) return found->gr_gid;
  if (is_named) throw UsageFailure(fmt::format("there is no group '{}'", options.group));
  return std::nullopt;
}

// Checks that a descriptor from the command line is open, and sets FD_CLOEXEC.
void check_descriptor(int number, const char *option) {
  if (number < 0) return;
  if (fcntl(number, F_SETFD, FD_CLOEXEC) != 0)
    throw UsageFailure(fmt::format("{}: descriptor {} is not open", option, number));
}

void declare(CLI::App &app, Options &options) {
  // Excludes standard input, output and error, which must stay open.
  const CLI::Range kDescriptors(STDERR_FILENO + 1, INT_MAX, "N");
  app.name("lanecryptd");
  app.get_formatter()->column_width(28);
  app.add_option("--socket", options.socket,
                 "where clients connect; otherwise /run/lanecrypt/socket")
      ->option_text("PATH");
  app.add_option("--group", options.group,
                 "group that may connect, besides root and this user; otherwise lanecrypt")
      ->option_text("NAME");
  app.add_option("--devices", options.devices,
                 "which devices; otherwise as LANECRYPT_DEVICES says, or every GPU")
      ->option_text("LIST");
  app.add_option("--verify", options.verify, "how many results the CPU checks: off, sampled, full")
      ->option_text("HOW")
      ->check(CLI::IsMember({"off", "sampled", "full"}));
  app.add_option("--ready-fd", options.ready,
                 "descriptor to write a line to once the devices are open")
      ->option_text("N")
      ->check(kDescriptors);
  app.add_option("--until-closed", options.until_closed,
                 "ends when the other end of this pipe is closed")
      ->option_text("N")
      ->check(kDescriptors);
  app.add_flag("--end-if-lost", options.end_if_lost,
               "ends, with status 75, once its last device is lost");
  app.add_flag("--version", options.version, "print the version");
}

int serve(const Options &options) {
  if (process::is_setuid())
    throw Failure("it must not run with more rights than its caller, such as set-user-ID");
  hold_standard_descriptors();
  check_descriptor(options.ready, "--ready-fd");
  check_descriptor(options.until_closed, "--until-closed");
  const std::optional<gid_t> group = find_group(options);
  Daemon::block_signals();
  harden();
  // Ignores openssl.cnf: it is for other programs, and may activate a provider that is a client of
  // this service.
  (void)setenv("OPENSSL_CONF", "/dev/null", 1);
  const size_t descriptors = raise_descriptor_limit();
  std::optional<Descriptor> given = Listener::from_systemd();
  Service service(options.devices.empty() ? nullptr : options.devices.c_str(),
                  verify_of(options.verify), descriptors);
  const auto listener =
      given ? std::make_unique<Listener>(std::move(*given))
            : std::make_unique<Listener>(options.socket, group, !options.group.empty());
  say(fmt::format("listens on {}", options.socket));
  Daemon daemon(service, *listener,
                {{group}, options.ready, options.until_closed, options.end_if_lost});
  const bool has_ended = daemon.run();
  const int code = daemon.has_lost_devices() ? kNoDeviceLeft : 0;
  if (!has_ended) _exit(code);
  return code;
}

int fail(int code, std::string_view text) {
  say(text);
  return code;
}

int run(int argc, char **argv) {
  Options options;
  CLI::App app(kHelp);
  declare(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp &) {
    fmt::print("{}", app.help());
    return fflush(stdout) == 0 ? 0 : kFailed;
  } catch (const CLI::ParseError &error) {
    return fail(kUsage, fmt::format("{} (see lanecryptd --help)", error.what()));
  }
  if (options.version) {
    fmt::print("lanecryptd {}\n", lc_version());
    return fflush(stdout) == 0 ? 0 : kFailed;
  }
  return serve(options);
}

}  // namespace
}  // namespace lanecrypt::service::daemon

int main(int argc, char **argv) {
  using namespace lanecrypt::service::daemon;
  try {
    return run(argc, argv);
  } catch (const UsageFailure &failure) {
    return fail(kUsage, failure.what());
  } catch (const std::bad_alloc &) {
    return fail(kFailed, "out of memory");
  } catch (const std::exception &error) {
    return fail(kFailed, error.what());
  }
}
