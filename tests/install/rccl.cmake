# A build for AMD's devices opens RCCL where it was found, in the loader's folders or not: cmake -D SOURCE= -D WORK=
# -D GENERATOR= -D COMPILER= -P rccl.cmake. HIP and RCCL are names alone here, since nothing is compiled.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)
file(REMOVE_RECURSE ${WORK})
file(WRITE ${WORK}/hip/hip-config.cmake "add_library(hip::host INTERFACE IMPORTED)\n")
file(WRITE ${WORK}/hip/hip-config-version.cmake "set(PACKAGE_VERSION 6.0)\nset(PACKAGE_VERSION_COMPATIBLE TRUE)\n")
file(WRITE ${WORK}/rccl/lib/librccl.so "")

# configure(root): the command that compiles NCCL's table is in `command`.
function(configure root)
  run(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/build --fresh -G ${GENERATOR} -D CMAKE_CXX_COMPILER=${COMPILER}
    -D CMAKE_EXPORT_COMPILE_COMMANDS=ON -D hip_DIR=${WORK}/hip -D RCCL_ROOT=${root} -D TUTTI_ENABLE_HIP=ON
    -D TUTTI_ENABLE_NCCL=ON -D TUTTI_ENABLE_FORTRAN=OFF -D TUTTI_ENABLE_MINIAPPS=OFF -D TUTTI_ENABLE_PRELOAD=OFF
    -D TUTTI_ENABLE_TOOLS=OFF -D TUTTI_ENABLE_TESTS=OFF -D TUTTI_ENABLE_BENCHMARKS=OFF)
  file(STRINGS ${WORK}/build/compile_commands.json command REGEX "\"command\".*nccl/table\\.cpp")
  set(command "${command}" PARENT_SCOPE)
endfunction()

configure(${WORK}/rccl)
if(NOT command MATCHES "TUTTI_HAVE_RCCL=1" OR NOT command MATCHES "${WORK}/rccl/lib/librccl\\.so\\.1")
  message(SEND_ERROR "RCCL_ROOT is not where the library is opened:\n${command}")
endif()
configure(${WORK}/nowhere)
if(NOT command MATCHES "TUTTI_HAVE_RCCL=1" OR command MATCHES "${WORK}/(rccl|nowhere)")
  message(SEND_ERROR "an RCCL is named that was not found:\n${command}")
endif()
