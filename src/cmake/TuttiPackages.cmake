# cpack -G DEB --config <build>/CPackConfig.cmake: Debian packages, one for each component of cmake --install. The preset
# "packages" sets the build up for them. Dependencies are those that dpkg-shlibdeps finds in the files.
set(CPACK_PACKAGE_NAME tutti)
set(CPACK_PACKAGE_VENDOR Tutti)
set(CPACK_PACKAGE_CONTACT "The Tutti developers <tutti@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_COMPONENTS_ALL runtime development)
if(TUTTI_ENABLE_MINIAPPS OR TUTTI_ENABLE_TOOLS)
  list(APPEND CPACK_COMPONENTS_ALL programs)
endif()
if(TUTTI_ENABLE_PRELOAD)
  list(APPEND CPACK_COMPONENTS_ALL preload)
endif()

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# tutti_package(component name section description): a package of a component.
function(tutti_package component name section description)
  string(TOUPPER ${component} upper)
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${description}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name} PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section} PARENT_SCOPE)
  # Debian's policy wants the licence under this name.
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} RENAME copyright
    COMPONENT ${component} EXCLUDE_FROM_ALL)
endfunction()

# The package of mpi.h, which is the MPI's that the library was built with.
set(mpi_package libmpich-dev)
if(TUTTI_MPI_IS_OPEN_MPI)
  set(mpi_package libopenmpi-dev)
endif()

# The loader's cache is renewed when the libraries come or go.
file(WRITE ${PROJECT_BINARY_DIR}/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/triggers)

set(same "(= ${PROJECT_VERSION})")
tutti_package(runtime libtutti0 libs "Libraries libtutti and libtutti_fortran for MPI programs.
The loader chooses among kernels for several levels of processors.")
tutti_package(development libtutti-dev libdevel "Headers, CMake package, pkg-config files, Fortran module, guide
and examples.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libtutti0 ${same}, ${mpi_package}")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "libtrilinos-kokkos-dev, gfortran, tutti-bin")
tutti_package(programs tutti-bin science "Command tutti (machines, plans, tuning), tutti-commbench, and the
mini-apps tutti-dlrm, tutti-data and tutti-sgd with their data.")
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_DEPENDS "libtutti0 ${same}")
tutti_package(preload tutti-mpi libs "libtutti-mpi for programs that call MPI only: it is loaded before
the MPI (tutti run -- program).")
set(CPACK_DEBIAN_PRELOAD_PACKAGE_SUGGESTS "tutti-bin")
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_RECOMMENDS "tutti-mpi ${same}, python3")

include(CPack)
