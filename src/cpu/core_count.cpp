// SPDX-License-Identifier: Apache-2.0
#include "cpu/core_count.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace lanecrypt::cpu {
namespace {

// The provider has a copy of this file. Standard library streams would slow the start of each
// process that loads it.
struct CloseFile {
  void operator()(FILE *file) const { (void)fclose(file); }
};
using File = std::unique_ptr<FILE, CloseFile>;

// Reads a line. Returns false at the end of the file, and if there is no file.
bool read_line(const File &file, std::string *line) {
  line->clear();
  if (file == nullptr) return false;
  int c;
  while ((c = getc(file.get())) != EOF && c != '\n') line->push_back(char(c));
  return c != EOF || !line->empty();
}

std::string first_line(const std::string &path) {
  std::string line;
  (void)read_line(File(fopen(path.c_str(), "re")), &line);
  return line;
}

// Returns the limit in cores. "max", "-1" and a missing quota mean no limit.
unsigned limit_of(const std::string &quota_and_period) {
  char *end = nullptr;
  const long long quota = std::strtoll(quota_and_period.c_str(), &end, 10);
  const long long period = std::strtoll(end, nullptr, 10);
  if (quota <= 0 || period <= 0) return UINT_MAX;
  return static_cast<unsigned>(std::clamp<long long>(quota / period, 1, UINT_MAX));
}

}  // namespace

unsigned group_cores(const std::string &list, const std::string &mount) {
  unsigned least = UINT_MAX;
  const File groups(fopen(list.c_str(), "re"));
  // A line is "0::/a/b", or in version 1 "3:cpu,cpuacct:/a/b".
  for (std::string line; read_line(groups, &line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string kinds = line.substr(first + 1, second - first - 1);
    const bool is_second_version = kinds.empty();
    if (!is_second_version && ("," + kinds + ",").find(",cpu,") == std::string::npos) continue;
    // In a container the mount may be the process's own group, while the name is that of the group
    // outside the container.
    for (std::string group = line.substr(second + 1);; group.erase(group.rfind('/'))) {
      const std::string folder = mount + (is_second_version ? "" : "/cpu") + group + "/";
      least = std::min(least,
                       limit_of(is_second_version ? first_line(folder + "cpu.max")
                                                  : first_line(folder + "cpu.cfs_quota_us") + " " +
                                                        first_line(folder + "cpu.cfs_period_us")));
      if (group.find('/') == std::string::npos) break;
    }
  }
  return least;
}

unsigned usable_cores() {
  cpu_set_t set;
  const unsigned cores = sched_getaffinity(0, sizeof set, &set) == 0
                             ? static_cast<unsigned>(CPU_COUNT(&set))
                             : static_cast<unsigned>(std::max(1l, sysconf(_SC_NPROCESSORS_ONLN)));
  return std::max(1u, std::min(cores, group_cores("/proc/self/cgroup", "/sys/fs/cgroup")));
}

unsigned bulk_cores() { return std::min(usable_cores(), 8u); }

}  // namespace lanecrypt::cpu
