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

# tutti_hwcaps_objects(variable level): the objects of the library with the host's kernels of a level.
function(tutti_hwcaps_objects variable level)
  get_target_property(kernels tutti_objects TUTTI_HOST_KERNELS)
  if(NOT TARGET tutti_kernels_${level})
    add_library(tutti_kernels_${level} OBJECT ${kernels})
    get_target_property(definitions tutti_objects COMPILE_DEFINITIONS)
    target_compile_definitions(tutti_kernels_${level} PRIVATE ${definitions})
    set_target_properties(tutti_kernels_${level} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden
      VISIBILITY_INLINES_HIDDEN ON)
    target_link_libraries(tutti_kernels_${level} PRIVATE $<TARGET_PROPERTY:tutti_objects,LINK_LIBRARIES>)
    target_include_directories(tutti_kernels_${level} PRIVATE $<TARGET_PROPERTY:tutti_objects,INCLUDE_DIRECTORIES>)
    target_compile_options(tutti_kernels_${level} PRIVATE -march=${level})
  endif()
  list(TRANSFORM kernels REPLACE "^.*/([a-z_]+)\\.cpp$" "\\1")
  list(JOIN kernels "|" kernels)
  set(${variable} "$<FILTER:$<TARGET_OBJECTS:tutti_objects>,EXCLUDE,/kernels/(${kernels})\\.cpp>"
    $<TARGET_OBJECTS:tutti_kernels_${level}> PARENT_SCOPE)
endfunction()

# tutti_hwcaps_place(target level component): the folder of a target in the build tree and where it is installed.
function(tutti_hwcaps_place target level component)
  set_target_properties(${target} PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/glibc-hwcaps/${level})
  install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/glibc-hwcaps/${level} COMPONENT ${component}
    NAMELINK_SKIP)
endfunction()
