// NIST's CAVP vectors of RSA signatures (FIPS 186-2 and 186-3) and the vectors of
// RSA-OAEP that came with PKCS #1, through the provider. They are no part of the
// repository: LANECRYPT_CAVP_DIR names their folder.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <openssl/bn.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>

#include "provider/rsa_twins.h"

namespace provider_test {
namespace {

std::string folder() {
  const char *path = std::getenv("LANECRYPT_CAVP_DIR");
  return path == nullptr ? "" : std::string(path) + "/asymmetric/RSA/";
}

Bytes from_hex(const std::string &text) {
  Bytes bytes;
  std::string digits;
  for (const char c : text)
    if (std::isxdigit(static_cast<unsigned char>(c))) digits += c;
  if (digits.size() % 2 == 1) digits.insert(digits.begin(), '0');
  for (size_t at = 0; at < digits.size(); at += 2)
    bytes.push_back(uint8_t(std::stoi(digits.substr(at, 2), nullptr, 16)));
  return bytes;
}

using Values = std::map<std::string, std::string>;

// The cases of an .rsp file: each ends with the line `last`, and keeps what the
// lines before it said.
std::vector<Values> read_cases(const std::string &name, const std::string &last) {
  std::vector<Values> cases;
  std::ifstream file(folder() + name);
  EXPECT_TRUE(file.is_open()) << name;
  Values values;
  for (std::string line; std::getline(file, line);) {
    const size_t equals = line.find(" = ");
    if (line.empty() || line[0] == '#' || line[0] == '[' || equals == std::string::npos) continue;
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back()))) line.pop_back();
    const std::string key = line.substr(line.find_first_not_of(' '), equals);
    values[key] = line.substr(equals + 3);
    if (key == last) cases.push_back(values);
  }
  return cases;
}

// Numbers of libcrypto, for the parts of a key that a file leaves out.
struct FreeNumber {
  void operator()(BIGNUM *number) const { O(BN_clear_free)(number); }
};
using Number = std::unique_ptr<BIGNUM, FreeNumber>;
Number number_of(const Bytes &bytes) {
  return Number(O(BN_bin2bn)(bytes.data(), int(bytes.size()), nullptr));
}

class RsaVectors : public testing::Test {
 protected:
  Library library{{{"devices", rsa_devices()}, {"rsa", "always"}}};
  void SetUp() override {
    if (folder().empty())
      GTEST_SKIP() << "NIST's CAVP vectors are not here (LANECRYPT_CAVP_DIR; dev/setup fetches "
                      "them)";
    ASSERT_TRUE(library.is_ready()) << library.errors();
  }

  // A public key, or with d, p and q a private one.
  Pkey make_key(const Bytes &n, const Bytes &e, const Bytes &d = {}, const Bytes &p = {},
                const Bytes &q = {}) {
    struct Part {
      const char *name;
      Bytes little_endian;
    };
    std::vector<Part> parts;
    const auto add = [&](const char *name, const BIGNUM *number) {
      Bytes bytes(size_t(O(BN_num_bits)(number) + 7) / 8);
      O(BN_bn2lebinpad)(number, bytes.data(), int(bytes.size()));
      parts.push_back({name, bytes});
    };
    add(OSSL_PKEY_PARAM_RSA_N, number_of(n).get());
    add(OSSL_PKEY_PARAM_RSA_E, number_of(e).get());
    if (!d.empty()) {
      BN_CTX *context = O(BN_CTX_new)();
      const Number private_exponent = number_of(d), first = number_of(p), second = number_of(q),
                   less(O(BN_new)()), part(O(BN_new)());
      add(OSSL_PKEY_PARAM_RSA_D, private_exponent.get());
      add(OSSL_PKEY_PARAM_RSA_FACTOR1, first.get());
      add(OSSL_PKEY_PARAM_RSA_FACTOR2, second.get());
      const char *const exponents[] = {OSSL_PKEY_PARAM_RSA_EXPONENT1,
                                       OSSL_PKEY_PARAM_RSA_EXPONENT2};
      const BIGNUM *const primes[] = {first.get(), second.get()};
      for (int n_th : {0, 1}) {
        O(BN_sub)(less.get(), primes[n_th], O(BN_value_one)());
        O(BN_div)(nullptr, part.get(), private_exponent.get(), less.get(), context);
        add(exponents[n_th], part.get());
      }
      O(BN_mod_inverse)(part.get(), second.get(), first.get(), context);
      add(OSSL_PKEY_PARAM_RSA_COEFFICIENT1, part.get());
      O(BN_CTX_free)(context);
    }
    std::vector<OSSL_PARAM> params;
    for (Part &part : parts)
      params.push_back({part.name, OSSL_PARAM_UNSIGNED_INTEGER, part.little_endian.data(),
                        part.little_endian.size(), 0});
    params.push_back(OSSL_PARAM_END);
    const PkeyContext context(O(EVP_PKEY_CTX_new_from_name)(library.get(), "RSA", kProperties[1]));
    EVP_PKEY *key = nullptr;
    EXPECT_EQ(1, O(EVP_PKEY_fromdata_init)(context.get()));
    EXPECT_EQ(
        1, O(EVP_PKEY_fromdata)(context.get(), &key,
                                d.empty() ? EVP_PKEY_PUBLIC_KEY : EVP_PKEY_KEYPAIR, params.data()))
        << take_error_texts();
    return Pkey(key);
  }

