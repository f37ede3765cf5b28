// SPDX-License-Identifier: Apache-2.0
#include "cli/run/run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/console.h"
#include "cli/failure.h"
#include "cli/program.h"
#include "cli/provider_module.h"
#include "cli/run/configuration.h"
#include "cli/run/private_service.h"
#include "cli/service/ask.h"
#include "cli/subcommand.h"

namespace lanecrypt::cli {
namespace {

constexpr char kHelp[] =
    R"(Runs a program with the OpenSSL provider gpu and a private service (lanecryptd). The
service stops when the program ends. The exit status is that of the program.

Examples:
  lanecrypt run openssl speed -elapsed -seconds 3 -async_jobs 64 rsa2048
  lanecrypt run -- nginx -g 'daemon off;'
)";

class Run : public Subcommand {
 public:
  std::vector<OptionName> option_names() const override {
    return {{"devices", "devices", true},
            {"device", "devices", true},
            {"verify", "verify", true},
            {"help", "help"},
            {"h", "help"}};
  }

  void declare(CLI::App &app) override {
    app.description(kHelp);
    // Only for the help. The parser does not get the program's words.
    app.add_option("PROGRAM", program_, "The program, followed by its own arguments.")
        ->option_text("[ARGUMENT...]");
    app.add_option(
           "--devices,--device", devices_,
           "The service uses these devices, as for enc. The default is LANECRYPT_DEVICES, or "
           "every GPU.")
        ->option_text("LIST");
    app.add_option("--verify", verify_,
                   "Sets how much of a device's output the service checks. The default is sampled.")
        ->option_text("V")
        ->check(CLI::IsMember({"off", "sampled", "full"}));
  }

  void run(std::vector<SecretBytes>) override { wanted_ = true; }

  // Whether to run a program. False if only the help was shown.
  bool wanted() const { return wanted_; }

  // Returns the options for the service.
  std::vector<std::string> service_arguments() const {
    std::vector<std::string> words;
    for (const auto &[option, value] :
         {std::pair("--devices", devices_), std::pair("--verify", verify_)})
      if (value) words.insert(words.end(), {option, *value});
    return words;
  }

 private:
  std::optional<std::string> devices_, verify_, program_;
  bool wanted_ = false;
};

// Returns the index in argv where the program begins: the first word that is not an option, or
// "--". All words from there on belong to the program.
int find_program(int argc, char **argv, const std::vector<OptionName> &options) {
  int at = 2;
  for (; at < argc && argv[at][0] == '-' && std::strcmp(argv[at], "--") != 0; ++at) {
    const std::string_view word = argv[at];
    const std::string_view name = word.substr(std::min(word.find_first_not_of('-'), word.size()));
    // The option's value is the next word. With "=", `name` is not an option's whole name.
    if (std::any_of(options.begin(), options.end(), [&](const OptionName &option) {
          return option.takes_value && option.written == name;
        }))
      ++at;
  }
  return std::min(at, argc);
}

void write_new_file(const PrivateFolder &folder, const char *name, std::string_view text) {
  FileDescriptor file(openat(folder.descriptor.get(), name,
                             O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  int error = file ? 0 : errno;
  while (error == 0 && !text.empty()) {
    const ssize_t bytes = write(file.get(), text.data(), text.size());
    if (bytes >= 0)
      text.remove_prefix(size_t(bytes));
    else if (errno != EINTR)
      error = errno;
  }
  if (error == 0) error = file.close();
  if (error != 0) throw_errno("cannot write " + folder.path + "/" + name, error);
}

void tell_of_devices(const std::string &socket) {
  try {
    const ServiceState state = ask_service(socket);
    if (state.has_usable_device()) return;
    const std::string reason = state.devices.empty() || state.devices[0].reason.empty()
                                   ? ""
                                   : fmt::format(" ({})", state.devices[0].reason);
    complain(fmt::format("there is no usable device{}, so the program runs on the CPU", reason));
  } catch (const Failure &failure) {
    complain(failure.what());
  }
}

// Sets OPENSSL_CONF, so that OpenSSL in the program uses the service.
void set_environment(const PrivateService &service) {
  const std::string module = find_provider_module();
  if (module.empty())
    throw Failure(ExitCode::kFailed,
                  "the provider gpu.so is not installed (LANECRYPT_PROVIDER builds it)");
  const Configuration configuration =
      make_configuration(usual_configuration(), {module, service.socket()});
  write_new_file(service.folder, "openssl.cnf", configuration.text);
  if (!configuration.note.empty()) complain(configuration.note);
  const std::string path = service.folder.path + "/openssl.cnf";
  if (setenv("OPENSSL_CONF", path.c_str(), 1) != 0) throw_errno("cannot set OPENSSL_CONF", errno);
}

// Executes the program. Returns only by throwing Failure. The program inherits what this process
// inherited: its process ID, parent, process group, descriptors, and ignored signals.
void become(char **argv) {
  (void)std::fflush(nullptr);
  execvp(argv[0], argv);
  const int error = errno;
  throw Failure(error == ENOENT ? ExitCode::kNoProgram : ExitCode::kCannotRun,
                fmt::format("cannot run {}: {}", argv[0], std::strerror(error)));
}

int start(int argc, char **argv) {
  Run run;
  const int end = find_program(argc, argv, run.option_names());
  const int code = run_subcommand("run", run, end, argv, 2);
  if (!run.wanted()) return code;
  const bool has_dashes = end < argc && std::strcmp(argv[end], "--") == 0;
  char **const program = argv + end + has_dashes;
  if (*program == nullptr)
    throw Failure(ExitCode::kUsage, "no program is named (see lanecrypt run --help)");
  const PrivateService service =
      start_private_service(sibling_program("lanecryptd"), run.service_arguments());
  wait_until_ready(service);
  set_environment(service);
  tell_of_devices(service.socket());
  become(program);
  return 0;
}

}  // namespace

int start_run(int argc, char **argv) {
  int code = 0;
  try {
    code = start(argc, argv);
  } catch (const Failure &failure) {
    code = fail(failure.code(), failure.what());
  }
  // Lower exit codes belong to the program.
  const bool is_program = code == int(ExitCode::kNoProgram) || code == int(ExitCode::kCannotRun);
  return code == 0 || is_program ? code : int(ExitCode::kRunFailed);
}

}  // namespace lanecrypt::cli
