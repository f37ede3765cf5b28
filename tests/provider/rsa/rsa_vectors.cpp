// Tests NIST's CAVP vectors of RSA signatures (FIPS 186-2 and 186-3) and the RSASSA-PSS vectors of
// PKCS #1, through the provider.
//
// SPDX-License-Identifier: Apache-2.0
#include "provider/rsa/rsa_vector_files.h"

namespace provider_test {
namespace {

class RsaSignatureVectors : public RsaVectors {
 protected:
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

  // sign() signs with PKCS #1 v1.5.
  Bytes sign(const Pkey &key, const std::string &digest, const Bytes &message) {
    EVP_MD_CTX *context = O(EVP_MD_CTX_new)();
    Bytes signature(1024);
    size_t bytes = signature.size();
    const bool done =
        O(EVP_DigestSignInit_ex)(context, nullptr, digest.c_str(), library.get(), kProperties[1],
                                 key.get(), nullptr) == 1 &&
        O(EVP_DigestSign)(context, signature.data(), &bytes, message.data(), message.size()) == 1;
    O(EVP_MD_CTX_free)(context);
    EXPECT_TRUE(done) << take_error_texts();
    signature.resize(done ? bytes : 0);
    return signature;
  }

  // sign_pss() signs with PSS and a given salt. OpenSSL accepts no salt, so the message is encoded
  // here, and the provider does the raw operation.
  Bytes sign_pss(const Pkey &key, const std::string &digest, const Bytes &message,
                 const Bytes &salt) {
    const Bytes encoded =
        pss_encoded(size_t(O(EVP_PKEY_get_bits)(key.get())), digest, message, salt);
    const PkeyContext context = context_for(library, key.get(), kProperties[1]);
    Bytes signature(encoded.size());
    size_t bytes = signature.size();
    EXPECT_TRUE(O(EVP_PKEY_sign_init)(context.get()) == 1 &&
                O(EVP_PKEY_CTX_set_rsa_padding)(context.get(), RSA_NO_PADDING) == 1 &&
                O(EVP_PKEY_sign)(context.get(), signature.data(), &bytes, encoded.data(),
                                 encoded.size()) == 1)
        << take_error_texts();
    return signature;
  }

 private:
  Bytes hash(const std::string &digest, const Bytes &data) {
    Bytes value(EVP_MAX_MD_SIZE);
    size_t bytes = 0;
    EXPECT_EQ(1, O(EVP_Q_digest)(library.get(), digest.c_str(), nullptr, data.data(), data.size(),
                                 value.data(), &bytes));
    value.resize(bytes);
    return value;
  }

  // pss_encoded() computes EMSA-PSS (RFC 8017, section 9.1.1), as long as the modulus.
  Bytes pss_encoded(size_t modulus_bits, const std::string &digest, const Bytes &message,
                    const Bytes &salt) {
    Bytes salted(8);
    for (const Bytes &part : {hash(digest, message), salt})
      salted.insert(salted.end(), part.begin(), part.end());
    const Bytes h = hash(digest, salted);
    const size_t encoded_bytes = (modulus_bits - 1 + 7) / 8,
                 data_bytes = encoded_bytes - h.size() - 1;
    Bytes encoded(encoded_bytes);
    encoded[data_bytes - salt.size() - 1] = 1;
    std::copy(salt.begin(), salt.end(), encoded.begin() + long(data_bytes - salt.size()));
    for (size_t at = 0; at < data_bytes; at += h.size()) {
      Bytes seed = h;
      for (int shift = 24; shift >= 0; shift -= 8) seed.push_back(uint8_t(at / h.size() >> shift));
      const Bytes mask = hash(digest, seed);
      for (size_t n = 0; n < mask.size() && at + n < data_bytes; ++n) encoded[at + n] ^= mask[n];
    }
    encoded[0] &= uint8_t(0xff >> (8 * encoded_bytes - (modulus_bits - 1)));
    std::copy(h.begin(), h.end(), encoded.begin() + long(data_bytes));
    encoded.back() = 0xbc;
    encoded.insert(encoded.begin(), (modulus_bits + 7) / 8 - encoded_bytes, 0);
    return encoded;
  }
};

TEST_F(RsaSignatureVectors, GeneratedSignaturesVerify) {
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
        key = public_key(from_hex(values.at("n")), from_hex(values.at("e")));
      last = values.at("n");
      EXPECT_TRUE(verifies(key, values, pss, RSA_PSS_SALTLEN_AUTO)) << name;
    }
  }
}

