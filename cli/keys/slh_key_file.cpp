// SPDX-License-Identifier: Apache-2.0
#include "cli/keys/slh_key_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <vector>

#include "cli/failure.h"
#include "cli/io/file_descriptor.h"
#include "cli/keys/der.h"
#include "cli/keys/pem.h"

namespace lanecrypt::cli {
namespace {

constexpr std::string_view kPrivate = "PRIVATE KEY", kPublic = "PUBLIC KEY",
                           kEncrypted = "ENCRYPTED PRIVATE KEY";
// The most bytes of a key file; no key is longer, even with certificates or comments before it.
constexpr size_t kMostTextBytes = 64 << 10;
// Tags in PKCS#8: the attributes, and the public key in a file of version 1 (RFC 5958, section 2).
constexpr uint8_t kAttributes = 0xa0, kPublicKey = 0x81;

// The AlgorithmIdentifier SEQUENCE { OBJECT 2.16.840.1.101.3.4.3.N }. N is 20 for the first
// parameter set of FIPS 205, table 2, and the later ones follow in the order of lc_slh_dsa_set.
using Algorithm = std::array<uint8_t, 13>;
constexpr Algorithm kFirstAlgorithm = {0x30, 0x0b, 0x06, 0x09, 0x60, 0x86, 0x48,
                                       0x01, 0x65, 0x03, 0x04, 0x03, 20};

Algorithm algorithm_of(lc_slh_dsa_set set) {
  Algorithm algorithm = kFirstAlgorithm;
  algorithm.back() = uint8_t(algorithm.back() + set);
  return algorithm;
}

using Bytes = std::span<const uint8_t>;

// Returns the parameter set that an AlgorithmIdentifier names. `identifier` is its contents,
// without its header.
std::optional<lc_slh_dsa_set> set_of(Bytes identifier) {
  constexpr size_t kHeader = 2;
  const auto known = Bytes(kFirstAlgorithm).subspan(kHeader);
  if (identifier.size() != known.size() ||
      !std::equal(known.begin(), known.end() - 1, identifier.begin()))
    return std::nullopt;
  const int number = identifier.back() - known.back();
  if (number < 0 || number > LC_SLH_DSA_SHAKE_256F) return std::nullopt;
  return static_cast<lc_slh_dsa_set>(number);
}

SecretBytes copy(Bytes bytes) {
  return SecretBytes::copy_of({reinterpret_cast<const char *>(bytes.data()), bytes.size()});
}

// Copies a BIT STRING of `bytes` whole bytes. Its first byte is the number of unused bits, which
// must be 0.
bool take_bits(Bytes bits, size_t bytes, SecretBytes *to) {
  if (bits.size() != bytes + 1 || bits[0] != 0) return false;
  *to = copy(bits.subspan(1));
  return true;
}

bool parse_private(Bytes der, SlhKeyFile *key) {
  DerReader whole(der);
  const auto info = whole.take(kDerSequence);
  if (!info || !whole.at_end()) return false;
  DerReader fields(*info);
  const auto version = fields.take(kDerInteger);
  const auto algorithm = fields.take(kDerSequence);
  const auto octets = fields.take(kDerOctets);
  if (!version || version->size() != 1 || (*version)[0] > 1 || !algorithm || !octets) return false;
  const auto set = set_of(*algorithm);
  if (!set || octets->size() != 4 * lc_slh_dsa_hash_bytes(*set)) return false;
  key->set = *set;
  key->private_key = copy(*octets);
  (void)fields.take(kAttributes);
  if ((*version)[0] == 1)
    if (const auto bits = fields.take(kPublicKey))
      if (!take_bits(*bits, octets->size() / 2, &key->public_key)) return false;
  return fields.at_end();
}

bool parse_public(Bytes der, SlhKeyFile *key) {
  DerReader whole(der);
  const auto info = whole.take(kDerSequence);
  if (!info || !whole.at_end()) return false;
  DerReader fields(*info);
  const auto algorithm = fields.take(kDerSequence);
  const auto bits = fields.take(kDerBits);
  if (!algorithm || !bits || !fields.at_end()) return false;
  const auto set = set_of(*algorithm);
  if (!set) return false;
  key->set = *set;
  return take_bits(*bits, 2 * lc_slh_dsa_hash_bytes(*set), &key->public_key);
}

// Returns the PEM label for keys of a draft parameter set.
std::string draft_label(lc_slh_dsa_set set, std::string_view kind) {
  return fmt::format("{} DRAFT {}", lc_slh_dsa_name(set), kind);
}

struct DraftLabel {
  std::string text;
  lc_slh_dsa_set set;
  bool is_private;
};
std::vector<DraftLabel> draft_labels() {
  std::vector<DraftLabel> labels;
  for (int number = LC_SLH_DSA_SHA2_128_24; number <= LC_SLH_DSA_SHAKE_256_24; number++) {
    const auto set = static_cast<lc_slh_dsa_set>(number);
    labels.push_back({draft_label(set, kPrivate), set, true});
    labels.push_back({draft_label(set, kPublic), set, false});
  }
  return labels;
}

bool take_draft(const PemBlock &block, const DraftLabel &label, SlhKeyFile *key) {
  const size_t n = lc_slh_dsa_hash_bytes(label.set);
  if (block.der.size() != (label.is_private ? 4 : 2) * n) return false;
  key->set = label.set;
  (label.is_private ? key->private_key : key->public_key) =
      copy({block.der.data(), block.der.size()});
  return true;
}

}  // namespace

bool is_draft_slh_set(lc_slh_dsa_set set) { return lc_slh_dsa_tree_bytes(set) != 0; }

SecretBytes slh_private_key_pem(lc_slh_dsa_set set, Bytes private_key) {
  if (is_draft_slh_set(set)) return pem_of(draft_label(set, kPrivate), copy(private_key));
  constexpr uint8_t kVersion[] = {kDerInteger, 1, 0};
  const Algorithm algorithm = algorithm_of(set);
  const size_t octets = der_header_bytes(private_key.size()) + private_key.size();
  const size_t whole = sizeof kVersion + algorithm.size() + octets;
  SecretBytes der(der_header_bytes(whole) + whole);
  DerWriter writer(der.data());
  writer.header(kDerSequence, whole);
  writer.bytes(kVersion, sizeof kVersion);
  writer.bytes(algorithm.data(), algorithm.size());
  writer.header(kDerOctets, private_key.size());
  writer.bytes(private_key.data(), private_key.size());
  return pem_of(kPrivate, der);
}

SecretBytes slh_public_key_pem(lc_slh_dsa_set set, Bytes public_key) {
  if (is_draft_slh_set(set)) return pem_of(draft_label(set, kPublic), copy(public_key));
  constexpr uint8_t kUnusedBits = 0;
  const Algorithm algorithm = algorithm_of(set);
  const size_t bits = 1 + public_key.size();
  const size_t whole = algorithm.size() + der_header_bytes(bits) + bits;
  SecretBytes der(der_header_bytes(whole) + whole);
  DerWriter writer(der.data());
  writer.header(kDerSequence, whole);
  writer.bytes(algorithm.data(), algorithm.size());
  writer.header(kDerBits, bits);
  writer.bytes(&kUnusedBits, 1);
  writer.bytes(public_key.data(), public_key.size());
  return pem_of(kPublic, der);
}

std::string parse_slh_key(const SecretBytes &text, SlhKeyFile *key) {
  *key = {};
  const std::vector<DraftLabel> drafts = draft_labels();
  std::vector<std::string_view> labels = {kPrivate, kPublic, kEncrypted};
  for (const DraftLabel &label : drafts) labels.push_back(label.text);
  const PemBlock block = find_pem(text, labels);
  if (block.label == kEncrypted) return "its key is encrypted, which this command does not read";
  const Bytes der(block.der.data(), block.der.size());
  if (block.label == kPrivate ? parse_private(der, key)
                              : block.label == kPublic && parse_public(der, key))
    return "";
  for (const DraftLabel &label : drafts)
    if (block.label == label.text && take_draft(block, label, key)) return "";
  *key = {};
  return "it holds no key of SLH-DSA";
}

SlhKeyFile read_slh_key(const std::string &path) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) throw_errno(fmt::format("cannot open '{}'", path), errno);
  // Reads one byte more than a key may have, to detect a longer file.
  SecretBytes text(kMostTextBytes + 1);
  size_t bytes = 0;
  while (bytes < text.size()) {
    const ssize_t got = ::read(file.get(), text.data() + bytes, text.size() - bytes);
    if (got == 0) break;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_errno(fmt::format("cannot read '{}'", path), errno);
    bytes += static_cast<size_t>(got);
  }
  SlhKeyFile key;
  std::string wrong = "it is too long";
  if (bytes <= kMostTextBytes) {
    text.shorten(bytes);
    wrong = parse_slh_key(text, &key);
  }
  if (!wrong.empty())
    throw Failure(ExitCode::kBadData, fmt::format("'{}' is not such a key: {}", path, wrong));
  return key;
}

}  // namespace lanecrypt::cli
