# The installed tree holds every public header and what clients of each language need.
set(expected include/tutti/tutti.hpp include/tutti/version.hpp include/tutti/error_codes.def include/tutti/tutti.h
  include/tutti/tutti_call_sites.h include/tutti/tutti_device.h include/tutti/tutti_embedding.h include/tutti/tutti_exact.h include/tutti/tutti_training.h
  ${LIBDIR}/cmake/tutti/tuttiConfig.cmake ${LIBDIR}/cmake/tutti/tuttiConfigVersion.cmake
  ${LIBDIR}/cmake/tutti/tuttiTargets.cmake ${LIBDIR}/cmake/tutti/TuttiKokkos.cmake ${LIBDIR}/pkgconfig/tutti.pc)
file(GLOB_RECURSE headers RELATIVE ${SOURCE} ${SOURCE}/include/tutti/*.hpp)
list(APPEND expected ${headers})
list(APPEND expected ${DOCDIR}/LICENSE ${DOCDIR}/diagnosis.md ${DOCDIR}/guide.md ${DOCDIR}/mpi.md ${DOCDIR}/preload.md ${DOCDIR}/fortran.md ${DOCDIR}/semantics.md
  ${DOCDIR}/install.md ${DOCDIR}/slurm.md ${DOCDIR}/examples/slurm/cpu.sh ${DOCDIR}/examples/slurm/gpu.sh
  ${DOCDIR}/examples/CMakeLists.txt ${DOCDIR}/examples/halo_2d.cpp ${DOCDIR}/examples/halo_2d.f90
  ${DOCDIR}/examples/c/average.c ${DOCDIR}/examples/fortran/logistic.f90)
if(FORTRAN)
  list(APPEND expected ${MODULEDIR}/tutti.mod ${MODULEDIR}/tutti_reprosum.mod share/tutti/fortran/tutti.F90
    share/tutti/fortran/tutti_reprosum.F90 share/tutti/fortran/generated.inc
    share/tutti/fortran/src/view.h ${LIBDIR}/pkgconfig/tutti_fortran.pc)
endif()
if(MINIAPPS)
  list(APPEND expected bin/tutti-dlrm share/tutti/data)
  foreach(program tutti-data tutti-dlrm tutti-sgd tutti-commbench)
    list(APPEND expected share/man/man1/${program}.1 share/bash-completion/completions/${program})
  endforeach()
endif()
if(PRELOAD)
  list(APPEND expected ${LIBDIR}/libtutti-mpi.so)
endif()
if(TOOLS)
  list(APPEND expected bin/tutti share/tutti/draw.py share/man/man1/tutti.1 share/bash-completion/completions/tutti)
endif()
foreach(path ${expected})
  if(NOT EXISTS ${PREFIX}/${path})
    message(SEND_ERROR "not installed: ${path}")
  endif()
endforeach()
file(GLOB libraries ${PREFIX}/${LIBDIR}/libtutti.*)
if(NOT libraries)
  message(SEND_ERROR "not installed: the library")
endif()
