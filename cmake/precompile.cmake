# Headers of others that most files read, compiled once for each target: a file of C++ then
# takes a quarter to a third less time. Off by default, so that who builds for use, and
# dev/check-release, find a file that does not include what it needs.
option(LANECRYPT_PRECOMPILE "compile the headers of the standard library and of tests once" OFF)
# A file with definitions of its own, such as LANECRYPT_DIAGNOSTICS, reads them itself.
set(CMAKE_PCH_WARN_INVALID OFF)

set(lanecrypt_standard_headers
  <algorithm> <array> <atomic> <chrono> <condition_variable> <cstdint> <cstring> <deque>
  <functional> <map> <memory> <mutex> <optional> <span> <sstream> <string> <string_view>
  <thread> <utility> <vector>)

# lanecrypt_precompile(TARGET [HEADER...]): the standard library's, and these.
function(lanecrypt_precompile target)
  if(LANECRYPT_PRECOMPILE)
    foreach(header ${lanecrypt_standard_headers} ${ARGN})
      list(APPEND headers "$<$<COMPILE_LANGUAGE:CXX>:${header}>")
    endforeach()
    target_precompile_headers(${target} PRIVATE ${headers})
    # As ccache's manual asks for, beside CCACHE_SLOPPINESS=pch_defines,time_macros.
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)
  endif()
endfunction()

# lanecrypt_precompiled_by(OTHER TARGET...): each takes what OTHER has compiled.
function(lanecrypt_precompiled_by other)
  if(LANECRYPT_PRECOMPILE)
    foreach(target ${ARGN})
      target_precompile_headers(${target} REUSE_FROM ${other})
      target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)
    endforeach()
  endif()
endfunction()
