# Writes the header with the commit of the sources: cmake -D SOURCE= -D GIT= -D OUTPUT= -P commit.cmake
# In a source archive git has put it into commit.txt; a checkout is asked.
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/commit.txt commit)
if(commit MATCHES "Format" AND EXISTS ${SOURCE}/.git AND GIT)
  execute_process(COMMAND ${GIT} rev-parse HEAD WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE commit
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT commit MATCHES "^([0-9a-f]+)$")
  set(commit unknown)
endif()
string(SUBSTRING ${commit} 0 12 commit)
file(WRITE ${OUTPUT} "#define TUTTI_COMMIT \"${commit}\"\n")
