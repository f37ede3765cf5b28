# Chooses the GPUs for which pip compiles kernels, and the compiler.
#
# SPDX-License-Identifier: Apache-2.0

# The GPUs of this machine; on a machine without a GPU, all that the library supports.
if(NOT DEFINED CACHE{LANECRYPT_CUDA_ARCHS})
  execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
    OUTPUT_VARIABLE lanecrypt_capabilities ERROR_QUIET RESULT_VARIABLE lanecrypt_failed)
  string(REGEX MATCHALL "[0-9]+\\.[0-9]" lanecrypt_capabilities "${lanecrypt_capabilities}")
  list(REMOVE_DUPLICATES lanecrypt_capabilities)
  string(REPLACE "." "" lanecrypt_archs "${lanecrypt_capabilities}")
  if(lanecrypt_failed OR NOT lanecrypt_archs)
    set(lanecrypt_archs all)
  endif()
  set(LANECRYPT_CUDA_ARCHS ${lanecrypt_archs} CACHE STRING "CUDA architectures to compile for")
endif()

# pip has fetched the compiler, as pyproject.toml requests, into the packages of this Python.
execute_process(
  COMMAND ${Python_EXECUTABLE} -c "import nvidia; print(*nvidia.__path__, sep=';')"
  OUTPUT_VARIABLE lanecrypt_nvidia OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
list(TRANSFORM lanecrypt_nvidia APPEND "/cu13/bin/nvcc" OUTPUT_VARIABLE LANECRYPT_NVCC_ELSEWHERE)
