# NCCL for TUTTI_ENABLE_NCCL: its header, which is compared with the functions that are used, and its library, which is
# opened at run time and linked by nobody. NCCL_ROOT, or NCCL_HOME of the environment, says where it is.
find_path(TUTTI_NCCL_INCLUDE_DIR nccl.h HINTS ${NCCL_ROOT} ENV NCCL_ROOT ENV NCCL_HOME ${CUDAToolkit_INCLUDE_DIRS}
  PATH_SUFFIXES include DOC "Folder of nccl.h")
find_library(TUTTI_NCCL_LIBRARY NAMES nccl libnccl.so.2 HINTS ${NCCL_ROOT} ENV NCCL_ROOT ENV NCCL_HOME
  ${CUDAToolkit_LIBRARY_DIR} PATH_SUFFIXES lib lib64 DOC "NCCL's library")
mark_as_advanced(TUTTI_NCCL_INCLUDE_DIR TUTTI_NCCL_LIBRARY)
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
if(TUTTI_NCCL_LIBRARY)
  message(STATUS "Found NCCL: ${TUTTI_NCCL_LIBRARY} (header ${TUTTI_NCCL_VERSION}), opened at run time")
else()
  message(STATUS "Found nccl.h (${TUTTI_NCCL_VERSION}) without a library: libnccl.so.2 is looked for at run time only")
endif()

# tutti_use_nccl(table check): the definitions of the source that opens the library, the headers of the one that checks.
function(tutti_use_nccl table check)
  set(definitions TUTTI_HAVE_NCCL=1)
  if(TUTTI_NCCL_LIBRARY)
    get_filename_component(folder ${TUTTI_NCCL_LIBRARY} DIRECTORY)
    list(APPEND definitions TUTTI_NCCL_BUILD_LIBRARY="${folder}/libnccl.so.2")
  endif()
  set_source_files_properties(${table} TARGET_DIRECTORY tutti_objects PROPERTIES COMPILE_DEFINITIONS "${definitions}")
  set(headers ${TUTTI_NCCL_INCLUDE_DIR} ${CUDAToolkit_INCLUDE_DIRS})
  list(REMOVE_ITEM headers ${CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES})
  list(REMOVE_DUPLICATES headers)
  list(TRANSFORM headers PREPEND "-isystem")
  set_source_files_properties(${check} TARGET_DIRECTORY tutti_objects PROPERTIES COMPILE_OPTIONS "${headers}")
endfunction()
