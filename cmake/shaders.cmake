# Embeds shaders as text in C++ sources.
#
# SPDX-License-Identifier: Apache-2.0

# lanecrypt_shaders(TARGET NAME...): an object library that defines lanecrypt_gl_NAME, the text of
# shaders/NAME.glsl in this folder with everything that it includes.
function(lanecrypt_shaders target)
  set(bundles)
  foreach(name ${ARGN})
    set(shader ${CMAKE_CURRENT_SOURCE_DIR}/shaders/${name}.glsl)
    set(bundle ${PROJECT_BINARY_DIR}/kernels/gl_${name}.cpp)
    add_custom_command(
      OUTPUT ${bundle}
      COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/cmake/bundle_kernels.py
              --glsl --root ${PROJECT_SOURCE_DIR} --name lanecrypt_gl_${name}
              --instead kernels/platform.h=${PROJECT_SOURCE_DIR}/src/device/gl/shaders/platform.glsl
              --depfile ${bundle}.d ${shader} ${bundle}
      DEPENDS ${PROJECT_SOURCE_DIR}/cmake/bundle_kernels.py ${shader}
      DEPFILE ${bundle}.d
      COMMENT "Bundling the shaders of ${name}.glsl"
      VERBATIM)
    list(APPEND bundles ${bundle})
  endforeach()
  # CMake knows a generated file only in the folder of its command, so it is compiled here.
  add_library(${target} OBJECT ${bundles})
endfunction()
