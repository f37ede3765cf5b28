// SPDX-License-Identifier: Apache-2.0
#include "bench/papers/papers.h"

#include "bench/papers/case.h"

namespace lanecrypt::bench {
namespace {

constexpr struct {
  char letter;
  void (*run)(PaperBench &);
} kPapers[] = {{'R', paper_r}, {'H', paper_h}, {'M', paper_m}, {'W', paper_w}, {'S', paper_s}};

}  // namespace

std::string paper_letters() {
  std::string letters;
  for (const auto &paper : kPapers) {
    if (!letters.empty()) letters += &paper == std::end(kPapers) - 1 ? " and " : ", ";
    letters += paper.letter;
  }
  return letters;
}

bool is_paper(const std::string &letter) {
  for (const auto &paper : kPapers)
    if (letter == std::string(1, paper.letter)) return true;
  return false;
}

void bench_papers(const Context &context, const std::string &letter, bool quick,
                  const std::string &folder, BenchLog &log) {
  PaperBench bench{context, quick, folder, log};
  for (const auto &paper : kPapers)
    if (letter.empty() || letter == std::string(1, paper.letter)) paper.run(bench);
}

}  // namespace lanecrypt::bench
