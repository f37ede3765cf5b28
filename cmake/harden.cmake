# Compiler and linker options that make memory errors harder to exploit, for every target of the
# folder that includes this file and of its subfolders. dev/check-release checks the result.

include(CheckCXXCompilerFlag)
include(CheckCXXSourceCompiles)
include(CheckLinkerFlag)
include(CheckPIESupported)
include(CMakePushCheckState)

# Programs are position-independent like libraries, whatever the compiler's default is.
check_pie_supported(LANGUAGES C CXX)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-fstack-protector-strong>)

# Some distributions define another level. Without optimization there are no checks, and the C
# library warns. With sanitizers the level stays off: sanitizers check more, and know fewer of the
# checked functions.
if(NOT LANECRYPT_SANITIZE)
  foreach(level 3 2)
    cmake_push_check_state(RESET)
    set(CMAKE_REQUIRED_FLAGS "-O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=${level} -Werror")
    check_cxx_source_compiles("
      #include <features.h>
      #if __USE_FORTIFY_LEVEL != ${level}
      #error not known
      #endif
      int main() { return 0; }" LANECRYPT_FORTIFY_${level})
    cmake_pop_check_state()
    if(LANECRYPT_FORTIFY_${level})
      add_compile_options("$<$<AND:$<COMPILE_LANGUAGE:C,CXX>,$<NOT:$<CONFIG:Debug>>>:SHELL:-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=${level}>")
      break()
    endif()
  endforeach()
endif()

# The second option is for x86. Other compilers reject it, or warn that it has no effect.
foreach(feature stack_clash cf)
  string(REPLACE _ - option -f${feature}_protection)
  cmake_push_check_state(RESET)
  set(CMAKE_REQUIRED_FLAGS -Werror)
  check_cxx_compiler_flag(${option} LANECRYPT_HAS_${feature})
  cmake_pop_check_state()
  if(LANECRYPT_HAS_${feature})
    add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:${option}>)
  endif()
endforeach()

# All symbols are bound when a file is loaded, and the tables with their addresses are then
# read-only. The linker marks a file as compatible with shadow stacks only if all its parts are
# marked. The C library's startup and exit parts often are not, although any code that keeps to
# the calling convention is compatible, so the mark is forced here. That does not hold for
# indirect branches into those parts, so the linker decides about the other mark.
set(options relro now noexecstack)
if(LANECRYPT_HAS_cf)
  list(APPEND options shstk)
endif()
foreach(option IN LISTS options)
  check_linker_flag(CXX -Wl,-z,${option} LANECRYPT_LINKS_${option})
  if(LANECRYPT_LINKS_${option})
    add_link_options(-Wl,-z,${option})
  endif()
endforeach()
