// SPDX-License-Identifier: Apache-2.0
#include "bench/service/windows.h"

#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>

namespace lanecrypt::bench {

uint64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return uint64_t(now.tv_sec) * 1000000000 + uint64_t(now.tv_nsec);
}

double cpu_seconds() {
  timespec spent{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
  return double(spent.tv_sec) + double(spent.tv_nsec) / 1e9;
}

void raise_file_limit() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
}

void Latencies::add(uint64_t ns) {
  const double bucket = ns > 1 ? 16 * std::log2(double(ns)) : 0;
  ++counts_[std::min(size_t(bucket), counts_.size() - 1)];
}

void Latencies::add(const Latencies &other) {
  for (size_t n = 0; n < counts_.size(); ++n) counts_[n] += other.counts_[n];
}

std::string Latencies::json() const {
  std::string text;
  for (size_t n = 0; n < counts_.size(); ++n)
    if (counts_[n] != 0)
      text += (text.empty() ? "[" : ", [") + std::to_string(n) + ", " + std::to_string(counts_[n]) +
              "]";
  return "[" + text + "]";
}

std::map<std::string, std::string> words_of(int count, char **words) {
  std::map<std::string, std::string> values;
  for (int n = 1; n < count; ++n) {
    const std::string word = words[n];
    const size_t at = word.find('=');
    if (at == std::string::npos) {
      fprintf(stderr, "%s: %s is not NAME=VALUE\n", words[0], words[n]);
      exit(2);
    }
    values[word.substr(0, at)] = word.substr(at + 1);
  }
  return values;
}

int serve_windows(const std::function<std::string(const Window &)> &work) {
  std::cout << "ready" << std::endl;
  Window window;
  while (std::cin >> window.begin_ns >> window.end_ns) std::cout << work(window) << std::endl;
  return 0;
}

}  // namespace lanecrypt::bench
