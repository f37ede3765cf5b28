// SPDX-License-Identifier: Apache-2.0
#include "cli/keys/slh_signer_state.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "cli/failure.h"
#include "cli/io/output.h"
#include "cli/keys/file_owner.h"
#include "process/folder_trust.h"

namespace lanecrypt::cli {
namespace {

using Octets = std::vector<uint8_t>;

constexpr std::string_view kStateName = "lcslhst1", kCountName = "lcslhct1",
                           kMacKeyName = "lanecrypt slh-dsa state 1";
constexpr size_t kMacBytes = 32;
constexpr size_t kNumberBytes = 8;

Octets mac_of(std::span<const uint8_t> key, std::span<const uint8_t> bytes) {
  Octets mac(kMacBytes);
  if (HMAC(EVP_sha256(), key.data(), int(key.size()), bytes.data(), bytes.size(), mac.data(),
           nullptr) == nullptr)
    throw Failure(ExitCode::kFailed, "OpenSSL has no HMAC-SHA-256");
  return mac;
}

void append(Octets &to, uint64_t number) {
  for (size_t byte = 0; byte < kNumberBytes; byte++) to.push_back(uint8_t(number >> (8 * byte)));
}

uint64_t number_at(const Octets &bytes, size_t at) {
  uint64_t number = 0;
  for (size_t byte = kNumberBytes; byte-- > 0;) number = number << 8 | bytes[at + byte];
  return number;
}

[[noreturn]] void refuse(const std::string &path, const std::string &why) {
  throw Failure(ExitCode::kBadData,
                fmt::format("'{}' is not a valid signer's state: {}", path, why));
}

// Returns the first most + 1 bytes of a file that only its owner can write, or nothing if there is
// no such file. A file with more than `most` bytes is not a state; the caller checks the length.
std::optional<Octets> read_file(const std::string &path, size_t most) {
  // O_NONBLOCK, so that opening a FIFO of that name does not block.
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!file && errno == ENOENT) return std::nullopt;
  if (!file && errno == ELOOP) refuse(path, "it is a symbolic link");
  if (!file) throw_errno(fmt::format("cannot open '{}'", path), errno);
  struct stat entry {};
  if (fstat(file.get(), &entry) != 0) throw_errno(fmt::format("cannot read '{}'", path), errno);
  if (!S_ISREG(entry.st_mode)) refuse(path, "it is no file");
  if (const std::string fault = fault_of(entry, kOthersMayWrite); !fault.empty())
    refuse(path, fault);
  Octets bytes(most + 1);
  size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got = ::read(file.get(), bytes.data() + have, bytes.size() - have);
    if (got == 0) break;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_errno(fmt::format("cannot read '{}'", path), errno);
    have += static_cast<size_t>(got);
  }
  bytes.resize(have);
  return bytes;
}

void write_file(const std::string &path, const Octets &bytes) {
  Output output(path, Output::Readers::kOwner);
  output.create();
  output.write(bytes);
  output.commit(true);
}

// Throws Failure if other users can replace a folder on the path, or remove files from the last
// one: they could restore an older state with its count.
void check_folder(const std::string &path) {
  const std::string folder = std::filesystem::absolute(path).parent_path();
  const uid_t owners[] = {0, geteuid()};
  const std::string fault = process::fault_of_folder(folder, owners);
  if (fault.empty()) return;
  throw Failure(ExitCode::kFailed,
                fmt::format("'{}' is no folder for a signer's state: {}", folder, fault));
}

std::string count_path(const std::string &path) { return path + ".count"; }

}  // namespace

SignerState::SignerState(std::string path, const SlhKeyFile &key, std::span<const uint8_t> tree)
    : path_(std::move(path)), set_(key.set), tree_(tree.begin(), tree.end()) {
  // These may throw, so they come before the members hold secrets, which only the destructor
  // erases.
  check_folder(path_);
  lock();
  const std::span<const uint8_t> whole(key.private_key.data(), key.private_key.size());
  const size_t half = whole.size() / 2;
  public_key_.assign(whole.begin() + ptrdiff_t(half), whole.end());
  mac_key_ = mac_of(whole.first(half),
                    {reinterpret_cast<const uint8_t *>(kMacKeyName.data()), kMacKeyName.size()});
}

SignerState::SignerState(std::string path, const SlhKeyFile &key)
    : SignerState(std::move(path), key, {}) {
  read();
}

SignerState::~SignerState() { OPENSSL_cleanse(mac_key_.data(), mac_key_.size()); }

