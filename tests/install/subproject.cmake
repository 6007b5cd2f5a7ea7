# Tutti's sources within another project: cmake -D CLIENT= -D SOURCE= -D WAY=add_subdirectory|FetchContent -D WORK=
# -D GENERATOR= -D COMPILER= -D FLAGS= -P subproject.cmake
# The project is configured, and its program compiled with all that tutti::tutti brings. The library, whose build takes
# minutes, is only looked at in the plan of the build.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} -S ${CLIENT} -B ${WORK} -G ${GENERATOR} -D WAY=${WAY} -D TUTTI=${SOURCE}
  -D FETCHCONTENT_SOURCE_DIR_TUTTI=${SOURCE} -D FETCHCONTENT_FULLY_DISCONNECTED=ON -D CMAKE_CXX_COMPILER=${COMPILER}
  "-DCMAKE_CXX_FLAGS=${FLAGS}")

# What holds for the whole project stays as it is.
file(STRINGS ${WORK}/CMakeCache.txt changed REGEX "^(CMAKE_BUILD_TYPE|BUILD_SHARED_LIBS):[A-Z]*=.+")
if(changed)
  message(SEND_ERROR "the project around Tutti did not set ${changed}")
endif()

run(${CMAKE_COMMAND} --build ${WORK} --target help)
foreach(program tutti-data tutti-dlrm tutti-sgd tutti-commbench tutti_command tutti_fortran tutti_mpi_main)
  if(output MATCHES "(^|\n|/)${program}:")
    message(SEND_ERROR "${program} is built, though only the library was asked for")
  endif()
endforeach()

if(GENERATOR STREQUAL "Ninja")
  file(READ ${WORK}/build.ninja plan)
  if(NOT plan MATCHES "\nbuild (CMakeFiles/client\\.dir/[^:]*main\\.cpp\\.o):")
    message(FATAL_ERROR "the plan of the build has no object of the program")
  endif()
  run(${CMAKE_COMMAND} --build ${WORK} --target ${CMAKE_MATCH_1})
  if(NOT plan MATCHES "\nbuild client: [^\n]*/lib/libtutti\\.(so|a)")
    message(SEND_ERROR "the program is not linked with the library that is built")
  endif()
endif()
