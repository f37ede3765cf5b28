// SPDX-License-Identifier: Apache-2.0
#include "cpu/slh/cpu_slh.h"

#include <cstring>
#include <string>

#include "cpu/slh/host_slh.h"
#include "cpu/slh/slh_message.h"
#include "secure/wiped_bytes.h"

namespace lanecrypt::cpu {
namespace {

// `Item` is the kernels' input, in memory that is wiped.
struct Item {
  ~Item() { secure::wipe(&item, sizeof item); }
  SlhItem item = {};
};

// Rejects the draft's sets. A core would take minutes for what a device does in a fraction of a
// second.
Status check_cpu_makes(const SlhSet &set) {
  if (!set.is_draft()) return Status();
  return Status(LC_ERROR_UNSUPPORTED,
                std::string("only a device makes keys and signatures of ") + set.name);
}

}  // namespace

Status prepare(SlhKey &key) {
  key.image = secure::KeyMemory(sizeof(SlhItem), secure::KeyMemory::Fork::kKept);
  if (!key.image.ok(sizeof(SlhItem))) return Status(LC_ERROR_MEMORY, "no memory for the key");
  Item made;
  slh_put_key(key.set, key.parts, made.item);
  std::memcpy(key.image.data(), &made.item, sizeof made.item);
  if (key.tree.empty()) return Status();
  uint8_t root[32];
  if (!key.set.shake)
    for (uint32_t &word : key.tree) word = __builtin_bswap32(word);
  LC_TRY(host_slh_root_of(key.set, made.item, key.tree.data(), root));
  if (std::memcmp(root, key.parts.pk_root.data(), key.set.n) == 0) return Status();
  return Status(LC_ERROR_ARGUMENT, "the kept nodes are not those of the key's tree");
}

Status hash_to_verify(const SlhJob &job, const SlhMessage &message, SlhHashed &hashed) {
  const SlhKey &key = job.key_of(message);
  Result<SlhEncoded> encoded = slh_encode(job, message);
  if (!encoded.ok()) return encoded.status();
  std::memcpy(hashed.r, message.signature, key.set.n);
  return slh_digest(key.set, key.parts, {hashed.r, key.set.n}, *encoded,
                    {hashed.digest, key.set.digest_bytes()});
}

Status hash_to_sign(const SlhJob &job, const SlhMessage &message, std::span<const uint8_t> opt_rand,
                    SlhHashed &hashed) {
  const SlhKey &key = job.key_of(message);
  Result<SlhEncoded> encoded = slh_encode(job, message);
  if (!encoded.ok()) return encoded.status();
  LC_TRY(slh_randomizer(key.set, key.parts, opt_rand, *encoded, {hashed.r, key.set.n}));
  return slh_digest(key.set, key.parts, {hashed.r, key.set.n}, *encoded,
                    {hashed.digest, key.set.digest_bytes()});
}

void put_item(const SlhKey &key, const SlhHashed &hashed, SlhItem &item) {
  std::memcpy(&item, key.image.data(), sizeof item);
  slh_put_digest(key.set, {hashed.digest, key.set.digest_bytes()}, item);
}

bool do_roots_agree(const SlhKey &key, const SlhHashed &hashed, std::span<const uint8_t> roots) {
  SlhItem place;
  slh_put_digest(key.set, {hashed.digest, key.set.digest_bytes()}, place);
  return key.signed_roots.agree(place.tree, roots);
}

Status slh_sign(const SlhKey &key, const SlhHashed &hashed, std::span<uint8_t> signature) {
  LC_TRY(check_cpu_makes(key.set));
  Item task;
  put_item(key, hashed, task.item);
  // The signature is wiped if it is not returned, because it would reveal the key.
  secure::WipedBytes made(key.set.signature_bytes());
  SlhRoots roots;
  LC_TRY(host_slh_sign(key.set, task.item, made, roots));
  if (!do_roots_agree(key, hashed, roots))
    return Status(LC_ERROR_DEVICE,
                  "the key has signed another root with this one-time key: a fault was signed "
                  "before, or now");
  std::memcpy(made.data(), hashed.r, key.set.n);
  std::memcpy(signature.data(), made.data(), made.size());
  return Status();
}

Status slh_verify(const SlhKey &key, const SlhHashed &hashed, std::span<const uint8_t> signature,
                  bool &valid) {
  Item task;
  put_item(key, hashed, task.item);
  SlhRoots roots;
  return host_slh_verify(key.set, task.item, signature, valid, roots);
}

Status slh_make_key(const SlhSet &set, std::span<const uint8_t> seeds, std::span<uint8_t> key) {
  LC_TRY(check_cpu_makes(set));
  const size_t n = set.n;
  Item task;
  slh_put_key(set,
              {.sk_seed = seeds.first(n), .sk_prf = {}, .pk_seed = seeds.last(n), .pk_root = {}},
              task.item);
  uint8_t root[32];
  LC_TRY(host_slh_root(set, task.item, {root, n}));
  std::memcpy(key.data(), seeds.data(), seeds.size());
  std::memcpy(&key[seeds.size()], root, n);
  return Status();
}

Status slh_part(const SlhSet &set, std::span<const uint8_t> seeds, uint32_t part,
                std::span<uint8_t> node) {
  const size_t n = set.n;
  Item task;
  slh_put_key(set,
              {.sk_seed = seeds.first(n), .sk_prf = {}, .pk_seed = seeds.last(n), .pk_root = {}},
              task.item);
  task.item.leaf = part << SlhSet::kKeptHeight;
  uint32_t words[8];
  LC_TRY(host_slh_part(set, task.item, words));
  slh_bytes(set, words, node.data());
  return Status();
}

Status slh_root_of(const SlhSet &set, std::span<const uint8_t> pk_seed, const uint32_t *nodes,
                   std::span<uint8_t> root) {
  SlhItem item = {};
  slh_put_key(set, {.sk_seed = {}, .sk_prf = {}, .pk_seed = pk_seed, .pk_root = {}}, item);
  return host_slh_root_of(set, item, nodes, root);
}

}  // namespace lanecrypt::cpu
