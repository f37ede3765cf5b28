// SPDX-License-Identifier: Apache-2.0
#include "cpu/core_count.h"

#include <sched.h>

#include <algorithm>
#include <climits>
#include <fstream>
#include <sstream>
#include <thread>

namespace lanecrypt::cpu {
namespace {

std::string read_line(const std::string &path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// "max", "-1" and a missing quota are no limit.
unsigned limit_of(const std::string &quota_and_period) {
  std::istringstream text(quota_and_period);
  double quota = 0, period = 0;
  if (!(text >> quota >> period) || quota <= 0 || period <= 0) return UINT_MAX;
  return static_cast<unsigned>(std::clamp(quota / period, 1.0, double{UINT_MAX}));
}

}  // namespace

unsigned group_cores(const std::string &list, const std::string &mount) {
  unsigned least = UINT_MAX;
  std::ifstream groups(list);
  // A line is "0::/a/b", or of the first version "3:cpu,cpuacct:/a/b".
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string kinds = line.substr(first + 1, second - first - 1);
    const bool is_second_version = kinds.empty();
    if (!is_second_version && ("," + kinds + ",").find(",cpu,") == std::string::npos) continue;
    // In a container the mount may be the process's own group, while the name is the one
    // that the group has outside.
    for (std::string group = line.substr(second + 1);; group.erase(group.rfind('/'))) {
      const std::string folder = mount + (is_second_version ? "" : "/cpu") + group + "/";
      least = std::min(least,
                       limit_of(is_second_version ? read_line(folder + "cpu.max")
                                                  : read_line(folder + "cpu.cfs_quota_us") + " " +
                                                        read_line(folder + "cpu.cfs_period_us")));
      if (group.find('/') == std::string::npos) break;
    }
  }
  return least;
}

unsigned usable_cores() {
  cpu_set_t set;
  const unsigned cores = sched_getaffinity(0, sizeof set, &set) == 0
                             ? static_cast<unsigned>(CPU_COUNT(&set))
                             : std::thread::hardware_concurrency();
  return std::max(1u, std::min(cores, group_cores("/proc/self/cgroup", "/sys/fs/cgroup")));
}

unsigned bulk_cores() { return std::min(usable_cores(), 8u); }

}  // namespace lanecrypt::cpu
