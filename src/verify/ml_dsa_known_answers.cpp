// Known answers of ML-DSA (FIPS 204). The keys were made by OpenSSL 4.0.0, and the signatures by
// this project's code on the CPU; OpenSSL 4.0.0 verifies them.
//
// SPDX-License-Identifier: Apache-2.0
#include "verify/ml_dsa_known_answers.h"

namespace lanecrypt::verify {
namespace {

constexpr MlDsaKnownAnswer kMlDsaAnswers[] = {
    {LC_ML_DSA_44, "c025b87549cc258eba702884b4968ac30e25b3088ae575f21482c93de2b18a92",
     "e576e1a97bda7f5f1e8b745144b35dac4a5da86caf63652032d6614e2f022004"},
    {LC_ML_DSA_65, "6fa7a48250129f8b18b6d6abe0eb4dfd5a7147cb6590cc77b94b353219352362",
     "b4373f4550d868ebcb493998584672527544b6d9430d589d2813227897c75f00"},
    {LC_ML_DSA_87, "deb620dc633ebd59ba01f6d9a170b4e9dbfdc34db16a2ea22fb16e8cbe891af8",
     "2d4c20711818b5ad5ad118b1928c4656ed0f13c51845b20135395a48587354a0"},
};

}  // namespace

std::span<const MlDsaKnownAnswer> ml_dsa_known_answers() { return kMlDsaAnswers; }

}  // namespace lanecrypt::verify
