# NCCL, or for AMD's devices RCCL, for TUTTI_ENABLE_NCCL: its library, which is opened at run time and linked by nobody,
# and NCCL's header, which is compared with the functions that are used. NCCL_ROOT or RCCL_ROOT, also of the environment,
# or NCCL_HOME says where it is.
if(TUTTI_ENABLE_HIP)
  set(nccl RCCL)
  set(nccl_file librccl.so.1)
else()
  set(nccl NCCL)
  set(nccl_file libnccl.so.2)
  find_path(TUTTI_NCCL_INCLUDE_DIR nccl.h HINTS ${NCCL_ROOT} ENV NCCL_ROOT ENV NCCL_HOME ${CUDAToolkit_INCLUDE_DIRS}
    PATH_SUFFIXES include DOC "Folder of nccl.h")
  mark_as_advanced(TUTTI_NCCL_INCLUDE_DIR)
  if(NOT TUTTI_NCCL_INCLUDE_DIR)
    message(FATAL_ERROR "TUTTI_ENABLE_NCCL: nccl.h was not found; set NCCL_ROOT to the prefix of NCCL 2.18 or newer, "
      "or configure with -DTUTTI_ENABLE_NCCL=OFF")
  endif()
  file(STRINGS ${TUTTI_NCCL_INCLUDE_DIR}/nccl.h TUTTI_NCCL_VERSION REGEX "^#define NCCL_VERSION_CODE +[0-9]+")
  string(REGEX REPLACE "[^0-9]" "" TUTTI_NCCL_VERSION "${TUTTI_NCCL_VERSION}")
  if(TUTTI_NCCL_VERSION LESS 21800)
    message(FATAL_ERROR "TUTTI_ENABLE_NCCL: ${TUTTI_NCCL_INCLUDE_DIR}/nccl.h has version ${TUTTI_NCCL_VERSION}; "
      "2.18 (21800) or newer is needed")
  endif()
  message(STATUS "Found nccl.h: ${TUTTI_NCCL_INCLUDE_DIR} (${TUTTI_NCCL_VERSION})")
endif()
string(TOLOWER ${nccl} nccl_name)
find_library(TUTTI_NCCL_LIBRARY NAMES ${nccl_name} ${nccl_file} HINTS ${${nccl}_ROOT} ENV ${nccl}_ROOT ENV NCCL_HOME
  ${CUDAToolkit_LIBRARY_DIR} ${hip_LIB_INSTALL_DIR} PATH_SUFFIXES lib lib64 DOC "NCCL's or RCCL's library")
mark_as_advanced(TUTTI_NCCL_LIBRARY)
if(TUTTI_NCCL_LIBRARY)
  message(STATUS "Found ${nccl}: ${TUTTI_NCCL_LIBRARY}, opened at run time")
else()
  message(STATUS "${nccl}'s library was not found: ${nccl_file} is looked for at run time only")
endif()

# tutti_open_nccl(table): the definitions of the source that opens the library.
function(tutti_open_nccl table)
  set(definitions TUTTI_HAVE_NCCL=1)
  if(TUTTI_ENABLE_HIP)
    list(APPEND definitions TUTTI_HAVE_RCCL=1)
  endif()
  if(TUTTI_NCCL_LIBRARY)
    get_filename_component(folder ${TUTTI_NCCL_LIBRARY} DIRECTORY)
    list(APPEND definitions TUTTI_NCCL_BUILD_LIBRARY="${folder}/${nccl_file}")
  endif()
  set_source_files_properties(${table} TARGET_DIRECTORY tutti_objects PROPERTIES COMPILE_DEFINITIONS "${definitions}")
endfunction()

# tutti_compare_nccl(check): the headers of the source that compares NCCL's.
function(tutti_compare_nccl check)
  set(headers ${TUTTI_NCCL_INCLUDE_DIR} ${CUDAToolkit_INCLUDE_DIRS})
  list(REMOVE_ITEM headers ${CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES})
  list(REMOVE_DUPLICATES headers)
  list(TRANSFORM headers PREPEND "-isystem")
  set_source_files_properties(${check} TARGET_DIRECTORY tutti_objects PROPERTIES COMPILE_OPTIONS "${headers}")
endfunction()
