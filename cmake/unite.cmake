# Compiles the C++ files of a folder together, a few at a time, and also files that are alone in
# their folders. All of them read the same headers and instantiate the same templates, so this
# takes less time. Every build does it, so that a user's compiler gets the same input as in the
# tests. It hides that a file does not include a header of this project that it needs;
# dev/check_includes.py finds that.
#
# SPDX-License-Identifier: Apache-2.0
option(LANECRYPT_UNITE "compile the C++ files of a folder together" ON)

# The most files that a compiler gets at once. With this limit two cores share a large folder.
set(lanecrypt_united_files 7)
get_filename_component(lanecrypt_unite_root ${CMAKE_CURRENT_LIST_DIR} DIRECTORY)

# lanecrypt_unite(TARGET... [ALONE FILE...]): unites the files of each target that exists. ALONE
# names files that must be compiled separately, relative to the root of the source. Files that
# have their own definitions in some builds are among them: otherwise the remaining files would be
# grouped differently in different builds.
function(lanecrypt_unite)
  if(NOT LANECRYPT_UNITE)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "ALONE")
  foreach(file IN LISTS arg_ALONE)
    # The Python package's source distribution has no tests and no benchmarks.
    string(REGEX REPLACE "/.*" "" folder ${file})
    if(EXISTS ${lanecrypt_unite_root}/${folder} AND NOT EXISTS ${lanecrypt_unite_root}/${file})
      message(FATAL_ERROR "lanecrypt_unite: there is no ${file}")
    endif()
  endforeach()
  foreach(target IN LISTS arg_UNPARSED_ARGUMENTS)
    if(TARGET ${target})
      lanecrypt_unite_target(${target} "${arg_ALONE}")
    endif()
  endforeach()
endfunction()

function(lanecrypt_unite_target target alone)
  get_target_property(sources ${target} SOURCES)
  get_target_property(target_folder ${target} SOURCE_DIR)
  set(folders)
  foreach(source IN LISTS sources)
    get_filename_component(source "${source}" ABSOLUTE BASE_DIR ${target_folder})
    file(RELATIVE_PATH path ${lanecrypt_unite_root} "${source}")
    # Leaves out objects and generated files.
    string(FIND "${source}" "${PROJECT_BINARY_DIR}/" made)
    if(made EQUAL 0 OR NOT path MATCHES "^[a-z].*[.]cpp$" OR path IN_LIST alone)
      continue()
    endif()
    get_filename_component(folder ${path} DIRECTORY)
    string(MAKE_C_IDENTIFIER ${folder} folder)
    list(APPEND folders ${folder})
    list(APPEND files_${folder} ${source})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder IN LISTS folders)
    list(LENGTH files_${folder} count)
    if(count EQUAL 1)
      list(APPEND files_single ${files_${folder}})
    endif()
  endforeach()
  list(APPEND folders single)
  foreach(folder IN LISTS folders)
    list(LENGTH files_${folder} count)
    if(count LESS 2)
      continue()
    endif()
    # Groups of equal size.
    math(EXPR groups "(${count} + ${lanecrypt_united_files} - 1) / ${lanecrypt_united_files}")
    set(index 0)
    foreach(source IN LISTS files_${folder})
      math(EXPR group "${index} * ${groups} / ${count}")
      set_source_files_properties(${source} TARGET_DIRECTORY ${target}
        PROPERTIES UNITY_GROUP ${folder}_${group})
      math(EXPR index "${index} + 1")
    endforeach()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
