# Builds and runs the installed examples: cmake -D PREFIX= -D DOCDIR= -D WORK= -D FORTRAN= -D GENERATOR= -D COMPILER=
# -D FLAGS= -D LAUNCHER="mpiexec -n 2" -P examples.cmake
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

file(REMOVE_RECURSE ${WORK})
separate_arguments(launcher UNIX_COMMAND "${LAUNCHER}")
run(${CMAKE_COMMAND} -S ${PREFIX}/${DOCDIR}/examples -B ${WORK} -G ${GENERATOR} -D CMAKE_PREFIX_PATH=${PREFIX}
  -D CMAKE_CXX_COMPILER=${COMPILER} "-DCMAKE_CXX_FLAGS=${FLAGS}" -D CMAKE_BUILD_TYPE=Release)
run(${CMAKE_COMMAND} --build ${WORK})
set(programs halo_2d power_iteration)
if(FORTRAN)
  list(APPEND programs fortran_halo_2d)
endif()
foreach(program ${programs})
  run(${launcher} ${WORK}/tutti_example_${program})
endforeach()
