// `lanecrypt bench papers`: what five papers measured, measured here.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench_results.h"
#include "lanecrypt/lanecrypt.hpp"

namespace lanecrypt::cli {

// The letters of the papers that can be repeated, as a person may write them.
std::string paper_letters();
bool is_paper(const std::string &letter);

// Called every few seconds, and after each paper, with all that was found so far.
using PaperKeep = std::function<void(const std::vector<BenchResult> &)>;

// Runs the part of one paper, or of all where `letter` is empty. Files of its own lie
// in `folder` meanwhile.
std::vector<BenchResult> bench_papers(const Context &context, const std::string &letter, bool quick,
                                      const std::string &folder,
                                      const std::function<void(const std::string &)> &tell,
                                      const PaperKeep &keep);

}  // namespace lanecrypt::cli
