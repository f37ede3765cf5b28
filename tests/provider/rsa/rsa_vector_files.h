// The common part of the tests of RSA by published vectors: the files, which are not in the
// repository (LANECRYPT_CAVP_DIR names their folder), and keys from their numbers.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "provider/rsa/rsa_twins.h"

namespace provider_test {

Bytes from_hex(const std::string &text);

// Values has the values of one case. A value that the file gives once also holds for the cases
// after it.
using Values = std::map<std::string, std::string>;

// read_cases() reads the cases of a CAVP file. It has lines "NAME = value", and the one called
// `last` ends a case.
std::vector<Values> read_cases(const std::string &name, const std::string &last);
// read_blocks() reads a file with "# Name:" above lines of hexadecimal bytes, and calls `on_value`
// with each name and with all values so far. A line "# Name alg=sha1 mgf1=sha256" gives the values
// alg and mgf1.
void read_blocks(const std::string &name,
                 const std::function<void(const std::string &last, const Values &)> &on_value);

class RsaVectors : public testing::Test {
 protected:
  Library library{{{"devices", rsa_devices()}, {"rsa", "always"}}};
  void SetUp() override;

  // public_key() imports a public key.
  Pkey public_key(const Bytes &n, const Bytes &e);
  // private_key() imports a private key from its primes, or from its private exponent, from which
  // the primes are computed.
  Pkey private_key(const Bytes &n, const Bytes &e, const Bytes &d, Bytes p, Bytes q);
  Pkey private_key(const Bytes &n, const Bytes &e, const Bytes &d);

  // is_taken() says whether this case is run: the emulator runs one of `of_emulator`, a GPU all.
  static bool is_taken(size_t number, size_t of_emulator);

 private:
  Pkey make_key(int selection, const std::vector<std::pair<const char *, Bytes>> &numbers);
};

}  // namespace provider_test
