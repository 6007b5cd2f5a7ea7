# TUTTI_ENABLE_HWCAPS: the host's kernels are compiled for newer x86-64 processors too, into shared libraries of the same
# name in folders glibc-hwcaps/<level> beside the one for every processor of the build's flags. The loader of glibc 2.33
# and later takes the best that the processor has. All other objects are the same in each.
set(TUTTI_HWCAPS_LEVELS "")
if(TUTTI_ENABLE_HWCAPS)
  if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux" OR NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
    message(FATAL_ERROR "TUTTI_ENABLE_HWCAPS: folders glibc-hwcaps/x86-64-v* are for x86-64 processors under Linux")
  endif()
  if(TUTTI_ENABLE_NATIVE_ARCH OR NOT BUILD_SHARED_LIBS)
    message(FATAL_ERROR "TUTTI_ENABLE_HWCAPS needs a shared library for many processors: set BUILD_SHARED_LIBS=ON and "
      "TUTTI_ENABLE_NATIVE_ARCH=OFF")
  endif()
  set(TUTTI_HWCAPS_LEVELS x86-64-v3 x86-64-v4)
endif()

# tutti_host_kernels(target source...): sources of this folder, of which there is one object for each level. Alone, so that
# what the compiler inlines into one kernel does not depend on the others.
function(tutti_host_kernels target)
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ OUTPUT_VARIABLE sources)
  target_sources(${target} PRIVATE ${sources})
  tutti_compile_alone(${target} ${sources})
  set_target_properties(${target} PROPERTIES TUTTI_HOST_KERNELS "${sources}")
endfunction()

# tutti_hwcaps_objects(variable level): the objects of the library with the host's kernels of a level.
function(tutti_hwcaps_objects variable level)
  set(objects "")
  foreach(target ${TUTTI_OBJECT_LIBRARIES})
    get_target_property(kernels ${target} TUTTI_HOST_KERNELS)
    set(library ${target}_${level})
    if(NOT TARGET ${library})
      add_library(${library} OBJECT ${kernels})
      get_target_property(definitions ${target} COMPILE_DEFINITIONS)
      target_compile_definitions(${library} PRIVATE ${definitions})
      set_target_properties(${library} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden
        VISIBILITY_INLINES_HIDDEN ON)
      target_link_libraries(${library} PRIVATE $<TARGET_PROPERTY:${target},LINK_LIBRARIES>)
      target_include_directories(${library} PRIVATE $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
      target_compile_options(${library} PRIVATE -march=${level})
    endif()
    list(TRANSFORM kernels REPLACE "^.*/([a-z_]+)\\.cpp$" "\\1")
    list(JOIN kernels "|" kernels)
    list(APPEND objects "$<FILTER:$<TARGET_OBJECTS:${target}>,EXCLUDE,/kernels/(${kernels})\\.cpp>"
      $<TARGET_OBJECTS:${library}>)
  endforeach()
  set(${variable} ${objects} PARENT_SCOPE)
endfunction()

# tutti_hwcaps_place(target level component): the folder of a target in the build tree and where it is installed.
function(tutti_hwcaps_place target level component)
  set_target_properties(${target} PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/glibc-hwcaps/${level})
  install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/glibc-hwcaps/${level} COMPONENT ${component}
    NAMELINK_SKIP)
endfunction()
