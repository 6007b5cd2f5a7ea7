# cmake -D NM=… -D OBJCOPY=… -D ARCHIVE=… -D RENAMED=… -P rename.cmake: a copy of an archive that calls PMPI_X for MPI_X.
execute_process(COMMAND ${NM} --undefined-only ${ARCHIVE} OUTPUT_VARIABLE symbols
  COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL " U MPIX?_[A-Z][A-Za-z_0-9]*" calls "${symbols}")
list(TRANSFORM calls REPLACE "^ U " "")
list(REMOVE_DUPLICATES calls)
list(TRANSFORM calls REPLACE "^(.+)$" "\\1 P\\1\n")
string(JOIN "" text ${calls})
file(WRITE ${RENAMED}.names "${text}")
execute_process(COMMAND ${OBJCOPY} --redefine-syms=${RENAMED}.names ${ARCHIVE} ${RENAMED} COMMAND_ERROR_IS_FATAL ANY)
