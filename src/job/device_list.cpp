// SPDX-License-Identifier: Apache-2.0
#include "job/device_list.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>

namespace lanecrypt {
namespace {

constexpr std::array<std::string_view, 4> kApis = {"cuda", "opencl", "gl", "host"};

}  // namespace

std::vector<std::string> split_device_list(const std::string &list) {
  std::vector<std::string> names;
  std::istringstream stream(list);
  for (std::string name; std::getline(stream, name, ',');) {
    const auto first = name.find_first_not_of(" \t"), last = name.find_last_not_of(" \t");
    names.push_back(first == std::string::npos ? "" : name.substr(first, last - first + 1));
  }
  return names;
}

Status check_device_list(const std::string &list, const std::string &subject) {
  if (list.empty() || list == "none") return Status();
  const auto wrong = [&] {
    return Status(LC_ERROR_ARGUMENT, subject + " \"" + list +
                                         "\" is wrong: it must be none, or names such as cuda:0, "
                                         "opencl and gl, separated by commas");
  };
  if (list.back() == ',') return wrong();
  for (const std::string &name : split_device_list(list)) {
    const size_t colon = name.find(':');
    const bool number_is_right =
        colon == std::string::npos ||
        (colon + 1 < name.size() && name.size() - colon <= 5 &&
         name.find_first_not_of("0123456789", colon + 1) == std::string::npos);
    if (std::find(kApis.begin(), kApis.end(), name.substr(0, colon)) == kApis.end() ||
        !number_is_right)
      return wrong();
  }
  return Status();
}

std::vector<std::string> apis_of_device_list(const std::string &list) {
  if (list == "none") return {};
  const std::vector<std::string> names = split_device_list(list);
  std::vector<std::string> apis;
  for (const std::string_view api : kApis) {
    const auto is_of_it = [&](const std::string &name) {
      return name.substr(0, name.find(':')) == api;
    };
    if (names.empty() || std::any_of(names.begin(), names.end(), is_of_it)) apis.emplace_back(api);
  }
  return apis;
}

}  // namespace lanecrypt
