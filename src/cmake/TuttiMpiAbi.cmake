# The ABI of MPI 5: what is built against its header mpi_abi.h runs with the libmpi_abi.so of any MPI that has one.

# tutti_prefer_mpi_abi(): before MPI is searched for. A compiler that the user names wins.
macro(tutti_prefer_mpi_abi)
  foreach(pair "C:mpicc_abi" "CXX:mpicxx_abi")
    string(REPLACE ":" ";" pair ${pair})
    list(GET pair 0 lang)
    list(GET pair 1 wrapper)
    find_program(TUTTI_MPI_${lang}_ABI_WRAPPER ${wrapper} HINTS ${MPI_HOME} $ENV{MPI_HOME} PATH_SUFFIXES bin)
    mark_as_advanced(TUTTI_MPI_${lang}_ABI_WRAPPER)
    if(TUTTI_MPI_${lang}_ABI_WRAPPER AND NOT MPI_${lang}_COMPILER)
      set(MPI_${lang}_COMPILER ${TUTTI_MPI_${lang}_ABI_WRAPPER} CACHE FILEPATH "MPI compiler wrapper")
    endif()
  endforeach()
endmacro()

# tutti_check_mpi_abi(): sets TUTTI_MPI_IS_ABI, and ends where header, library and options disagree.
macro(tutti_check_mpi_abi)
  set(CMAKE_REQUIRED_DEFINITIONS "")
  foreach(definition ${MPI_C_COMPILE_DEFINITIONS})
    list(APPEND CMAKE_REQUIRED_DEFINITIONS -D${definition})
  endforeach()
  check_symbol_exists(MPI_ABI_VERSION mpi.h TUTTI_MPI_IS_ABI)
  unset(CMAKE_REQUIRED_DEFINITIONS)
  if(TUTTI_MPI_ABI AND NOT TUTTI_MPI_IS_ABI)
    message(FATAL_ERROR "TUTTI_MPI_ABI=ON, but the mpi.h of ${MPI_C_COMPILER} is not that of MPI's ABI: name a compiler "
      "that uses it, such as MPICH 5's, by -DMPI_C_COMPILER=<dir>/mpicc_abi -DMPI_CXX_COMPILER=<dir>/mpicxx_abi")
  endif()
  if(TUTTI_MPI_IS_ABI AND NOT "${MPI_C_LIBRARIES}" MATCHES "mpi_abi")
    message(FATAL_ERROR "${MPI_C_COMPILER} takes the header of MPI's ABI, but links ${MPI_C_LIBRARIES} and not "
      "libmpi_abi: name its compiler for the ABI, such as MPICH 5's mpicc_abi, by -DMPI_C_COMPILER=<file>")
  endif()
  if(TUTTI_MPI_IS_ABI AND TUTTI_ENABLE_FORTRAN)
    message(FATAL_ERROR "The module tutti cannot be built against MPI's ABI, whose header knows no Fortran: configure "
      "with -DTUTTI_ENABLE_FORTRAN=OFF")
  endif()
  if(TUTTI_MPI_IS_ABI AND "MPI_ABI" IN_LIST MPI_C_COMPILE_DEFINITIONS)
    list(APPEND TUTTI_MPI_DEFINITIONS MPI_ABI)  # which tells MPICH's mpi.h; clients of the library need it too
  endif()
endmacro()
