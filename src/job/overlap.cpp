// SPDX-License-Identifier: Apache-2.0
#include "job/overlap.h"

#include <bit>
#include <optional>
#include <utility>

#include "job/radix_sort.h"

namespace lanecrypt {

// `Sorted` is the ranges of a kind, ordered by address.
class Overlaps::Sorted {
 public:
  explicit Sorted(const Kind &kind) {
    entries_.reserve(kind.count);
    for (size_t n = 0; n < kind.count; ++n)
      if (const MemoryRange range = kind.at(n); !range.empty())
        entries_.push_back({range, static_cast<uint32_t>(n)});
    if (kind.extent.ascends) return;
    const uintptr_t first = kind.extent.all.begin;
    radix_sort(entries_, static_cast<unsigned>(std::bit_width(kind.extent.all.end - first)),
               [first](const Entry &entry) { return entry.range.begin - first; });
  }

  // Returns the first of two neighbours that overlap, or nullptr.
  const Entry *find_overlap() const {
    for (size_t n = 1; n < entries_.size(); ++n)
      if (entries_[n - 1].range.overlaps(entries_[n].range)) return &entries_[n - 1];
    return nullptr;
  }
  // Returns one of these and one of the others that overlap, or nullptr. No two of these may
  // overlap each other.
  std::pair<const Entry *, const Entry *> find_overlap(const Sorted &others) const {
    auto at = entries_.begin();
    for (const Entry &other : others.entries_) {
      while (at != entries_.end() && at->range.end <= other.range.begin) ++at;
      if (at == entries_.end()) break;
      if (at->range.overlaps(other.range)) return {&*at, &other};
    }
    return {};
  }

 private:
  std::vector<Entry> entries_;
};

void Overlaps::add(const char *what, bool is_written, size_t count, At at, const Extent *extent,
                   Period period) {
  Kind kind = {what, is_written, false, count, std::move(at), {}, period};
  if (extent != nullptr)
    kind.extent = *extent;
  else
    for (size_t n = 0; n < count; ++n) kind.extent.add(kind.at(n));
  if (!kind.extent.empty()) kinds_.push_back(std::move(kind));
}

void Overlaps::add_one(const char *what, bool is_written, const MemoryRange &range) {
  add(what, is_written, 1, [range](size_t) { return range; }, nullptr, {});
  if (!range.empty()) kinds_.back().is_one = true;
}

std::string Overlaps::name(const Kind &kind, size_t n) const {
  const std::string what = "the " + std::string(kind.what);
  const size_t number = number_of_ != nullptr ? number_of_(n) : n;
  return kind.is_one ? what : what + " of message " + std::to_string(number);
}

Status Overlaps::overlap(const Kind &one, size_t n, const Kind &other, size_t m) const {
  return wrong_argument(name(one, n) + " overlaps " + name(other, m));
}

Status Overlaps::check() {
  std::vector<std::optional<Sorted>> made(kinds_.size());
  const auto sorted = [&](size_t n) -> const Sorted & {
    return made[n] ? *made[n] : made[n].emplace(kinds_[n]);
  };
  for (size_t n = 0; n < kinds_.size(); ++n) {
    const Kind &written = kinds_[n];
    if (!written.is_written) continue;
    // Two kinds that are both written are compared once.
    const auto is_compared = [&](size_t m) {
      return m != n && (!kinds_[m].is_written || m > n) &&
             kinds_[m].extent.overlaps(written.extent) &&
             !written.period.is_apart_from(kinds_[m].period);
    };
    bool is_apart = written.extent.ascends;
    for (size_t m = 0; m < kinds_.size(); ++m) is_apart = is_apart && !is_compared(m);
    if (is_apart) continue;
    if (const Entry *const found = sorted(n).find_overlap(); found != nullptr)
      return overlap(written, found[0].number, written, found[1].number);
    for (size_t m = 0; m < kinds_.size(); ++m) {
      if (!is_compared(m)) continue;
      const auto [found, other] = sorted(n).find_overlap(sorted(m));
      if (found != nullptr) return overlap(written, found->number, kinds_[m], other->number);
    }
  }
  return Status();
}

}  // namespace lanecrypt