// The files whose keys also have the private exponent.
TEST_F(RsaSignatureVectors, GeneratedSignaturesAreMade) {
  size_t made = 0;
  for (const auto &[name, pss] :
       {std::pair{"SigGen15_186-2.txt", false}, {"SigGenPSS_186-2.txt", true}}) {
    const std::vector<Values> cases = read_cases(std::string("FIPS_186-2/") + name, "S");
    ASSERT_EQ(250u, cases.size()) << name;
    std::string last;
    Pkey key;
    for (size_t n = 0; n < cases.size(); ++n) {
      const Values &values = cases[n];
      if (!is_taken(n, 10)) continue;
      if (values.at("n") != last)
        key = private_key(from_hex(values.at("n")), from_hex(values.at("e")),
                          from_hex(values.at("d")));
      last = values.at("n");
      const Bytes message = from_hex(values.at("Msg"));
      const std::string &digest = values.at("SHAAlg");
      EXPECT_EQ(from_hex(values.at("S")),
                pss ? sign_pss(key, digest, message, from_hex(values.at("SaltVal")))
                    : sign(key, digest, message))
          << name << " " << n;
      ++made;
    }
  }
  size_t expected = 0;
  for (size_t n = 0; n < 250; ++n) expected += is_taken(n, 10) ? 2 : 0;
  EXPECT_EQ(expected, made);
  EXPECT_EQ(made, rsa_device_jobs(library));
  EXPECT_EQ(made, rsa_jobs(library));
  EXPECT_EQ(0u, library.counter("lanecrypt.rsa-failures"));
}

TEST_F(RsaSignatureVectors, SignaturesAreMadeAndJudged) {
  size_t made = 0, judged = 0, expected = 0;
  for (const auto &[name, pss] :
       {std::pair{"SigVer15_186-3.rsp", false}, {"SigVerPSS_186-3.rsp", true}}) {
    size_t right_ones = 0;
    for (const Values &values : read_cases(std::string("FIPS_186-2/") + name, "Result")) {
      const Bytes n = from_hex(values.at("n")), e = from_hex(values.at("e"));
      const Pkey open = public_key(n, e);
      const bool right = values.at("Result")[0] == 'P';
      const Bytes salt = pss ? from_hex(values.at("SaltVal")) : Bytes();
      EXPECT_EQ(right, verifies(open, values, pss, int(salt.size())))
          << name << " " << values.at("Result");
      ++judged;
      if (!right || !is_taken(right_ones++, 1)) continue;
      const Pkey key = private_key(n, e, from_hex(values.at("d")), from_hex(values.at("p")),
                                   from_hex(values.at("q")));
      const Bytes message = from_hex(values.at("Msg"));
      const std::string &digest = values.at("SHAAlg");
      EXPECT_EQ(from_hex(values.at("S")),
                pss ? sign_pss(key, digest, message, salt) : sign(key, digest, message))
          << name;
      ++made;
    }
    EXPECT_EQ(75u, right_ones) << name;
    for (size_t n = 0; n < right_ones; ++n) expected += is_taken(n, 1) ? 1 : 0;
  }
  EXPECT_EQ(900u, judged);
  EXPECT_EQ(expected, made);
  EXPECT_EQ(made, rsa_device_jobs(library));
  EXPECT_EQ(made, rsa_jobs(library));
  EXPECT_EQ(0u, library.counter("lanecrypt.rsa-failures"));
}

TEST_F(RsaSignatureVectors, PssOfPkcs1IsMade) {
  Pkey key;
  size_t made = 0;
  read_blocks("pkcs-1v2-1d2-vec/pss-vect.txt", [&](const std::string &last, const Values &values) {
    const auto value = [&](const char *name) { return from_hex(values.at(name)); };
    if (last == "Coefficient")
      key = private_key(value("Modulus"), value("Public exponent"), value("Exponent"),
                        value("Prime 1"), value("Prime 2"));
    if (last != "Signature") return;
    EXPECT_EQ(value("Signature"),
              sign_pss(key, "SHA1", value("Message to be signed"), value("Salt")));
    ++made;
  });
  EXPECT_EQ(60u, made);
  EXPECT_EQ(60u, rsa_device_jobs(library));
  EXPECT_EQ(60u, rsa_jobs(library));
}

}  // namespace
}  // namespace provider_test
