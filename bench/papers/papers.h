// `lanecrypt bench papers`: repeats the measurements of five papers.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "bench/report/log.h"
#include "lanecrypt/lanecrypt.hpp"

namespace lanecrypt::bench {

// The letters of the papers, as they may be given on the command line.
std::string paper_letters();
bool is_paper(const std::string &letter);

// Runs the part of one paper, or of all if `letter` is empty. Temporary files are made in
// `folder`.
void bench_papers(const Context &context, const std::string &letter, bool quick,
                  const std::string &folder, BenchLog &log);

}  // namespace lanecrypt::bench
