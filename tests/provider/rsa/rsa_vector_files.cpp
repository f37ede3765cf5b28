// Reads files of RSA test vectors, and imports their keys.
//
// SPDX-License-Identifier: Apache-2.0
#include "provider/rsa/rsa_vector_files.h"

#include <openssl/bn.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "test_scale.h"

namespace provider_test {
namespace {

std::string folder() {
  const char *path = std::getenv("LANECRYPT_CAVP_DIR");
  return path == nullptr ? "" : std::string(path) + "/asymmetric/RSA/";
}

void trim_end(std::string &line) {
  while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back()))) line.pop_back();
}

// Number is a libcrypto number, to compute the parts of a key that a file omits.
struct FreeNumber {
  void operator()(BIGNUM *number) const { O(BN_clear_free)(number); }
};
using Number = std::unique_ptr<BIGNUM, FreeNumber>;
Number number_of(const Bytes &bytes) {
  return Number(O(BN_bin2bn)(bytes.data(), int(bytes.size()), nullptr));
}
Bytes bytes_of(const Number &number) {
  Bytes bytes(size_t(O(BN_num_bits)(number.get()) + 7) / 8);
  O(BN_bn2bin)(number.get(), bytes.data());
  return bytes;
}
struct FreeNumbers {
  void operator()(BN_CTX *context) const { O(BN_CTX_free)(context); }
};
using Numbers = std::unique_ptr<BN_CTX, FreeNumbers>;

// primes_of() finds the primes of n from a pair of exponents (SP 800-56B, appendix C): e d - 1 is
// 2^t r, and for half of all g some g^(r 2^s) is a square root of 1 that is not 1 or -1.
std::pair<Bytes, Bytes> primes_of(const Bytes &n_bytes, const Bytes &e, const Bytes &d) {
  const Numbers with(O(BN_CTX_new)());
  const Number n = number_of(n_bytes), less = number_of(n_bytes), odd(O(BN_new)()), g(O(BN_new)()),
               x(O(BN_new)()), next(O(BN_new)()), prime(O(BN_new)());
  O(BN_sub_word)(less.get(), 1);
  O(BN_mul)(odd.get(), number_of(e).get(), number_of(d).get(), with.get());
  O(BN_sub_word)(odd.get(), 1);
  int halvings = 0;
  for (; !O(BN_is_odd)(odd.get()); ++halvings) O(BN_rshift1)(odd.get(), odd.get());
  for (BN_ULONG base = 2; base < 200; ++base) {
    O(BN_set_word)(g.get(), base);
    O(BN_mod_exp)(x.get(), g.get(), odd.get(), n.get(), with.get());
    for (int s = 0; s < halvings; ++s) {
      O(BN_mod_sqr)(next.get(), x.get(), n.get(), with.get());
      if (O(BN_is_one)(next.get()) && !O(BN_is_one)(x.get()) &&
          O(BN_cmp)(x.get(), less.get()) != 0) {
        O(BN_sub_word)(x.get(), 1);
        O(BN_gcd)(prime.get(), x.get(), n.get(), with.get());
        O(BN_div)(next.get(), nullptr, n.get(), prime.get(), with.get());
        return {bytes_of(prime), bytes_of(next)};
      }
      O(BN_copy)(x.get(), next.get());
    }
  }
  ADD_FAILURE() << "e and d belong to no such modulus";
  return {};
}

}  // namespace

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

std::vector<Values> read_cases(const std::string &name, const std::string &last) {
  std::vector<Values> cases;
  std::ifstream file(folder() + name);
  EXPECT_TRUE(file.is_open()) << name;
  Values values;
  for (std::string line; std::getline(file, line);) {
    const size_t equals = line.find(" = ");
    if (line.empty() || line[0] == '#' || line[0] == '[' || equals == std::string::npos) continue;
    trim_end(line);
    const std::string key = line.substr(line.find_first_not_of(' '), equals);
    values[key] = line.substr(equals + 3);
    if (key == last) cases.push_back(values);
  }
  return cases;
}

