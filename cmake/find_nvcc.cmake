# Finds NVIDIA's compiler: the one that -DLANECRYPT_NVCC names, one on PATH, one
# under /usr/local/cuda, the one that dev/setup keeps in the cache, or one of the list
# LANECRYPT_NVCC_ELSEWHERE. Sets
#   LANECRYPT_NVCC          the program, or a false value if there is none
#   LANECRYPT_NVCC_FLAGS    a list that must be passed in every call
#   LANECRYPT_NVCC_RELEASE  such as 13.0
#   LANECRYPT_NVCC_WHY      why there is none, for the summary
#
# SPDX-License-Identifier: Apache-2.0

# The first release that compiles for all architectures of this project, as in dev/setup.
set(LANECRYPT_OLDEST_NVCC 12.8)

# Sets `release` to the release of nvcc `program`, or to an empty string.
function(lanecrypt_nvcc_release program release)
  execute_process(COMMAND ${program} --version OUTPUT_VARIABLE text ERROR_QUIET
                  RESULT_VARIABLE failed)
  set(${release} "" PARENT_SCOPE)
  if(NOT failed AND text MATCHES "release ([0-9]+\\.[0-9]+)")
    set(${release} ${CMAKE_MATCH_1} PARENT_SCOPE)
  endif()
endfunction()

set(LANECRYPT_NVCC "" CACHE FILEPATH "nvcc; empty: looked for")
set(LANECRYPT_NVCC_RELEASE "")
set(LANECRYPT_NVCC_FLAGS "")
set(LANECRYPT_NVCC_WHY "there is no nvcc (dev/setup fetches one)")

if(LANECRYPT_CUDA_ARCHS STREQUAL "none")
  set(LANECRYPT_NVCC_WHY "LANECRYPT_CUDA_ARCHS is none")
  # Hides the cached value during this run. The cache keeps the value that the user gave.
  set(LANECRYPT_NVCC "")
elseif(LANECRYPT_NVCC)
  lanecrypt_nvcc_release(${LANECRYPT_NVCC} LANECRYPT_NVCC_RELEASE)
  if(NOT LANECRYPT_NVCC_RELEASE)
    message(FATAL_ERROR "LANECRYPT_NVCC names no working nvcc: ${LANECRYPT_NVCC}")
  endif()
else()
  if(DEFINED ENV{XDG_CACHE_HOME} AND NOT "$ENV{XDG_CACHE_HOME}" STREQUAL "")
    set(lanecrypt_cache "$ENV{XDG_CACHE_HOME}")
  else()
    set(lanecrypt_cache "$ENV{HOME}/.cache")
  endif()
  # The path that `dev/setup --folder nvcc` prints. A source distribution of the Python package
  # has no dev/.
  set(lanecrypt_nvcc_wheels)
  if(EXISTS ${PROJECT_SOURCE_DIR}/dev/requirements/nvcc.txt)
    file(SHA256 ${PROJECT_SOURCE_DIR}/dev/requirements/nvcc.txt lanecrypt_digest)
    string(SUBSTRING ${lanecrypt_digest} 0 12 lanecrypt_digest)
    set(lanecrypt_nvcc_wheels ${lanecrypt_cache}/lanecrypt/nvcc-${lanecrypt_digest}/nvidia/cu13/bin/nvcc)
  endif()
  # Not kept in CMake's cache, so that an nvcc that is installed later is found, and one that was
  # removed is not used.
  find_program(lanecrypt_nvcc_on_path nvcc NO_CACHE NO_CMAKE_PATH NO_CMAKE_ENVIRONMENT_PATH
               NO_CMAKE_SYSTEM_PATH)
  foreach(lanecrypt_candidate IN ITEMS ${lanecrypt_nvcc_on_path} /usr/local/cuda/bin/nvcc
                                      ${lanecrypt_nvcc_wheels}
                                      ${LANECRYPT_NVCC_ELSEWHERE})
    if(NOT lanecrypt_candidate OR NOT EXISTS "${lanecrypt_candidate}")
      continue()
    endif()
    lanecrypt_nvcc_release("${lanecrypt_candidate}" lanecrypt_release)
    if(NOT lanecrypt_release)
      set(LANECRYPT_NVCC_WHY "${lanecrypt_candidate} does not work")
    elseif(lanecrypt_release VERSION_LESS LANECRYPT_OLDEST_NVCC)
      set(LANECRYPT_NVCC_WHY "${lanecrypt_candidate} is release ${lanecrypt_release}, older than \
${LANECRYPT_OLDEST_NVCC} (dev/setup fetches a newer one)")
    else()
      set(LANECRYPT_NVCC "${lanecrypt_candidate}")
      set(LANECRYPT_NVCC_RELEASE ${lanecrypt_release})
      set(LANECRYPT_NVCC_WHY "")
      break()
    endif()
  endforeach()
endif()

# The wheels have their libraries in lib, but their nvcc searches lib64.
if(LANECRYPT_NVCC)
  set(LANECRYPT_NVCC_WHY "")
  get_filename_component(lanecrypt_nvcc_lib "${LANECRYPT_NVCC}/../../lib" ABSOLUTE)
  if(EXISTS "${lanecrypt_nvcc_lib}/libcudart_static.a")
    list(APPEND LANECRYPT_NVCC_FLAGS "-L${lanecrypt_nvcc_lib}")
  endif()
endif()
