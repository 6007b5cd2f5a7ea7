# The source archive of the last commit: the same twice, and configured where there is neither git nor Python:
# cmake -D SOURCE= -D GIT= -D PYTHON= -D WORK= -D GENERATOR= -D COMPILER= -P dist.cmake
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)
if(NOT GIT OR NOT PYTHON OR NOT EXISTS ${SOURCE}/.git)
  message("SKIPPED: no git, no Python, or no checkout")
  return()
endif()

file(REMOVE_RECURSE ${WORK})
foreach(folder once again)
  file(MAKE_DIRECTORY ${WORK}/${folder})
  run(${CMAKE_COMMAND} -D GIT=${GIT} -D PYTHON=${PYTHON} -D SOURCE=${SOURCE} -D NAME=tutti -D OUTPUT=${WORK}/${folder}
    -P ${SOURCE}/src/cmake/dist.cmake)
  file(SHA256 ${WORK}/${folder}/tutti.tar.gz ${folder})
endforeach()
if(NOT once STREQUAL again)
  message(FATAL_ERROR "the archive of the same commit differs")
endif()

file(ARCHIVE_EXTRACT INPUT ${WORK}/once/tutti.tar.gz DESTINATION ${WORK})
run(${CMAKE_COMMAND} -S ${WORK}/tutti -B ${WORK}/build -G ${GENERATOR} -D CMAKE_CXX_COMPILER=${COMPILER}
  -D CMAKE_DISABLE_FIND_PACKAGE_Git=ON -D CMAKE_DISABLE_FIND_PACKAGE_Python3=ON -D TUTTI_ENABLE_TESTS=OFF)
run(${GIT} -C ${SOURCE} rev-parse HEAD)
string(SUBSTRING "${output}" 0 12 commit)
run(${CMAKE_COMMAND} -D SOURCE=${WORK}/tutti -D OUTPUT=${WORK}/commit.hpp -P ${WORK}/tutti/src/tools/commit.cmake)
file(READ ${WORK}/commit.hpp header)
if(NOT header STREQUAL "#define TUTTI_COMMIT \"${commit}\"\n")
  message(FATAL_ERROR "the archive is of ${commit}, but says: ${header}")
endif()
