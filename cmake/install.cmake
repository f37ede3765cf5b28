# What `cmake --install` puts where. Every destination is relative to the prefix, and every file
# finds the others relative to its own path, so that `cmake --install build --prefix ELSEWHERE`
# works.
#
# SPDX-License-Identifier: Apache-2.0

target_include_directories(lanecrypt INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
set(lanecrypt_exports ${PROJECT_SOURCE_DIR}/src/exports.map)
target_link_options(lanecrypt PRIVATE -Wl,--version-script=${lanecrypt_exports})
set_property(TARGET lanecrypt APPEND PROPERTY LINK_DEPENDS ${lanecrypt_exports})

# Sets `result` to ${prefix}/`folder` relative to ${prefix}/`from`, or to `absolute` if one of
# them is not under the prefix.
function(lanecrypt_relative result from folder root absolute)
  if(IS_ABSOLUTE "${from}" OR IS_ABSOLUTE "${folder}")
    set(${result} "${absolute}" PARENT_SCOPE)
  else()
    file(RELATIVE_PATH path "/${from}" "/${folder}")
    string(REGEX REPLACE "/$" "" path "${path}")
    set(${result} "${root}/${path}" PARENT_SCOPE)
  endif()
endfunction()

# The folder in which OpenSSL looks for gpu.so, if that is under the prefix.
if(NOT DEFINED LANECRYPT_MODULES_DIR)
  set(lanecrypt_modules "${CMAKE_INSTALL_LIBDIR}/ossl-modules")
  find_program(LANECRYPT_OPENSSL_COMMAND openssl)
  mark_as_advanced(LANECRYPT_OPENSSL_COMMAND)
  if(LANECRYPT_OPENSSL_COMMAND)
    execute_process(COMMAND ${LANECRYPT_OPENSSL_COMMAND} version -m
                    OUTPUT_VARIABLE lanecrypt_openssl_modules ERROR_QUIET)
    if(CMAKE_INSTALL_PREFIX STREQUAL "/usr"
       AND lanecrypt_openssl_modules MATCHES "MODULESDIR: \"/usr/([^\"]+)\"")
      set(lanecrypt_modules "${CMAKE_MATCH_1}")
    endif()
  endif()
  set(LANECRYPT_MODULES_DIR "${lanecrypt_modules}" CACHE STRING
      "folder for the OpenSSL module gpu.so, absolute or under the prefix")
endif()

install(TARGETS lanecrypt EXPORT lanecrypt LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/lanecrypt
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")

# Programs find the library by the same relative path in the build folder and after the
# installation. CMake would otherwise replace one run path by the other and pad the shorter one
# with empty entries, which mean the current folder.

# The probe is in a subfolder beside the library, which looks there.
set_target_properties(lanecrypt_probe PROPERTIES
  INSTALL_RPATH "$ORIGIN/.." BUILD_WITH_INSTALL_RPATH ON)
install(TARGETS lanecrypt_probe RUNTIME DESTINATION ${CMAKE_INSTALL_LIBDIR}/lanecrypt)

if(TARGET gpu)
  lanecrypt_relative(origin "${LANECRYPT_MODULES_DIR}" "${CMAKE_INSTALL_LIBDIR}"
                     "$ORIGIN" "${CMAKE_INSTALL_FULL_LIBDIR}")
  set_target_properties(gpu PROPERTIES
    INSTALL_RPATH "$ORIGIN;${origin}" BUILD_WITH_INSTALL_RPATH ON)
  install(TARGETS gpu LIBRARY DESTINATION ${LANECRYPT_MODULES_DIR})
endif()

foreach(program lanecrypt_main lanecrypt_bench lanecryptd)
  if(TARGET ${program})
    lanecrypt_relative(origin "${CMAKE_INSTALL_BINDIR}" "${CMAKE_INSTALL_LIBDIR}"
                       "$ORIGIN" "${CMAKE_INSTALL_FULL_LIBDIR}")
    set_target_properties(${program} PROPERTIES
      INSTALL_RPATH "$ORIGIN/../lib;${origin}" BUILD_WITH_INSTALL_RPATH ON)
    install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endforeach()
# For lanecrypt-bench, in builds with LANECRYPT_DIAGNOSTICS.
if(TARGET lanecrypt_gl2007)
  install(TARGETS lanecrypt_gl2007 LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
if(TARGET lanecrypt_main)
  # `lanecrypt run` and `lanecrypt bench` find the provider there.
  lanecrypt_relative(modules "${CMAKE_INSTALL_BINDIR}" "${LANECRYPT_MODULES_DIR}" "."
                     "${LANECRYPT_MODULES_DIR}")
  set_property(SOURCE ${PROJECT_SOURCE_DIR}/cli/provider_module.cpp
    DIRECTORY ${PROJECT_SOURCE_DIR}/cli APPEND PROPERTY
    COMPILE_DEFINITIONS LANECRYPT_MODULES_FROM_COMMAND="${modules}")
endif()

# systemd's units. The path of the program is known only at installation.
if(TARGET lanecryptd)
  set(lanecrypt_units ${PROJECT_SOURCE_DIR}/dist/systemd)
  if(IS_ABSOLUTE "${CMAKE_INSTALL_BINDIR}")
    set(lanecrypt_bin "${CMAKE_INSTALL_BINDIR}")
  else()
    set(lanecrypt_bin "\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}")
  endif()
  install(CODE "
    set(LANECRYPTD \"${lanecrypt_bin}/lanecryptd\")
    configure_file(\"${lanecrypt_units}/lanecryptd.service.in\"
                   \"${PROJECT_BINARY_DIR}/lanecryptd.service\" @ONLY)")
  install(FILES ${PROJECT_BINARY_DIR}/lanecryptd.service ${lanecrypt_units}/lanecryptd.socket
          DESTINATION lib/systemd/system)
  install(FILES ${lanecrypt_units}/50-lanecrypt.preset DESTINATION lib/systemd/system-preset)
  install(FILES ${PROJECT_SOURCE_DIR}/dist/sysusers.d/lanecrypt.conf DESTINATION lib/sysusers.d)
  install(FILES ${PROJECT_SOURCE_DIR}/dist/tmpfiles.d/lanecrypt.conf DESTINATION lib/tmpfiles.d)
endif()

foreach(section 1 3 5 7 8)
  file(GLOB pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/*.${section}
       ${PROJECT_SOURCE_DIR}/docs/man/*.${section})
  if(pages)
    install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
  endif()
endforeach()

# find_package(lanecrypt) -> lanecrypt::lanecrypt
set(lanecrypt_package ${CMAKE_INSTALL_LIBDIR}/cmake/lanecrypt)
include(CMakePackageConfigHelpers)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/lanecryptConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(EXPORT lanecrypt NAMESPACE lanecrypt:: FILE lanecryptConfig.cmake
        DESTINATION ${lanecrypt_package})
install(FILES ${PROJECT_BINARY_DIR}/lanecryptConfigVersion.cmake DESTINATION ${lanecrypt_package})

# pkg-config --libs lanecrypt
lanecrypt_relative(lanecrypt_pc_prefix "${CMAKE_INSTALL_LIBDIR}/pkgconfig" "."
                   "\${pcfiledir}" "${CMAKE_INSTALL_PREFIX}")
foreach(kind LIBDIR INCLUDEDIR)
  if(IS_ABSOLUTE "${CMAKE_INSTALL_${kind}}")
    set(lanecrypt_pc_${kind} "${CMAKE_INSTALL_${kind}}")
  else()
    set(lanecrypt_pc_${kind} "\${prefix}/${CMAKE_INSTALL_${kind}}")
  endif()
endforeach()
configure_file(${PROJECT_SOURCE_DIR}/cmake/lanecrypt.pc.in ${PROJECT_BINARY_DIR}/lanecrypt.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/lanecrypt.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

include(${PROJECT_SOURCE_DIR}/cmake/summary.cmake)
