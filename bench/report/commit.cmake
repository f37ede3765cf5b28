# Writes OUT, a header that names the built commit, and changes the file only if the commit has
# changed. Runs at every build: cmake -DSOURCE=... -DOUT=... -P
set(commit "unknown")
find_program(git git)
if(git)
  execute_process(COMMAND ${git} -C ${SOURCE} describe --always --dirty --abbrev=12
    OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed)
    set(commit ${described})
  endif()
endif()
# Figures of kernels that were compiled without optimization mean nothing, and bench/results
# contains none with such a commit.
if(FAST_KERNELS)
  string(APPEND commit "-fast-kernels")
endif()
set(text "#define LANECRYPT_COMMIT \"${commit}\"\n")
set(before "")
if(EXISTS ${OUT})
  file(READ ${OUT} before)
endif()
if(NOT before STREQUAL text)
  file(WRITE ${OUT} ${text})
endif()
