// `lanecrypt bench papers`: what five papers measured, measured here.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "bench/report/log.h"
#include "lanecrypt/lanecrypt.hpp"

namespace lanecrypt::bench {

// The letters of the papers, as a person may write them.
std::string paper_letters();
bool is_paper(const std::string &letter);

// Runs the part of one paper, or of all if `letter` is empty. Its files lie in `folder`
// meanwhile.
void bench_papers(const Context &context, const std::string &letter, bool quick,
                  const std::string &folder, BenchLog &log);

}  // namespace lanecrypt::bench
