# Where the folders of this project install to, beyond GNUInstallDirs, and the search path of what is installed.
# A module file serves one compiler, so its folder carries that compiler's name and major version.
if(TUTTI_ENABLE_FORTRAN)
  enable_language(Fortran)
  string(TOLOWER "${CMAKE_Fortran_COMPILER_ID}" tag)
  string(REGEX MATCH "^[0-9]+" major "${CMAKE_Fortran_COMPILER_VERSION}")
  set(TUTTI_INSTALL_MODULEDIR ${CMAKE_INSTALL_INCLUDEDIR}/tutti/fortran/${tag}-${major})
  unset(tag)
  unset(major)
endif()
set(TUTTI_INSTALL_FORTRAN_SOURCEDIR ${CMAKE_INSTALL_DATADIR}/tutti/fortran)
set(TUTTI_INSTALL_DATADIR ${CMAKE_INSTALL_DATADIR}/tutti/data)

list(APPEND CMAKE_INSTALL_RPATH $ORIGIN $ORIGIN/../${CMAKE_INSTALL_LIBDIR})
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
