# The language of sources that a GPU runs, and of those that read Kokkos' headers. The former are CUDA where device memory
# is built and nvcc is found; the latter where Kokkos has CUDA, since only nvcc reads its headers then. Else they are C++,
# and what a GPU would run is left out.
option(TUTTI_ENABLE_DEVICE_KERNELS "Compile the kernels for GPUs, where TUTTI_ENABLE_CUDA is on and nvcc is found" ON)
set(TUTTI_KOKKOS_HAS_CUDA OFF)
if(Kokkos_ENABLE_CUDA)
  set(TUTTI_KOKKOS_HAS_CUDA ON)
  if(NOT CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES ${Kokkos_CUDA_ARCHITECTURES})
  endif()
endif()

set(TUTTI_HAS_DEVICE_KERNELS ${TUTTI_KOKKOS_HAS_CUDA})
if(TUTTI_ENABLE_CUDA AND TUTTI_ENABLE_DEVICE_KERNELS AND NOT TUTTI_HAS_DEVICE_KERNELS)
  find_program(CMAKE_CUDA_COMPILER nvcc HINTS ${CUDAToolkit_ROOT} ENV CUDA_HOME /usr/local/cuda PATH_SUFFIXES bin)
  if(CMAKE_CUDA_COMPILER)
    set(TUTTI_HAS_DEVICE_KERNELS ON)
    if(NOT CMAKE_CUDA_ARCHITECTURES)
      set(CMAKE_CUDA_ARCHITECTURES 90)  # and newer ones, whose driver compiles its intermediate code
    endif()
  else()
    message(STATUS "Device kernels are left out: nvcc was not found (CMAKE_CUDA_COMPILER)")
  endif()
endif()

if(TUTTI_HAS_DEVICE_KERNELS)
  set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)
  enable_language(CUDA)
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know that nvcc has C++20
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
  endif()
  if(TUTTI_KOKKOS_HAS_CUDA)
    set(launcher "Kokkos ${TUTTI_KOKKOS_VERSION}")
  else()
    set(launcher "CUDA, since Kokkos ${TUTTI_KOKKOS_VERSION} has none")
  endif()
  message(STATUS "Device kernels: launched by ${launcher}; compiled by CUDA ${CMAKE_CUDA_COMPILER_VERSION} for "
    "${CMAKE_CUDA_ARCHITECTURES}")
endif()

# tutti_kokkos_sources(target source...): those that read Kokkos' headers.
function(tutti_kokkos_sources target)
  if(TUTTI_KOKKOS_HAS_CUDA)
    tutti_device_sources(${target} ${ARGN})
  endif()
endfunction()

# tutti_device_sources(target [FUSED] source...): compiled by nvcc where there is one. Products and sums are fused in
# FUSED sources only: what is reduced must not depend on who reduces it.
function(tutti_device_sources target)
  cmake_parse_arguments(D "FUSED" "" "" ${ARGN})
  if(D_FUSED)
    set(host_options -ffp-contract=fast)
  else()
    set(host_options -ffp-contract=off)
    set(device_options --fmad=false)
  endif()
  if(NOT TUTTI_HAS_DEVICE_KERNELS)
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
