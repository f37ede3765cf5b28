// SPDX-License-Identifier: Apache-2.0
#include "verify/rsa_known_answers.h"

#include <string_view>

#include "cpu/rsa/cpu_rsa.h"
#include "verify/hex.h"

namespace lanecrypt::verify {
namespace {

// A key and one operation, computed once for this file by plain exponentiation.
constexpr std::string_view kP =
    "d469e2f058bf71356453ed856c4f176d01ff8c51cb310f404542c5ceba71fda95db03a65bd3c36d5"
    "64beb151e5a23260e0739a0866323e760d2bed86534f477022f1e32dcba045a824a367602f2ab129"
    "572c62c6b7ff4962ed598ec47cda31bf90e977e57a743115b1e05d9e7c89eaa165489a993302b865"
    "4eb0c8df48812f05";
constexpr std::string_view kQ =
    "ec1d59ad63b54b829acabf18d2d035e5fd83c4f637667453ad757fac13b71b73af38818aa239ff48"
    "edb8215aa9df7878aa1e7d73afa92ed00c57fd4644c5626b10235638dd99ddf78bab961b2d824a07"
    "6cb4104736a65045c56389e9b4c69da5b190225801cae755824cf9bd49cbdb5b7d6a3cc40bcb3590"
    "6b9cac90725de09d";
constexpr std::string_view kInput =
    "000b30557a9fc4e90e33587da2c7ec11365b80a5caef14395e83a8cdf2173c6186abd0f51a3f6489"
    "aed3f81d42678cb1d6fb20456a8fb4d9fe23486d92b7dc01264b7095badf04294e7398bde2072c51"
    "769bc0e50a2f54799ec3e80d32577ca1c6eb10355a7fa4c9ee13385d82a7ccf1163b6085aacff419"
    "3e6388add2f71c41668bb0d5fa1f44698eb3d8fd22476c91b6db00254a6f94b9de03284d7297bce1"
    "062b50759abfe4092e53789dc2e70c31567ba0c5ea0f34597ea3c8ed12375c81a6cbf0153a5f84a9"
    "cef3183d6287acd1f61b40658aafd4f91e43688db2d7fc21466b90b5daff24496e93b8dd02274c71"
    "96bbe0052a4f7499bee3082d52779cc1";
constexpr std::string_view kOutput =
    "33eda1c2e4ec157b60b2eeac3cceee21a4defc00530c3b9b4a186939a738f79acc32f1261d43b4a9"
    "2fa129a395b48d9156ca4271b654fe9316bcdd04631d272c8990ca05b0a1c624df1e02adb7677351"
    "712db6692c507001f3f34686e5faafa3aad2943d9367a9667f3e8b6d4376d2269a8c845fcb533cbb"
    "8ec68a43ffc6e9fea59282958e03f6eba034b7f4eeeab55a39321f23568e1a3cd7fe039c46679498"
    "32109c4394db9b42dbfa939549393750ae0e38bf4ffcbcae1106cb453a14de45cbfad5afc7acc7a9"
    "0a23bebf16b5f0b55a81776a51a637502afe76bac80d1a0d91c0f37347a9f77332ab870969837ee1"
    "fb1e2e81d37c61e9a422fd7b118d058c";
constexpr std::string_view kDp =
    "45d55200c68c9a017dac82083d657b4421460cb1cf659fa7f79d4e3efad903162d7104a1f226dbb8"
    "2858f11f05a9df7a2e1093717377cd452e6b64b9a6a607cc7c109e29ae2a50fc489f581b2d2691fc"
    "0f66ce4a9aaf594726d52cb4b87f5b9fa95ab84a3f89f7a1344b993bc3a1ebfb87bae8e8b8f689fc"
    "f473f67641f606a9";
constexpr std::string_view kDq =
    "d098c18060a56b77901f6ca296a4a1e97586737cfec6c220a70f366324ebd111ec0c64cdc0b2b269"
    "90b2eaacb985175eab14d2ca60b77c070bd0b48edef4ef151d25cae7e4472a85a75c48f9ebc3be79"
    "3ebcf9e0a0546078b38153f727e18ca734eedc9899c4d38984db528bbb65a17efb96dee66870f7fa"
    "8647dd60a3d97235";
constexpr std::string_view kQinv =
    "1884ac9102f7601479107f927812ab8703a37439f7d7255dbf9924102fcdfd1b023f008f448fd97a"
    "f52416f16147608736a6ed3c4c72e416cc7f6b2eddbcb9a0958f8bc0ea849b8755705a470807f080"
    "f3502c5a4cf861091aa0ca6873fe76ff72cc290f2284a653da806c611aa392de4e6692ad1ce93181"
    "a5406e2975513bf8";
constexpr std::string_view kN =
    "c3e9f79cf539d59b5d372a3ffa6302e5ce3d66c5e9fb9404de84af544df13c8e0846c696a6c3b394"
    "783fdaec31a3161a009bd13eacb7099611e677a6963aadbd5ef21f1722c56a88e00e8b8616fcbba2"
    "07d172825b5516a1f81b39503cd5bae4772894059f554c33954025114a8bb57a5747629c6a8b1bb4"
    "4d8546c8f1cd35276f1a7c013e300ea675229fea638f15bff54240468f04bccd27997d66eb9559c9"
    "e6491c499de7ad48a1fbe14db018927579a822e7f21bfd78f1cdc9861b1f6ab1bc1a041ebbbb4fac"
    "48c42d2dfaeb1ac4335893068aae253c885f89686088d5dfe7beadcdb9709882aca6a07cdcd24343"
    "b369ab2090feb627abe33d0ecf2f3611";

}  // namespace

Result<std::vector<RsaKnownAnswer>> rsa_known_answers() {
  const std::vector<uint8_t> n = from_hex(kN), p = from_hex(kP), q = from_hex(kQ),
                             dp = from_hex(kDp), dq = from_hex(kDq), qinv = from_hex(kQinv),
                             e = {1, 0, 1};
  const auto number = [](const std::vector<uint8_t> &bytes) {
    return lc_number{bytes.data(), bytes.size()};
  };
  lc_rsa_parts parts = {};
  parts.struct_size = sizeof parts;
  parts.n = number(n);
  parts.e = number(e);
  parts.p = number(p);
  parts.q = number(q);
  parts.dp = number(dp);
  parts.dq = number(dq);
  parts.qinv = number(qinv);
  Result<std::shared_ptr<RsaKey>> key = copy_rsa_key(&parts);
  if (!key.ok()) return key.status();
  LC_TRY(cpu::prepare(**key));
  const std::vector<uint8_t> input = from_hex(kInput), output = from_hex(kOutput);
  return std::vector<RsaKnownAnswer>{{*key, LC_RSA_PRIVATE, input, output},
                                     {*key, LC_RSA_PUBLIC, output, input}};
}

}  // namespace lanecrypt::verify
