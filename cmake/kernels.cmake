# Decides which APIs are built in, and compiles the kernels for CUDA. summary.cmake says what is
# left out and why. Sets LANECRYPT_KERNEL_SETS, LANECRYPT_HAVE_CUDA, LANECRYPT_FATBIN_OBJECT,
# LANECRYPT_HAVE_OPENCL and LANECRYPT_HAVE_GL.

include(${PROJECT_SOURCE_DIR}/cmake/find_nvcc.cmake)

# The names in the rows of LC_KERNEL_SETS.
set(kernel_sets ${PROJECT_SOURCE_DIR}/src/device/kernel_sets.h)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${kernel_sets})
file(READ ${kernel_sets} rows)
string(REGEX MATCHALL "\n  ROW\\([a-z0-9_]+" rows "${rows}")
list(TRANSFORM rows REPLACE "\n  ROW\\(" "" OUTPUT_VARIABLE LANECRYPT_KERNEL_SETS)

option(LANECRYPT_FAST_KERNELS
       "compile CUDA's kernels with as little optimization as possible: for tests without a GPU" OFF)

set(LANECRYPT_FATBINS "" CACHE PATH
    "a folder in which another build has compiled CUDA's kernels; empty: compile them")

set(LANECRYPT_HAVE_CUDA OFF)
if(LANECRYPT_NVCC)
  set(LANECRYPT_HAVE_CUDA ON)
  set(every_arch 75 80 86 89 90 100 120)
  set(archs ${LANECRYPT_CUDA_ARCHS})
  if(archs STREQUAL "all")
    set(archs ${every_arch})
  endif()
  set(gencode)
  foreach(arch IN LISTS archs)
    list(APPEND gencode -gencode arch=compute_${arch},code=sm_${arch})
  endforeach()
  # PTX of the newest architecture, for future devices.
  list(GET archs -1 newest)
  list(APPEND gencode -gencode arch=compute_${newest},code=compute_${newest})
  # A usual build has few architectures, but the source is for all. The target
  # kernels_of_every_arch checks that it compiles for each, with as little optimization as
  # possible.
  set(compile_for ${PROJECT_SOURCE_DIR}/cmake/compile_for_architectures.py)
  set(fast_compile)
  if(LANECRYPT_NVCC_RELEASE VERSION_GREATER_EQUAL 13.0)
    set(fast_compile -Ofc max)
  endif()
  set(optimization -O3)
  if(LANECRYPT_FAST_KERNELS)
    set(optimization ${fast_compile})
  endif()
  set(checked_fatbins)

  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/kernels)
  # Makes the fatbin of one kernel set. Sets FATBIN to the file made from SOURCE.
  function(lanecrypt_add_fatbin fatbin source)
    set(made ${PROJECT_BINARY_DIR}/kernels/${fatbin}.fatbin)
    set(${fatbin} ${made} PARENT_SCOPE)
    if(LANECRYPT_FATBINS)
      add_custom_command(
        OUTPUT ${made}
        COMMAND ${CMAKE_COMMAND} -E copy ${LANECRYPT_FATBINS}/${fatbin}.fatbin ${made}
        DEPENDS ${LANECRYPT_FATBINS}/${fatbin}.fatbin
        VERBATIM)
      return()
    endif()
    add_custom_command(
      OUTPUT ${made}
      COMMAND ${LANECRYPT_NVCC} -fatbin -std=c++17 -t 2 ${optimization} ${gencode}
              ${LANECRYPT_NVCC_FLAGS} -I ${PROJECT_SOURCE_DIR} -MMD -MF ${made}.d
              -o ${made} ${PROJECT_SOURCE_DIR}/src/device/cuda/${source}
      DEPENDS ${PROJECT_SOURCE_DIR}/src/device/cuda/${source}
      DEPFILE ${made}.d
      COMMENT "Compiling ${source} for CUDA (${archs})"
      VERBATIM)
    set(checked ${PROJECT_BINARY_DIR}/kernels/${fatbin}_every_arch.fatbin)
    add_custom_command(
      OUTPUT ${checked}
      COMMAND ${Python3_EXECUTABLE} ${compile_for} ${CMAKE_CXX_COMPILER} ${PROJECT_SOURCE_DIR}
              ${PROJECT_SOURCE_DIR}/src/device/cuda/${source} ${every_arch} --
              ${LANECRYPT_NVCC} -fatbin -std=c++17 -t 2 ${fast_compile}
              ${LANECRYPT_NVCC_FLAGS} -I ${PROJECT_SOURCE_DIR} -MMD -MF ${checked}.d -o ${checked}
      DEPENDS ${compile_for} ${PROJECT_SOURCE_DIR}/src/device/cuda/${source}
      DEPFILE ${checked}.d
      COMMENT "Looking that ${source} compiles for CUDA (${every_arch})"
      VERBATIM)
    set(checked_fatbins ${checked_fatbins} ${checked} PARENT_SCOPE)
  endfunction()
  foreach(set IN LISTS LANECRYPT_KERNEL_SETS)
    lanecrypt_add_fatbin(lanecrypt_${set} ${set}_kernels.cu)
  endforeach()
  add_custom_target(kernels_of_every_arch DEPENDS ${checked_fatbins})
  # The fatbins are in the library's read-only data.
  set(LANECRYPT_FATBIN_OBJECT ${PROJECT_BINARY_DIR}/kernels/fatbin.o)
  set(assembler ${PROJECT_BINARY_DIR}/kernels/fatbin.S)
  set(embedded "  .section .rodata\n")
  set(fatbins)
  foreach(set IN LISTS LANECRYPT_KERNEL_SETS)
    list(APPEND fatbins ${lanecrypt_${set}})
    string(APPEND embedded "  .global lanecrypt_${set}_fatbin
  .hidden lanecrypt_${set}_fatbin
  .balign 64
lanecrypt_${set}_fatbin:
  .incbin \"lanecrypt_${set}.fatbin\"
  .byte 0
")
  endforeach()
  string(APPEND embedded "  .section .note.GNU-stack, \"\", @progbits\n")
  file(WRITE ${assembler}.new "${embedded}")
  file(COPY_FILE ${assembler}.new ${assembler} ONLY_IF_DIFFERENT)
  # Only targets that link the library wait for nvcc, which takes minutes. If the assembler file
  # were a source of the library, all its other sources would wait too.
  add_custom_command(
    OUTPUT ${LANECRYPT_FATBIN_OBJECT}
    COMMAND ${CMAKE_ASM_COMPILER} -c -Wa,-I${PROJECT_BINARY_DIR}/kernels
            -o ${LANECRYPT_FATBIN_OBJECT} ${assembler}
    DEPENDS ${assembler} ${fatbins}
    VERBATIM)
  add_custom_target(lanecrypt_fatbins DEPENDS ${LANECRYPT_FATBIN_OBJECT})
endif()

find_path(LANECRYPT_OPENCL_INCLUDE CL/cl.h)
if(LANECRYPT_OPENCL_INCLUDE)
  set(LANECRYPT_HAVE_OPENCL ON)
else()
  set(LANECRYPT_HAVE_OPENCL OFF)
endif()

# The folder of EGL/egl.h has GLES3/gl32.h and GLES2/gl2ext.h too.
find_path(LANECRYPT_GL_INCLUDE NAMES EGL/eglext.h)
if(LANECRYPT_GL_INCLUDE AND EXISTS ${LANECRYPT_GL_INCLUDE}/GLES3/gl32.h)
  set(LANECRYPT_HAVE_GL ON)
else()
  set(LANECRYPT_HAVE_GL OFF)
endif()
