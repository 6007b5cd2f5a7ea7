# hwloc 2 as target tutti_hwloc.
find_path(TUTTI_HWLOC_INCLUDE hwloc.h REQUIRED)
find_library(TUTTI_HWLOC_LIBRARY hwloc REQUIRED)
mark_as_advanced(TUTTI_HWLOC_INCLUDE TUTTI_HWLOC_LIBRARY)
add_library(tutti_hwloc INTERFACE)
target_include_directories(tutti_hwloc SYSTEM INTERFACE ${TUTTI_HWLOC_INCLUDE})
target_link_libraries(tutti_hwloc INTERFACE ${TUTTI_HWLOC_LIBRARY})
