// SPDX-License-Identifier: Apache-2.0
#include "cli/service/service.h"

#include <fmt/format.h>

#include <ctime>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "cli/console.h"
#include "cli/failure.h"
#include "cli/program.h"
#include "cli/service/ask.h"
#include "cli/service/report.h"
#include "cli/subcommand.h"

namespace lanecrypt::cli {
namespace {

using Json = nlohmann::ordered_json;

// Base class of the subcommands, which all query the service at --socket.
class Question : public Subcommand {
 public:
  std::vector<OptionName> option_names() const override {
    return {{"socket", "socket", true}, {"json", "json"}, {"help", "help"}, {"h", "help"}};
  }
  void declare(CLI::App &app) override {
    app.add_option(
           "--socket", socket_,
           "Connects to the service at this socket. The default is /run/lanecrypt/socket, or "
           "$XDG_RUNTIME_DIR/lanecrypt/socket if only that exists.")
        ->option_text("PATH");
  }

  int code() const { return code_; }

 protected:
  std::string socket() const { return socket_.value_or(usual_socket()); }
  void end_with(ExitCode code) { code_ = int(code); }

  // Prints the service's JSON text, which has been checked, with `more` before it.
  static void print_json(const std::string &text, Json more) {
    more.update(Json::parse(text));
    fmt::print("{}\n", more.dump(2));
  }

 private:
  std::optional<std::string> socket_;
  int code_ = 0;
};

class Status : public Question {
 public:
  void declare(CLI::App &app) override {
    app.description(
        "Prints whether a service runs, since when, and its devices and clients. The exit status\n"
        "is 5 if no service runs, and 4 if it has no usable device.");
    Question::declare(app);
    app.add_flag("--json", json_, "Prints JSON.");
  }

  void run(std::vector<SecretBytes>) override {
    const std::string at = socket();
    try {
      const std::string text = ask_for_statistics(at);
      const ServiceState state = parse_state(text);
      if (json_)
        print_json(text, {{"running", true}, {"socket", at}});
      else
        fmt::print("{}", status_text(state, at, std::time(nullptr)));
      if (!state.has_usable_device()) end_with(ExitCode::kNoDevice);
    } catch (const Failure &failure) {
      if (json_ && failure.code() == ExitCode::kNoService)
        fmt::print("{}\n", Json{{"running", false}, {"socket", at}}.dump(2));
      throw;
    }
  }

 private:
  bool json_ = false;
};

class Stats : public Question {
 public:
  void declare(CLI::App &app) override {
    app.description(
        "Prints how many operations of each kind the service has done, in which batches, and how\n"
        "long they took.");
    Question::declare(app);
    app.add_flag("--json", json_, "Prints JSON with the histograms.");
  }

  void run(std::vector<SecretBytes>) override {
    const std::string text = ask_for_statistics(socket());
    const ServiceState state = parse_state(text);
    if (json_)
      print_json(text, Json::object());
    else
      fmt::print("{}", stats_text(state));
  }

 private:
  bool json_ = false;
};

class Metrics : public Question {
 public:
  void declare(CLI::App &app) override {
    app.description(
        "Prints all numbers as OpenMetrics text for Prometheus, for the textfile collector of\n"
        "node_exporter. If no service runs, lanecrypt_service_up is 0.");
    Question::declare(app);
  }

  void run(std::vector<SecretBytes>) override {
    try {
      const ServiceState state = ask_service(socket());
      fmt::print("{}", metrics_text(&state));
    } catch (const Failure &failure) {
      if (failure.code() != ExitCode::kNoService) throw;
      // No service is also a result, which the collector must see.
      complain(failure.what());
      fmt::print("{}", metrics_text(nullptr));
    }
  }
};

template <class Kind>
int ask(const char *name, int argc, char **argv) {
  Kind question;
  const int code = run_subcommand(fmt::format("service {}", name), question, argc, argv, 3);
  return code != 0 ? code : question.code();
}

struct Entry {
  const char *name;
  const char *summary;
  int (*start)(const char *name, int argc, char **argv);
};
constexpr Entry kEntries[] = {
    {"status", "Prints whether the service runs, since when, and its devices and clients.",
     ask<Status>},
    {"stats", "Prints counts, batches and times by kind of operation.", ask<Stats>},
    {"metrics", "Prints all numbers for Prometheus.", ask<Metrics>},
};

}  // namespace

int start_service(int argc, char **argv) {
  const std::string_view word = argc > 2 ? argv[2] : "";
  for (const Entry &entry : kEntries)
    if (word == entry.name) return entry.start(entry.name, argc, argv);
  std::string usage =
      "Prints the state of the service lanecryptd.\n\nExamples:\n  lanecrypt service status\n"
      "  lanecrypt service metrics > lanecrypt.prom\n\n"
      "Usage: lanecrypt service WHAT [OPTIONS]; WHAT is one of\n";
  for (const Entry &entry : kEntries)
    usage += fmt::format("  {:<10}{}\n", entry.name, entry.summary);
  if (word == "--help" || word == "-help" || word == "-h" || word == "help") {
    fmt::print("{}", usage);
    return 0;
  }
  if (word.empty()) {
    say(usage);
    return int(ExitCode::kUsage);
  }
  return fail(ExitCode::kUsage,
              fmt::format("unknown question '{}' (see lanecrypt service --help)", word));
}

}  // namespace lanecrypt::cli
