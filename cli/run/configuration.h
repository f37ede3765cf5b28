// Makes the openssl.cnf of `lanecrypt run`: it includes the user's or the system's file and adds
// the provider gpu with a private service.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace lanecrypt::cli {

struct ConfigurationWanted {
  std::string module;  // the path of gpu.so
  std::string socket;  // the socket of the service
};

struct Configuration {
  std::string text;
  // A sentence for the user about the configuration, or "".
  std::string note;
};

// Returns an openssl.cnf that includes `file`, if OpenSSL can read it, and adds the provider to the
// sections that `file` names. `file` is an absolute path, or "" for none.
Configuration make_configuration(const std::string &file, const ConfigurationWanted &wanted);

// Returns the absolute path of the file that OpenSSL would read: OPENSSL_CONF, or the system's. ""
// if there is none.
std::string usual_configuration();

}  // namespace lanecrypt::cli
