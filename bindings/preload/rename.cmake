# cmake -D NM=… -D OBJCOPY=… -D ARCHIVE=… -D RENAMED=… -D WEAK=… -P rename.cmake: a copy of an archive that calls PMPI_X
# for MPI_X; with WEAK, it can be loaded where there is no PMPI_X.
execute_process(COMMAND ${NM} --undefined-only ${ARCHIVE} OUTPUT_VARIABLE symbols
  COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL " U MPIX?_[A-Z][A-Za-z_0-9]*" calls "${symbols}")
list(TRANSFORM calls REPLACE "^ U " "")
list(REMOVE_DUPLICATES calls)
list(TRANSFORM calls REPLACE "^(.+)$" "\\1 P\\1" OUTPUT_VARIABLE names)
list(JOIN names "\n" text)
file(WRITE ${RENAMED}.names "${text}\n")
set(options --redefine-syms=${RENAMED}.names)
if(WEAK)
  list(TRANSFORM calls PREPEND P)
  list(JOIN calls "\n" text)
  file(WRITE ${RENAMED}.weak "${text}\n")
  list(APPEND options --weaken-symbols=${RENAMED}.weak)
endif()
execute_process(COMMAND ${OBJCOPY} ${options} ${ARCHIVE} ${RENAMED} COMMAND_ERROR_IS_FATAL ANY)
