// SPDX-License-Identifier: Apache-2.0
#include "bench/report/log.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/console.h"
#include "lanecrypt/lanecrypt.hpp"

namespace lanecrypt::bench {
namespace {

constexpr std::chrono::seconds kKeepEvery{5};

}  // namespace

BenchLog::BenchLog(std::vector<std::string> only, bool tells,
                   std::function<void(const Results &)> keep)
    : only_(std::move(only)), tells_(tells), keep_(std::move(keep)) {}

BenchLog::~BenchLog() { show(""); }

bool BenchLog::wants(const std::string &name) const {
  return only_.empty() || std::any_of(only_.begin(), only_.end(), [&](const std::string &part) {
           return name.find(part) != std::string::npos;
         });
}

void BenchLog::tell(const std::string &next) {
  const auto now = std::chrono::steady_clock::now();
  if (now - kept_ >= kKeepEvery && !results_.empty()) {
    kept_ = now;
    keep_(results_);
  }
  show(next);
}

void BenchLog::note(const std::string &text) const {
  show("");
  cli::complain(text);
}

bool BenchLog::unless_unsupported(const std::function<void()> &measure) {
  try {
    measure();
    return true;
  } catch (const Error &error) {
    if (error.status() != LC_ERROR_UNSUPPORTED) throw;
    if (unsupported_.insert(error.what()).second) note(fmt::format("left out: {}", error.what()));
    return false;
  }
}

BenchResult &BenchLog::add(BenchResult result) { return results_.emplace_back(std::move(result)); }

void BenchLog::show(const std::string &text) const {
  if (tells_) cli::say(fmt::format("\r{}\033[K", text));
}

}  // namespace lanecrypt::bench
