// Sorts very many entries by a number in linear time.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lanecrypt {

// Sorts by the low `bits` bits of key_of(entry), least significant digit first (Knuth, The Art of
// Computer Programming, 5.2.5, Algorithm R). Equal keys keep their order.
template <typename Entry, typename KeyOf>
void radix_sort(std::vector<Entry> &entries, unsigned bits, KeyOf key_of) {
  constexpr unsigned kDigitBits = 11;
  constexpr size_t kDigits = size_t{1} << kDigitBits;
  std::vector<Entry> sorted(entries.size());
  for (unsigned shift = 0; shift < bits; shift += kDigitBits) {
    std::array<size_t, kDigits> next = {};
    const auto digit = [&](const Entry &entry) { return key_of(entry) >> shift & (kDigits - 1); };
    for (const Entry &entry : entries) ++next[digit(entry)];
    size_t begin = 0;
    for (size_t &at : next) {
      const size_t count = at;
      at = begin;
      begin += count;
    }
    for (const Entry &entry : entries) sorted[next[digit(entry)]++] = entry;
    entries.swap(sorted);
  }
}

}  // namespace lanecrypt