  bool verifies(const Pkey &key, const Values &values, bool pss, int salt) {
    EVP_MD_CTX *context = O(EVP_MD_CTX_new)();
    EVP_PKEY_CTX *inner = nullptr;
    const Bytes message = from_hex(values.at("Msg")), signature = from_hex(values.at("S"));
    int result = O(EVP_DigestVerifyInit_ex)(context, &inner, values.at("SHAAlg").c_str(),
                                            library.get(), kProperties[1], key.get(), nullptr);
    if (result == 1 && pss) {
      result = O(EVP_PKEY_CTX_set_rsa_padding)(inner, RSA_PKCS1_PSS_PADDING);
      if (result == 1) result = O(EVP_PKEY_CTX_set_rsa_pss_saltlen)(inner, salt);
    }
    if (result == 1)
      result = O(EVP_DigestVerify)(context, signature.data(), signature.size(), message.data(),
                                   message.size());
    O(EVP_MD_CTX_free)(context);
    take_errors();
    return result == 1;
  }
  Bytes sign(const Pkey &key, const Values &values) {
    EVP_MD_CTX *context = O(EVP_MD_CTX_new)();
    const Bytes message = from_hex(values.at("Msg"));
    Bytes signature(1024);
    size_t bytes = signature.size();
    const bool done =
        O(EVP_DigestSignInit_ex)(context, nullptr, values.at("SHAAlg").c_str(), library.get(),
                                 kProperties[1], key.get(), nullptr) == 1 &&
        O(EVP_DigestSign)(context, signature.data(), &bytes, message.data(), message.size()) == 1;
    O(EVP_MD_CTX_free)(context);
    EXPECT_TRUE(done) << take_error_texts();
    signature.resize(done ? bytes : 0);
    return signature;
  }
};

TEST_F(RsaVectors, GeneratedSignaturesVerify) {
  for (const auto &[name, pss] : {std::pair{"SigGen15_186-2.rsp", false},
                                  {"SigGen15_186-3.rsp", false},
                                  {"SigGenPSS_186-2.rsp", true},
                                  {"SigGenPSS_186-3.rsp", true}}) {
    const std::vector<Values> cases = read_cases(std::string("FIPS_186-2/") + name, "S");
    EXPECT_EQ(250u, cases.size()) << name;
    std::string last;
    Pkey key;
    for (const Values &values : cases) {
      if (values.at("n") != last)
        key = make_key(from_hex(values.at("n")), from_hex(values.at("e")));
      last = values.at("n");
      EXPECT_TRUE(verifies(key, values, pss, RSA_PSS_SALTLEN_AUTO)) << name;
    }
  }
}

TEST_F(RsaVectors, SignaturesAreMadeAndJudged) {
  size_t made = 0, judged = 0;
  for (const auto &[name, pss] :
       {std::pair{"SigVer15_186-3.rsp", false}, {"SigVerPSS_186-3.rsp", true}})
    for (const Values &values : read_cases(std::string("FIPS_186-2/") + name, "Result")) {
      const Bytes n = from_hex(values.at("n")), e = from_hex(values.at("e"));
      const Pkey open = make_key(n, e);
      const bool right = values.at("Result")[0] == 'P';
      const int salt = pss ? int(from_hex(values.at("SaltVal")).size()) : 0;
      EXPECT_EQ(right, verifies(open, values, pss, salt)) << name << " " << values.at("Result");
      ++judged;
      if (!right || pss) continue;
      const Pkey key = make_key(n, e, from_hex(values.at("d")), from_hex(values.at("p")),
                                from_hex(values.at("q")));
      EXPECT_EQ(from_hex(values.at("S")), sign(key, values)) << name;
      ++made;
    }
  EXPECT_EQ(900u, judged);
  EXPECT_GT(made, 20u);
  EXPECT_EQ(made, rsa_device_jobs(library));
  EXPECT_EQ(0u, library.counter("lanecrypt.rsa-failures"));
}

// "# Name:" and then lines of hexadecimal bytes.
TEST_F(RsaVectors, OaepDecrypts) {
  std::ifstream file(folder() + "pkcs-1v2-1d2-vec/oaep-vect.txt");
  ASSERT_TRUE(file.is_open());
  Values values;
  std::string name;
  Pkey key;
  size_t decrypted = 0;
  const auto end_of_value = [&] {
    if (name == "Coefficient")
      key = make_key(from_hex(values["Modulus"]), from_hex(values["Public exponent"]),
                     from_hex(values["Exponent"]), from_hex(values["Prime 1"]),
                     from_hex(values["Prime 2"]));
    if (name != "Encryption") return;
    const Bytes sealed = from_hex(values["Encryption"]);
    const PkeyContext context = context_for(library, key.get(), kProperties[1]);
    Bytes opened(sealed.size());
    size_t bytes = opened.size();
    ASSERT_EQ(1, O(EVP_PKEY_decrypt_init)(context.get()));
    ASSERT_EQ(1, O(EVP_PKEY_CTX_set_rsa_padding)(context.get(), RSA_PKCS1_OAEP_PADDING));
    ASSERT_EQ(
        1, O(EVP_PKEY_decrypt)(context.get(), opened.data(), &bytes, sealed.data(), sealed.size()))
        << take_error_texts();
    opened.resize(bytes);
    EXPECT_EQ(from_hex(values["Message"]), opened);
    ++decrypted;
  };
  for (std::string line; std::getline(file, line);) {
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back()))) line.pop_back();
    if (line.starts_with("# ") && line.ends_with(":")) {
      name = line.substr(2, line.size() - 3);
      values[name].clear();
    } else if (line.empty() || line[0] == '#' || line[0] == '=') {
      if (!name.empty() && !values[name].empty()) end_of_value();
      name.clear();
    } else if (!name.empty()) {
      values[name] += line;
    }
  }
  EXPECT_EQ(60u, decrypted);
  EXPECT_EQ(60u, rsa_device_jobs(library));
}

}  // namespace
}  // namespace provider_test
