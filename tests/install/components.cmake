# Asks for components as people write them, before and after MPI: cmake -D PREFIX= -D WORK= -D FORTRAN= -D TRAINING=
# -D GENERATOR= -D COMPILER= -D MPI_C= -D MPI_CXX= -P components.cmake, with the wrappers that the library was built with.
# COMPONENTS in any case are found; others are refused with a reason.
function(ask components)
  file(REMOVE_RECURSE ${WORK})
  file(WRITE ${WORK}/CMakeLists.txt "cmake_minimum_required(VERSION 3.24)
project(asks LANGUAGES C CXX)
${before}
find_package(tutti REQUIRED COMPONENTS ${components})
${behind}
foreach(name ${ARGN})
  if(NOT TARGET \${name})
    message(FATAL_ERROR \"no target \${name}\")
  endif()
endforeach()
")
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${WORK} -B ${WORK}/build -G ${GENERATOR} -D CMAKE_PREFIX_PATH=${PREFIX}
    -D CMAKE_CXX_COMPILER=${COMPILER} ${options} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  set(result ${result} PARENT_SCOPE)
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(expect_found components)
  ask("${components}" ${ARGN})
  if(NOT result EQUAL 0)
    message(SEND_ERROR "not found: ${components}\n${output}")
  endif()
endfunction()

function(expect_refused component reason)
  ask("${component}")
  string(REGEX REPLACE "[ \n]+" " " output "${output}")
  if(result EQUAL 0 OR NOT output MATCHES "${reason}")
    message(SEND_ERROR "${component} was not refused with '${reason}':\n${output}")
  endif()
endfunction()

# Another MPI that the project has found is refused: here the same one, whose mpi.h says that it is of another kind.
file(WRITE ${WORK}.mpi/mpi.h "#include_next <mpi.h>
#if defined MPI_ABI_VERSION
#undef MPI_ABI_VERSION
#elif defined OPEN_MPI
#undef OPEN_MPI
#else
#define OPEN_MPI 1
#endif
")
file(WRITE ${WORK}.mpi/mpicc "#!/bin/sh\nexec ${MPI_C} \"-I${WORK}.mpi\" \"$@\"\n")
file(CHMOD ${WORK}.mpi/mpicc PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
set(before "find_package(MPI REQUIRED COMPONENTS C)")
set(options -D MPI_C_COMPILER=${WORK}.mpi/mpicc)
expect_refused("Kokkos" "was built with the MPI of ${MPI_C}, and this project has found that of ${WORK}.mpi/mpicc: call find_package")
set(options -D MPI_C_COMPILER=${MPI_C})
expect_found("Kokkos" tutti::tutti)
# Behind Tutti, all languages find its MPI.
set(before "")
set(options "")
set(behind "find_package(MPI REQUIRED COMPONENTS CXX)
if(NOT MPI_CXX_COMPILER STREQUAL \"${MPI_CXX}\")
  message(FATAL_ERROR \"C++ finds the MPI of \${MPI_CXX_COMPILER}\")
endif()")
expect_found("Kokkos" tutti::tutti MPI::MPI_CXX)
set(behind "")

expect_found("Kokkos" tutti::kokkos)
expect_found("KOKKOS" tutti::kokkos)
expect_refused("cuda" "Component cuda is unknown; the components are Fortran")
if(TRAINING)
  expect_found("training" tutti::tutti)
else()
  expect_refused("Training" "built without its training layer")
endif()
if(FORTRAN)
  expect_found("fortran" tutti::tutti_fortran MPI::MPI_Fortran)
  expect_found("kokkos FORTRAN" tutti::tutti_fortran tutti::kokkos)
else()
  expect_refused("fortran" "built without its Fortran module")
endif()
