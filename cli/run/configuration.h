// The openssl.cnf of `lanecrypt run`: what the user's or the system's file says, and the
// provider gpu with a service of its own.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace lanecrypt::cli {

struct ConfigurationWanted {
  std::string module;  // the path of gpu.so
  std::string socket;  // of the service
};

struct Configuration {
  std::string text;
  // What the user should know of it: a sentence, or nothing.
  std::string note;
};

// The text of an openssl.cnf that includes `file`, if OpenSSL can read that, and adds the
// provider under the names that its sections have. `file`: an absolute path, or "" for none.
Configuration make_configuration(const std::string &file, const ConfigurationWanted &wanted);

// The file that OpenSSL would read: OPENSSL_CONF, or the system's. "" if there is none.
std::string usual_configuration();

}  // namespace lanecrypt::cli
