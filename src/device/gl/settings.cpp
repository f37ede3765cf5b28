// SPDX-License-Identifier: Apache-2.0
#include "device/gl/settings.h"

#include <stdlib.h>

#include <sstream>

namespace lanecrypt::device::gl {
namespace {

Status unknown(const std::string &word) {
  return {LC_ERROR_ARGUMENT, "LANECRYPT_GL does not know '" + word +
                                 "': it is shaders=best, shaders=compute or shaders=fragment"};
}

}  // namespace

Result<Settings> read_settings() {
  Settings settings;
  const char *value = getenv("LANECRYPT_GL");
  if (value == nullptr) return settings;
  std::istringstream list(value);
  for (std::string word; std::getline(list, word, ',');) {
    if (word == "shaders=best")
      settings.shaders = Shaders::kBest;
    else if (word == "shaders=compute")
      settings.shaders = Shaders::kCompute;
    else if (word == "shaders=fragment")
      settings.shaders = Shaders::kFragment;
    else
      return unknown(word);
  }
  return settings;
}

}  // namespace lanecrypt::device::gl
