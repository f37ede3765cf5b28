// SPDX-License-Identifier: Apache-2.0
#include "bench/load/reference.h"

#include <algorithm>
#include <cstring>
#include <future>

#include "bench/load/openssl.h"
#include "cli/failure.h"
#include "cpu/core_count.h"

namespace lanecrypt::bench {

Reference::Reference(const BenchCase &run, const BenchData &data, const uint8_t *in, uint64_t bytes)
    : expected_(bytes) {
  OpensslCipher openssl(run);
  openssl_pass(openssl, run, data, in, expected_.data(), bytes);
  if (run.cipher.mode == LC_AES_GCM) tag_ = openssl.tag();
}

void Reference::check(uint8_t *out, const std::string &name) const {
  const uint64_t cores = cpu::usable_cores();
  const uint64_t share = (expected_.size() + cores - 1) / cores;
  std::vector<std::future<bool>> checks;
  for (uint64_t at = 0; at < expected_.size(); at += share)
    checks.push_back(std::async(std::launch::async, [this, out, at, share] {
      const uint64_t bytes = std::min<uint64_t>(share, expected_.size() - at);
      const bool is_same = std::memcmp(expected_.data() + at, out + at, bytes) == 0;
      std::memset(out + at, 0, bytes);
      return is_same;
    }));
  bool all = true;
  for (std::future<bool> &check : checks) all &= check.get();
  if (!all) throw cli::Failure(cli::ExitCode::kFailed, name + ": the output is not OpenSSL's");
}

void Reference::check(Messages &messages, uint8_t *out, const std::string &name) const {
  check(out, name);
  for (Tag &tag : messages.tags) {
    if (tag != tag_)
      throw cli::Failure(cli::ExitCode::kFailed, name + ": the tag is not OpenSSL's");
    tag = {};
  }
}

}  // namespace lanecrypt::bench
