# Configures the mini-apps alone against the installed library, builds one of them, and runs it on two ranks (the build
# of this tree links all of them to the same library, and layers.py keeps them to its public headers):
# cmake -D PREFIX= -D SOURCE= -D WORK= -D COMPILER= -D C_COMPILER= -D FLAGS= -D LAUNCHER="mpiexec -n 2" -D GENERATOR=
# -P miniapps.cmake
# Nothing is optimised, and sources are compiled together: the question is whether it compiles, links and runs.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
separate_arguments(launcher UNIX_COMMAND "${LAUNCHER}")

# A copy, so that nothing beside their folder is found.
file(COPY ${SOURCE}/miniapps DESTINATION ${WORK})
run(${CMAKE_COMMAND} -S ${WORK}/miniapps -B ${WORK}/build -G ${GENERATOR} -D CMAKE_PREFIX_PATH=${PREFIX}
  -D CMAKE_C_COMPILER=${C_COMPILER} -D CMAKE_CXX_COMPILER=${COMPILER} "-DCMAKE_CXX_FLAGS=${FLAGS}"
  -D CMAKE_BUILD_TYPE=None -D CMAKE_UNITY_BUILD=ON)
run(${CMAKE_COMMAND} --build ${WORK}/build --parallel 2 --target tutti-commbench)
run(${launcher} ${WORK}/build/bin/tutti-commbench --high 64 --budget 0.001 --check all)