void read_blocks(const std::string &name,
                 const std::function<void(const std::string &last, const Values &)> &on_value) {
  std::ifstream file(folder() + name);
  ASSERT_TRUE(file.is_open()) << name;
  Values values;
  std::string now;
  for (std::string line; std::getline(file, line);) {
    trim_end(line);
    if (!line.empty() && line[0] != '#' && line[0] != '=') {
      if (!now.empty()) values[now] += line;
      continue;
    }
    if (!now.empty() && !values[now].empty()) on_value(now, values);
    now.clear();
    if (!line.starts_with("# ")) continue;
    if (line.ends_with(":")) {
      now = line.substr(2, line.size() - 3);
      values[now].clear();
    }
    std::istringstream words(line);
    for (std::string word; words >> word;)
      if (const size_t equals = word.find('='); equals != std::string::npos)
        values[word.substr(0, equals)] = word.substr(equals + 1);
  }
  if (!now.empty() && !values[now].empty()) on_value(now, values);
}

void RsaVectors::SetUp() {
  if (folder().empty())
    GTEST_SKIP() << "NIST's CAVP vectors are not here (LANECRYPT_CAVP_DIR; dev/setup fetches "
                    "them)";
  ASSERT_TRUE(library.is_ready()) << library.errors();
}

bool RsaVectors::is_taken(size_t number, size_t of_emulator) {
  return rsa_devices() != "host" || number % (scaled(10) < 10 ? 10 : of_emulator) == 0;
}

Pkey RsaVectors::make_key(int selection,
                          const std::vector<std::pair<const char *, Bytes>> &numbers) {
  std::vector<Bytes> native;
  for (const auto &[name, bytes] : numbers) native.emplace_back(bytes.rbegin(), bytes.rend());
  std::vector<OSSL_PARAM> params;
  for (size_t n = 0; n < numbers.size(); ++n)
    params.push_back(
        {numbers[n].first, OSSL_PARAM_UNSIGNED_INTEGER, native[n].data(), native[n].size(), 0});
  params.push_back(OSSL_PARAM_END);
  const PkeyContext context(O(EVP_PKEY_CTX_new_from_name)(library.get(), "RSA", kProperties[1]));
  EVP_PKEY *key = nullptr;
  EXPECT_EQ(1, O(EVP_PKEY_fromdata_init)(context.get()));
  EXPECT_EQ(1, O(EVP_PKEY_fromdata)(context.get(), &key, selection, params.data()))
      << take_error_texts();
  return Pkey(key);
}

Pkey RsaVectors::public_key(const Bytes &n, const Bytes &e) {
  return make_key(EVP_PKEY_PUBLIC_KEY, {{OSSL_PKEY_PARAM_RSA_N, n}, {OSSL_PKEY_PARAM_RSA_E, e}});
}

Pkey RsaVectors::private_key(const Bytes &n, const Bytes &e, const Bytes &d, Bytes p, Bytes q) {
  const Numbers with(O(BN_CTX_new)());
  const Number exponent = number_of(d), first = number_of(p), second = number_of(q);
  std::vector<std::pair<const char *, Bytes>> numbers = {{OSSL_PKEY_PARAM_RSA_N, n},
                                                         {OSSL_PKEY_PARAM_RSA_E, e},
                                                         {OSSL_PKEY_PARAM_RSA_D, d},
                                                         {OSSL_PKEY_PARAM_RSA_FACTOR1, p},
                                                         {OSSL_PKEY_PARAM_RSA_FACTOR2, q}};
  const Number less(O(BN_new)()), part(O(BN_new)());
  for (const auto &[name, prime] : {std::pair{OSSL_PKEY_PARAM_RSA_EXPONENT1, first.get()},
                                    {OSSL_PKEY_PARAM_RSA_EXPONENT2, second.get()}}) {
    O(BN_sub)(less.get(), prime, O(BN_value_one)());
    O(BN_div)(nullptr, part.get(), exponent.get(), less.get(), with.get());
    numbers.emplace_back(name, bytes_of(part));
  }
  O(BN_mod_inverse)(part.get(), second.get(), first.get(), with.get());
  numbers.emplace_back(OSSL_PKEY_PARAM_RSA_COEFFICIENT1, bytes_of(part));
  return make_key(EVP_PKEY_KEYPAIR, numbers);
}

Pkey RsaVectors::private_key(const Bytes &n, const Bytes &e, const Bytes &d) {
  const auto [p, q] = primes_of(n, e, d);
  return private_key(n, e, d, p, q);
}

}  // namespace provider_test
