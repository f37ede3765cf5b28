// Known answers of hashes, made by Python's hashlib, by the package blake3 1.0.11, and by the
// definitions of RFC 9162 (section 2.1.1) and SP 800-185 (section 6) on top of them.
//
// SPDX-License-Identifier: Apache-2.0
#include "verify/hash_known_answers.h"

#include <numeric>

#include "verify/hex.h"

namespace lanecrypt::verify {
namespace {

constexpr HashKnownAnswer kHashAnswers[] = {
    {LC_SHA_224, 3, 3, "e615202185aabe2aca924bec29e5a12384f8339eae4e64c9cba9f1da"},
    {LC_SHA_224, 5000, 3, "e5979af35e7b24165b670e84eea4b9ad4b510b27dbe9491b28a7f902"},
    {LC_SHA_256, 3, 3, "ae4b3280e56e2faf83f414a6e3dabe9d5fbe18976544c05fed121accb85b53fc"},
    {LC_SHA_256, 5000, 3, "69dbee893909fa17d1be397e0c07691336fe42049c29d403467d3d4a1fc3b5a1"},
    {LC_SHA_256, 1000, 3, "4e4c294b331f7a2099a379bec34b9f9fc03dc46ab465d998f4d683da53487e6d"},
    {LC_SHA_384, 3, 3,
     "4f895854c1a4fc5aa2e0456eaf8d0ecaa70c196bd901153861d76b8fa3cd95ceea29eab6a279f8b0"
     "8437703ce0b4b91a"},
    {LC_SHA_384, 5000, 3,
     "3592cbbc05f7c49ff1edb2c122f878fb78792cdb3d6883d3a705f902f43cfde95f1bc803445f48b3"
     "eac92224d54f846d"},
    {LC_SHA_512, 3, 3,
     "8081da5f9c1e3d0e1aa16f604d5e5064543cff5d7bace2bb312252461e151b3fe0f034ea8dc1dacf"
     "f3361a892d625fbe1b614cda265f87a473c24b0fa1d91dfd"},
    {LC_SHA_512, 5000, 3,
     "f7b8464be8c23f633cd761a6502801a7d77f59a9eb0523e50bec6b366687258a7c8e5f8b1578e560"
     "76b133a5ea1f0dd3cf439d97ebca4f335818be014a085c86"},
    {LC_SHA3_224, 3, 3, "5fb2b598ee40ef6f46e82cb8264984aaee891c680d89af5c3c36ed45"},
    {LC_SHA3_224, 5000, 3, "4bf885b65e6797e6314ce98b5d143a3f6c7c75d3b15f41617b45b34f"},
    {LC_SHA3_256, 3, 3, "1186d49a4ad620618f760f29da2c593b2ec2cc2ced69dc16817390d861e62253"},
    {LC_SHA3_256, 5000, 3, "71b18b53730a528a5aa13793e50de60280173479946a0f420d25613c1dbff48b"},
    {LC_SHA3_384, 3, 3,
     "427eb9311db30f28bc248174a913c1e5a7948abf0859e522d5b99e29672b3dbbc45fb0f538ee3c98"
     "b728cc47396f6998"},
    {LC_SHA3_384, 5000, 3,
     "8df4f19b6cc23d3e7c1cf2f8609dbdf91a4335a9f569eb2d8919323faa69f29aca9b0c02bf6849f1"
     "1438d158ef048dab"},
    {LC_SHA3_512, 3, 3,
     "123119ad1d6e168e0f20a3af1fb2e29c76bc3f83711cf3ee3122ae37ef6a1c2e094bd4bc53b7f9a4"
     "5c9db1f900f87a3759327a659de341ef1a7b1787afbe9ebc"},
    {LC_SHA3_512, 5000, 3,
     "43fd1127b2d55122028fa3a4b7db1d8201be794917a4bb65604f46b2657f337d790153a52ee40128"
     "b2239381cf6769cdf3079c94e4df2e952b206d47c5ef793d"},
    {LC_SHAKE_128, 3, 3, "203d4b7543731ad58bce7697b39a48eafc4fee548891d1cf94bffd231022a896"},
    {LC_SHAKE_128, 5000, 3, "2a594c0c724b7ebf8263c4ad4cb5330a08c3683bd7185021758e91c28df37085"},
    {LC_SHAKE_256, 3, 3,
     "714501167ead924ea87e422993eea1e67df0ead7b93140c1109470fb66d50aaaff04ddafd104b481"
     "b98b1f4a81be29fa10e54a51b2cf5f804c158a95202ced09"},
    {LC_SHAKE_256, 5000, 3,
     "1f6c2b98546b6772218ac2de47fa809a694b2861d43540c640995d0887392e39f7760ea51e5d1d14"
     "c8ce84af7ddfd38c967db1a376a8a5ec81b4e07016f5011f"},
    {LC_BLAKE3, 3, 3, "e1be4d7a8ab5560aa4199eea339849ba8e293d55ca0a81006726d184519e647f"},
    {LC_BLAKE3, 5000, 3, "ee78d92070de3df1c57c37002abf0a6b1a6589acdeef4d8ffac7cf3d9e8f2836"},
    {LC_BLAKE3, 600000, 1, "5a87d7360a75bf0ee79f9ba8c5c4904ad4f60d8579da8d150979400a618c7e93"},
    {LC_BLAKE3_KEYED, 3, 3, "e5326c9674055c012371eb5e26424317732fee320660bdd86d4f719edd7caa29"},
    {LC_BLAKE3_KEYED, 5000, 3, "3742909929a310dec551d9163c279136d6506f289f75c283c5df101108cd09e5"},
    {LC_BLAKE3_DERIVE_KEY, 3, 3,
     "784b8132a4e6d8b9ef839de9d9ae69ee61b40fa1077affed024d4c25cb98c89e"},
    {LC_BLAKE3_DERIVE_KEY, 5000, 3,
     "642212abda20a2c9a6fc8401d8a16969b60d6ab17c16c3490faacf2d2214096c"},
    {LC_MERKLE_SHA_256, 3, 3, "6b0271f8cc97121c9e25e8c731f47c941b487c583f5fe15498a4c6f1994af299"},
    {LC_MERKLE_SHA_256, 5000, 3,
     "a515c47e7302dfc4ff0ce69311b9192bc9fb7b043615dec836c86c045515ae0a"},
    {LC_MERKLE_SHA_256, 600000, 1,
     "fd11a9eb383edfd9e6a16c0359d3136eb6cca4d2819b6d5ea25c1bba3ff862cc"},
    {LC_PARALLEL_HASH_128, 3, 3,
     "d3e3201f24dbda4523593e3139d0733cdd671456403ecd65c8ea9821bb7f0430"},
    {LC_PARALLEL_HASH_128, 5000, 3,
     "f47deebee319e9ae494beebb838b1abc26f127337f6a7c42697684134d5530e2"},
    {LC_PARALLEL_HASH_256, 3, 3,
     "8bc6ecbbd57f5e3a310650d6beb6548621a3ac1bc72a4c9f5a6d26093fc2047b259271ac1915e3f8"
     "25d7157565cdbad6ae10ab1b5f309123fd1cb92486b8a7b2"},
    {LC_PARALLEL_HASH_256, 5000, 3,
     "5cab79441ec52cfd1e7960ab097708d99c013ea1dc91086973caf7023f04fb386b03c6dcf78f2fd4"
     "0ae7c86d6d7549b4219431e1075ba60d82a4af0c7d62e90f"},
    {LC_PARALLEL_HASH_XOF_128, 3, 3,
     "4448c7ab0fd4e8102419e10f125155ba4aa0d39ca484b0fb2897501055269c94"},
    {LC_PARALLEL_HASH_XOF_128, 5000, 3,
     "dcb8e28d3e69192b56f853f6b41feec7f277b6d8abe782a6302f9c239ddf1f9b"},
    {LC_PARALLEL_HASH_XOF_256, 3, 3,
     "a0d4236a9a9ce9c72d290d11c72a2760f293a46196595ec523013d6bc81d53253e9c8d371f5a51b7"
     "88d60a1944d3fd6fedad081084acd7edccd88f8c26a947cf"},
    {LC_PARALLEL_HASH_XOF_256, 5000, 3,
     "48bb9e02505ef2090cb5a8c86d4cd8c565f97d32d536628ea8a298d4c187f8a2ab8655fd600831ec"
     "aa80b69287cdff59ff7cd361b219d3629acac58d2a8eee6b"},
};

constexpr int kPeriod = 251;

}  // namespace

std::string HashKnownAnswer::subject() const {
  return std::string(find_hash_method(hash)->name) + " of " + std::to_string(length) + " bytes";
}

std::vector<uint8_t> HashKnownAnswer::message() const {
  std::vector<uint8_t> bytes(length);
  for (size_t n = 0; n < bytes.size(); ++n) bytes[n] = uint8_t(n % kPeriod);
  return bytes;
}

std::vector<uint8_t> HashKnownAnswer::digest() const { return from_hex(hex); }

Result<HashJob> HashKnownAnswer::job(std::span<const lc_hash_message> messages) const {
  const HashMethod &method = *find_hash_method(hash);
  uint8_t key[32];
  std::iota(std::begin(key), std::end(key), uint8_t{0});
  lc_hash_job job = {};
  job.struct_size = sizeof job;
  job.hash = hash;
  job.device = LC_ANY_DEVICE;
  job.messages = messages.data();
  job.message_count = messages.size();
  job.message_size = sizeof(lc_hash_message);
  job.leaf_bytes = method.has_leaf_bytes() ? kHashLeaf : 0;
  if (method.has_key) {
    job.key = key;
    job.key_bytes = sizeof key;
  }
  if (method.has_text) {
    job.text = kHashText.data();
    job.text_bytes = kHashText.size();
  }
  return make_hash_job(&job);
}

std::span<const HashKnownAnswer> hash_known_answers() { return kHashAnswers; }

}  // namespace lanecrypt::verify
