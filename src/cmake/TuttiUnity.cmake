# Sources of one folder are compiled together, a few at a time: most of a small source's time goes into its headers.
# Preset dev compiles each alone, so that none lives off another's includes.
set(TUTTI_UNITY_SIZE 12)

# tutti_unity(target): its sources in groups that stay within a folder. A source with properties of its own is compiled
# alone (CMake's rule), and so is one that tutti_compile_alone() names.
function(tutti_unity target)
  get_target_property(sources ${target} SOURCES)
  list(LENGTH sources count)
  if(NOT TUTTI_ENABLE_UNITY OR count EQUAL 1)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # GCC takes a class for another source's when it is not that of the file which includes all.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
  get_target_property(folder ${target} SOURCE_DIR)
  foreach(source ${sources})
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${folder} NORMALIZE)
    cmake_path(GET source PARENT_PATH group)
    cmake_path(RELATIVE_PATH group BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    string(MAKE_C_IDENTIFIER ${group} group)
    if(NOT DEFINED count_${group})
      set(count_${group} 0)
    endif()
    math(EXPR part "${count_${group}} / ${TUTTI_UNITY_SIZE}")
    math(EXPR count_${group} "${count_${group}} + 1")
    set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${group}_${part})
  endforeach()
endfunction()

# tutti_compile_alone(target source...)
function(tutti_compile_alone target)
  set_source_files_properties(${ARGN} TARGET_DIRECTORY ${target} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