void SignerState::make(const std::string &path, const SlhKeyFile &key,
                       std::span<const uint8_t> tree) {
  check_place(path);
  const SignerState state(path, key, tree);
  check_place(path);  // another run may have created one before the lock was taken
  state.write();
}

void SignerState::check_place(const std::string &path) {
  if (path == "-") throw Failure(ExitCode::kUsage, "a signer's state cannot be a stream (-)");
  check_folder(path);
  for (const std::string &name : {path, count_path(path)})
    if (struct stat entry{}; lstat(name.c_str(), &entry) == 0 || errno != ENOENT)
      throw Failure(ExitCode::kFailed,
                    fmt::format("'{}' is there already: it may count the signatures of another "
                                "key, and is not written over",
                                name));
}

// Locks FILE.lock. A lock on FILE itself would be lost, because each write replaces FILE.
void SignerState::lock() {
  const std::string name = path_ + ".lock";
  lock_ = FileDescriptor(
      open(name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600));
  if (!lock_) throw_errno(fmt::format("cannot open '{}'", name), errno);
  if (flock(lock_.get(), LOCK_EX | LOCK_NB) == 0) return;
  if (errno == EWOULDBLOCK)
    throw Failure(ExitCode::kFailed, fmt::format("another run signs with '{}'", path_));
  throw_errno(fmt::format("cannot lock '{}'", name), errno);
}

// Returns the header of a file of this key. Its last 8 bytes are the count.
Octets SignerState::head_of(std::string_view what, uint64_t count) const {
  Octets head(what.begin(), what.end());
  append(head, set_);
  head.insert(head.end(), public_key_.begin(), public_key_.end());
  append(head, count);
  return head;
}

void SignerState::write() const {
  const auto write_sealed = [&](const std::string &path, Octets bytes) {
    const Octets mac = mac_of(mac_key_, bytes);
    bytes.insert(bytes.end(), mac.begin(), mac.end());
    write_file(path, bytes);
  };
  Octets bytes = head_of(kStateName, count_);
  bytes.insert(bytes.end(), tree_.begin(), tree_.end());
  write_sealed(path_, std::move(bytes));
  if (count_ != 0) write_sealed(count_path(path_), head_of(kCountName, count_));
}

// Checks the length, header and MAC of a file whose header is followed by `rest` bytes. Copies
// those to `to`, and returns the count. Throws Failure.
uint64_t SignerState::open_sealed(const std::string &path, std::string_view what, Octets bytes,
                                  size_t rest, Octets *to) const {
  const Octets head = head_of(what, 0);
  const size_t number = head.size() - kNumberBytes;
  if (bytes.size() != head.size() + rest + kMacBytes) refuse(path, "its length is wrong");
  if (!std::equal(head.begin(), head.begin() + ptrdiff_t(number), bytes.begin()))
    refuse(path, "it belongs to another key");
  const size_t sealed = head.size() + rest;
  const Octets mac = mac_of(mac_key_, std::span(bytes).first(sealed));
  if (CRYPTO_memcmp(mac.data(), &bytes[sealed], kMacBytes) != 0)
    refuse(path, "its authentication code is wrong: it was changed without the key");
  if (to != nullptr) to->assign(&bytes[head.size()], &bytes[sealed]);
  return number_at(bytes, number);
}

void SignerState::read() {
  const size_t tree = lc_slh_dsa_tree_bytes(set_);
  const size_t most = head_of(kStateName, 0).size() + tree + kMacBytes;
  std::optional<Octets> state = read_file(path_, most);
  if (!state) throw_errno(fmt::format("cannot open '{}'", path_), ENOENT);
  count_ = open_sealed(path_, kStateName, std::move(*state), tree, &tree_);
  const std::string name = count_path(path_);
  std::optional<Octets> second = read_file(name, most);
  if (!second && count_ != 0) refuse(path_, fmt::format("'{}' is missing", name));
  if (!second) return;
  if (open_sealed(name, kCountName, std::move(*second), 0, nullptr) > count_)
    refuse(path_, fmt::format("it is older than '{}', and has forgotten signatures", name));
}

void SignerState::add(uint64_t signatures) {
  if (signatures > kMostDraftSignatures || count_ > kMostDraftSignatures - signatures)
    throw Failure(ExitCode::kFailed,
                  fmt::format("the key has made {} of the {} signatures that it may make", count_,
                              kMostDraftSignatures));
  count_ += signatures;
  write();
}

}  // namespace lanecrypt::cli
