// Known answers of SLH-DSA (FIPS 205), made by OpenSSL 3.5.7: `openssl genpkey -pkeyopt
// hexseed:...` and `openssl pkeyutl -sign -rawin -pkeyopt deterministic:1`.
//
// SPDX-License-Identifier: Apache-2.0
#include "verify/slh_known_answers.h"

namespace lanecrypt::verify {
namespace {

constexpr SlhKnownAnswer kAnswers[] = {
    {"SHA2-128s", "990ce6298792b128846a8e4a3a68954c",
     "8cb890a56bf5942702bf51b25ad7ca47cade58fd4867e8ea0e501c0740211649"},
    {"SHA2-128f", "3b56e816847f000386aeec2e2bb9e1b5",
     "0b7e9890730318e5a3e3c7c9844b436f360a52238db380b4224e100cf39331b5"},
    {"SHA2-192s", "b6f282ce116ff59bce2d9fc4a67c6031dabdce326c34f541",
     "deaa6168157108f1e3862cca2bb74558efd501a809b2cb3fbb1c90782b0531f1"},
    {"SHA2-192f", "9236ccebbb3a90ac2452dd89de49dab1340ec02419a2870e",
     "f3bba43b2eba32504c1b2746506ebbabde4600b9174b0ff258b0c60010a1e4fd"},
    {"SHA2-256s", "da7163e601352515bc0f06f9f4f44be71a5a65ee9dca5575cf4a7b6d4a87d6e2",
     "64344b796929c2f962646e1734bf8a2b79df0fa3d3c1956c8028d9df69f806aa"},
    {"SHA2-256f", "42cffe64ddbd6731063752684df77c8b58c225dc6b491208916b654ea1393176",
     "a8516c567edfe48d78415e0b390683cdcb3ac0993cdbb147786c556765f27d24"},
    {"SHAKE-128s", "89fd81fdbb5b94129b14761bdc6bf682",
     "99858c077b9a5c02d8efa8b894d25fd7084124dbeb05200130da1563b596cc37"},
    {"SHAKE-128f", "a90e4715b9a925c332801767fd786371",
     "d8d6ec452cca1014bd4cd05fabafa7284e1249f8aaec56bf9179459ccfebdd7d"},
    {"SHAKE-192s", "eb247f955d8eca24a5860536c56b2c4d1e8d8e835eb27d2d",
     "3be878832fc5942fe8fde58afcdf2987ceb2598665af4db25a7963acab9c82e1"},
    {"SHAKE-192f", "3f01b06bebed020a459696868d115fe8507ded8dc08e825d",
     "37819f2b73149b83092f89404582488ff7bee555eb50df70b1ad2e100a56b97e"},
    {"SHAKE-256s", "27ea444dbc8ca9c169fd484b9e977eb77a4f233550757e025cf180ede7e8839f",
     "315381ab41d46c5399ad21c87d5ecbc14d2812019999172c268c9af3d242c80e"},
    {"SHAKE-256f", "818d7e76beef979b5bbf9161fdefa21bd0fe0bfe19157a5711a8de8a8f6878e6",
     "581ae50c646af9f6e3991fdabb2fed25551a120f5be0ec0ff39025d08bc1116e"},
};

}  // namespace

std::span<const SlhKnownAnswer> slh_known_answers() { return kAnswers; }

}  // namespace lanecrypt::verify
