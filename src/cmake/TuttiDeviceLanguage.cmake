# The language of sources that read Kokkos' headers: CUDA, for the architectures of Kokkos, where Kokkos has CUDA; else
# C++, and device kernels are not built.
set(TUTTI_KOKKOS_HAS_CUDA OFF)
if(Kokkos_ENABLE_CUDA)
  set(TUTTI_KOKKOS_HAS_CUDA ON)
  if(NOT CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES ${Kokkos_CUDA_ARCHITECTURES})
  endif()
  set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)
  enable_language(CUDA)
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know that nvcc has C++20
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
  endif()
  message(STATUS "Device kernels: Kokkos ${Kokkos_VERSION} with CUDA ${CMAKE_CUDA_COMPILER_VERSION}, architectures "
    "${CMAKE_CUDA_ARCHITECTURES}")
endif()

# tutti_device_sources(target [FUSED] source...): compiled by nvcc where Kokkos has CUDA. Products and sums are fused in
# FUSED sources only: what is reduced must not depend on who reduces it.
function(tutti_device_sources target)
  cmake_parse_arguments(D "FUSED" "" "" ${ARGN})
  if(D_FUSED)
    set(host_options -ffp-contract=fast)
  else()
    set(host_options -ffp-contract=off)
    set(device_options --fmad=false)
  endif()
  if(NOT TUTTI_KOKKOS_HAS_CUDA)
    if(D_FUSED)  # the others have this from tutti_arch
      set_source_files_properties(${D_UNPARSED_ARGUMENTS} TARGET_DIRECTORY ${target} PROPERTIES
        COMPILE_OPTIONS ${host_options})
    endif()
    return()
  endif()
  list(APPEND device_options --extended-lambda --expt-relaxed-constexpr -Xcompiler=-Wall,-Wextra,-Wno-maybe-uninitialized,${host_options})
  if(TUTTI_ENABLE_WERROR)
    list(APPEND device_options -Werror=all-warnings)
  endif()
  set_source_files_properties(${D_UNPARSED_ARGUMENTS} TARGET_DIRECTORY ${target} PROPERTIES
    LANGUAGE CUDA COMPILE_OPTIONS "${device_options}")
endfunction()
