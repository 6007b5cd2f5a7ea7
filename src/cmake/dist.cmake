# Packs OUTPUT/NAME.tar.gz: cmake -D GIT= -D PYTHON= -D SOURCE= -D NAME= -D OUTPUT= -P dist.cmake
# What the archive holds beside the commit's files is made of these files, whatever the checkout has.
set(work ${OUTPUT}/dist)
file(REMOVE_RECURSE ${work})
file(MAKE_DIRECTORY ${work})
execute_process(COMMAND ${GIT} archive --output ${work}/bindings.tar HEAD bindings WORKING_DIRECTORY ${SOURCE}
  COMMAND_ERROR_IS_FATAL ANY)
file(ARCHIVE_EXTRACT INPUT ${work}/bindings.tar DESTINATION ${work})
execute_process(COMMAND ${PYTHON} -B ${work}/bindings/fortran/generate.py ${work}/generated.inc COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${GIT} -c tar.umask=0022 archive --output ${OUTPUT}/${NAME}.tar.gz
  --prefix ${NAME}/bindings/fortran/ --add-file ${work}/generated.inc --prefix ${NAME}/ HEAD
  WORKING_DIRECTORY ${SOURCE} COMMAND_ERROR_IS_FATAL ANY)
file(REMOVE_RECURSE ${work})
