# Precompiles the external headers that most files include, for the targets that share them. A C++
# file then takes a quarter to a third less time. Precompiling hides that a file does not include
# a standard header that it needs; dev/check_includes.py finds that. Only targets whose files are
# compiled with the same options can share precompiled headers: libraries not with programs, and
# tests with tests.
option(LANECRYPT_PRECOMPILE "compile the headers of the standard library and of tests once" OFF)
# A file with its own definitions, such as LANECRYPT_DIAGNOSTICS, reads the headers itself.
set(CMAKE_PCH_WARN_INVALID OFF)

set(lanecrypt_standard_headers
  <algorithm> <array> <atomic> <chrono> <condition_variable> <cstdint> <cstring> <deque>
  <functional> <map> <memory> <mutex> <optional> <span> <sstream> <string> <string_view>
  <thread> <utility> <vector>)

# lanecrypt_precompile(TARGET [HEADER...]): precompiles the standard library's headers and these.
function(lanecrypt_precompile target)
  if(LANECRYPT_PRECOMPILE)
    foreach(header ${lanecrypt_standard_headers} ${ARGN})
      list(APPEND headers "$<$<COMPILE_LANGUAGE:CXX>:${header}>")
    endforeach()
    target_precompile_headers(${target} PRIVATE ${headers})
    # ccache's manual requires this, and CCACHE_SLOPPINESS=pch_defines,time_macros.
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)
  endif()
endfunction()

# lanecrypt_precompiled_by(OTHER TARGET...): each target uses what OTHER has precompiled. gcc
# reads the headers again if its options differ, except for macros that the headers do not use.
function(lanecrypt_precompiled_by other)
  if(LANECRYPT_PRECOMPILE)
    foreach(target ${ARGN})
      target_precompile_headers(${target} REUSE_FROM ${other})
      target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)
    endforeach()
  endif()
endfunction()
