// SPDX-License-Identifier: Apache-2.0
#include "bench/load/pass.h"

#include <time.h>

#include <algorithm>
#include <chrono>

namespace lanecrypt::bench {

double seconds_of(const std::function<void()> &run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

Messages::Messages(const BenchCase &of, const BenchData &data, const uint8_t *in, uint8_t *out,
                   uint64_t bytes)
    : run(of) {
  const uint64_t step = run.stream_bytes != 0 ? run.stream_bytes : bytes;
  list.resize((bytes + step - 1) / step);
  ivs.resize(list.size());
  if (run.cipher.mode == LC_AES_GCM) tags.resize(list.size());
  for (uint64_t n = 0; n < list.size(); n++) {
    ivs[n] = data.iv(run, n);
    list[n].key = data.key();
    list[n].iv = ivs[n].data();
    list[n].in = in + n * step;
    list[n].out = out + n * step;
    list[n].length = std::min(step, bytes - n * step);
    if (!tags.empty()) list[n].tag = tags[n].data();
  }
}

lc_cipher_job Messages::job() const {
  lc_cipher_job made =
      cipher_job(run.cipher.mode, run.direction, run.cipher.key_bytes, list.data(), list.size());
  made.data_unit_bytes = run.data_unit_bytes;
  return made;
}

}  // namespace lanecrypt::bench
