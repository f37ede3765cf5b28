// Tests published vectors of RSA decryption, through the provider: the OAEP vectors of PKCS #1,
// OAEP with other digests and with a label, and PKCS #1 v1.5. dev/setup fetches no CAVP files for
// the raw primitive (RSADP).
//
// SPDX-License-Identifier: Apache-2.0
#include <openssl/x509.h>

#include "provider/rsa/rsa_vector_files.h"

namespace provider_test {
namespace {

struct Oaep {
  std::string digest, mgf1;
  Bytes label;
};

class RsaDecryptionVectors : public RsaVectors {
 protected:
  // open() decrypts. If `oaep` is nullptr, the padding is PKCS #1 v1.5.
  Bytes open(const Pkey &key, const Bytes &sealed, const Oaep *oaep) {
    const PkeyContext context = context_for(library, key.get(), kProperties[1]);
    Bytes opened(sealed.size() + 1);
    size_t bytes = opened.size();
    bool done =
        O(EVP_PKEY_decrypt_init)(context.get()) == 1 &&
        O(EVP_PKEY_CTX_set_rsa_padding)(
            context.get(), oaep != nullptr ? RSA_PKCS1_OAEP_PADDING : RSA_PKCS1_PADDING) == 1;
    if (done && oaep != nullptr) {
      Oaep given = *oaep;
      std::vector<OSSL_PARAM> params = {{OSSL_ASYM_CIPHER_PARAM_OAEP_DIGEST, OSSL_PARAM_UTF8_STRING,
                                         given.digest.data(), given.digest.size(), 0},
                                        {OSSL_ASYM_CIPHER_PARAM_MGF1_DIGEST, OSSL_PARAM_UTF8_STRING,
                                         given.mgf1.data(), given.mgf1.size(), 0}};
      if (!given.label.empty())
        params.push_back({OSSL_ASYM_CIPHER_PARAM_OAEP_LABEL, OSSL_PARAM_OCTET_STRING,
                          given.label.data(), given.label.size(), 0});
      params.push_back(OSSL_PARAM_END);
      done = O(EVP_PKEY_CTX_set_params)(context.get(), params.data()) == 1;
    }
    done = done && O(EVP_PKEY_decrypt)(context.get(), opened.data(), &bytes, sealed.data(),
                                       sealed.size()) == 1;
    EXPECT_TRUE(done) << take_error_texts();
    opened.resize(done ? bytes : 0);
    return opened;
  }

  // check() reads all examples of a file, and decrypts the selected ones.
  void check(const std::string &name, size_t examples, size_t of_emulator, const Oaep *oaep) {
    Pkey key;
    size_t seen = 0, taken = 0;
    const uint64_t before = rsa_device_jobs(library);
    read_blocks(name, [&](const std::string &last, const Values &values) {
      const auto value = [&](const char *of) { return from_hex(values.at(of)); };
      if (last == "Coefficient")
        key = private_key(value("Modulus"), value("Public exponent"), value("Exponent"),
                          value("Prime 1"), value("Prime 2"));
      if (last != "Encryption" || !is_taken(seen++, of_emulator)) return;
      ++taken;
      if (oaep == nullptr) {
        EXPECT_EQ(value("Message"), open(key, value("Encryption"), nullptr)) << name;
        return;
      }
      Oaep named = *oaep;
      if (values.contains("alg")) named = {values.at("alg"), values.at("mgf1"), {}};
      EXPECT_EQ(value("Message"), open(key, value("Encryption"), &named)) << name;
    });
    EXPECT_EQ(examples, seen) << name;
    EXPECT_EQ(taken, rsa_device_jobs(library) - before) << name;
  }
};

TEST_F(RsaDecryptionVectors, OaepOfPkcs1) {
  const Oaep sha1{"SHA1", "SHA1", {}};
  check("pkcs-1v2-1d2-vec/oaep-vect.txt", 60, 1, &sha1);
  EXPECT_EQ(rsa_jobs(library), rsa_device_jobs(library));
}

TEST_F(RsaDecryptionVectors, OaepOfOtherDigests) {
  static constexpr const char *kDigests[] = {"sha1", "sha224", "sha256", "sha384", "sha512"};
  for (const char *first : kDigests)
    for (const char *second : kDigests) {
      const std::string file = std::string("oaep-custom/oaep-") + first + "-" + second + ".txt";
      const Oaep none{};
      // SHA-1 for both is in the file of PKCS #1.
      if (first != kDigests[0] || second != kDigests[0]) check(file, 60, 6, &none);
    }
  EXPECT_EQ(rsa_jobs(library), rsa_device_jobs(library));
}

TEST_F(RsaDecryptionVectors, OaepWithALabel) {
  size_t opened = 0;
  for (const Values &values : read_cases("oaep-label.txt", "Output")) {
    const Bytes der = from_hex(values.at("KEY"));
    const uint8_t *at = der.data();
    const Pkey key(
        O(d2i_AutoPrivateKey_ex)(nullptr, &at, long(der.size()), library.get(), kProperties[0]));
    ASSERT_TRUE(key);
    const Oaep oaep{values.at("OAEPDigest"), values.at("OAEPDigest"),
                    from_hex(values.at("OAEPLabel"))};
    const Bytes text = open(key, from_hex(values.at("Input")), &oaep);
    EXPECT_EQ(values.at("Output"), "\"" + std::string(text.begin(), text.end()) + "\"");
    ++opened;
  }
  EXPECT_EQ(1u, opened);
  EXPECT_EQ(1u, rsa_device_jobs(library));
}

TEST_F(RsaDecryptionVectors, Pkcs1) {
  check("pkcs1v15crypt-vectors.txt", 300, 5, nullptr);
  EXPECT_EQ(rsa_jobs(library), rsa_device_jobs(library));
}

}  // namespace
}  // namespace provider_test
