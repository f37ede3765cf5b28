// `lanecrypt slh-dsa verify`: checks the signature of each file.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string>
#include <vector>

#include "cli/crypt/device_engine.h"
#include "cli/failure.h"
#include "cli/hash/checksum_line.h"
#include "cli/slh/devices.h"
#include "cli/slh/messages.h"
#include "cli/slh/slh_dsa.h"

namespace lanecrypt::cli {
namespace {

constexpr char kVerifyHelp[] =
    R"(Verifies SLH-DSA signatures of files (FIPS 205, algorithms 24 and 25), many in one batch. The
signature of FILE is read from FILE.sig, or from the file that --signature names. The context
string and the hash must be those of the signature. If a signature is wrong, the exit status is 3.

Examples:
  lanecrypt slh-dsa verify --key public.pem *.tar
  lanecrypt slh-dsa verify --key public.pem --signature image.signature image.bin
)";

class Verify : public Subcommand {
 public:
  std::vector<OptionName> option_names() const override {
    std::vector<OptionName> names = messages_.option_names();
    SlhDevices::add_names(names);
    return names;
  }

  void declare(CLI::App &app) override {
    app.description(kVerifyHelp);
    messages_.declare(app, "the public key, or the private one",
                      "Reads the signature of one file from this file.");
    devices_.declare(app);
    app.add_flag("--quiet", quiet_, "Prints only the files whose signatures are wrong.");
  }

  void run(std::vector<SecretBytes>) override {
    messages_.prepare_to_verify();
    size_t wrong = 0;
    try {
      const Context context = devices_.open();
      messages_.verify(context, [&](const SignedFile &file) {
        if (!file.is_right) wrong++;
        if (!file.is_right || !quiet_)
          fmt::print("{}", verdict_line(file.name, file.is_right ? "OK" : "FAILED"));
      });
    } catch (const Error &error) {
      throw failure_of(error);
    }
    if (wrong > 0)
      throw Failure(ExitCode::kBadData,
                    fmt::format("{} of {} signatures {} wrong", wrong, messages_.file_count(),
                                wrong == 1 ? "is" : "are"));
  }

 private:
  SlhMessages messages_{"signature"};
  SlhDevices devices_;
  bool quiet_ = false;
};

}  // namespace

std::unique_ptr<Subcommand> make_slh_verify() { return std::make_unique<Verify>(); }

}  // namespace lanecrypt::cli
