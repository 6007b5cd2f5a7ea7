# cmake --install: headers, library, CMake package and pkg-config files. The Fortran module, the mini-apps and their
# data are installed by their own folders; what they install goes by the variables of TuttiInstallDirs.cmake.
include(CMakePackageConfigHelpers)

foreach(definition ${TUTTI_MPI_DEFINITIONS})
  target_compile_definitions(tutti INTERFACE $<INSTALL_INTERFACE:${definition}>)
endforeach()
install(TARGETS tutti EXPORT tuttiTargets
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
set(left_out "")
if(NOT TUTTI_ENABLE_TRAINING)
  list(TRANSFORM TUTTI_TRAINING_HEADERS REPLACE "(.+)" "REGEX;/\\1$;EXCLUDE" OUTPUT_VARIABLE left_out)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tutti DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.hpp" PATTERN "*.def" ${left_out})
install(FILES ${PROJECT_BINARY_DIR}/include/tutti/version.hpp ${PROJECT_BINARY_DIR}/include/tutti/parts.h
  ${PROJECT_BINARY_DIR}/include/tutti/mpi_header.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tutti)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tutti)
install(EXPORT tuttiTargets NAMESPACE tutti:: DESTINATION ${package_dir})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/tuttiConfig.cmake.in ${PROJECT_BINARY_DIR}/tuttiConfig.cmake
  INSTALL_DESTINATION ${package_dir})
# Other projects find the build folder too. A static library's private libraries are targets of this project only.
if(BUILD_SHARED_LIBS)
  export(EXPORT tuttiTargets NAMESPACE tutti:: FILE ${PROJECT_BINARY_DIR}/tuttiTargets.cmake)
endif()
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tuttiConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tuttiConfig.cmake ${PROJECT_BINARY_DIR}/tuttiConfigVersion.cmake
  ${CMAKE_CURRENT_LIST_DIR}/TuttiKokkos.cmake ${CMAKE_CURRENT_LIST_DIR}/TuttiLibraries.cmake
  DESTINATION ${package_dir})

include(TuttiPkgConfig)
