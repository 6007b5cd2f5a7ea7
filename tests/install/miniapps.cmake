# Builds the mini-apps alone against the installed library, all of them, and runs them on two ranks:
# cmake -D PREFIX= -D SOURCE= -D WORK= -D COMPILER= -D C_COMPILER= -D FLAGS= -D LAUNCHER="mpiexec -n 2" -D GENERATOR=
# -P miniapps.cmake
# Nothing is optimised: what is asked is whether they compile, link and run.
function(run)
  execute_process(COMMAND ${ARGV} WORKING_DIRECTORY ${WORK} RESULT_VARIABLE result OUTPUT_VARIABLE output
    ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    string(LENGTH "${output}" length)
    math(EXPR begin "${length} - 6000")
    if(begin GREATER 0)
      string(SUBSTRING "${output}" ${begin} -1 output)
    endif()
    message(FATAL_ERROR "failed (${result}): ${ARGV}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
separate_arguments(launcher UNIX_COMMAND "${LAUNCHER}")

# A copy, so that nothing beside their folder is found.
file(COPY ${SOURCE}/miniapps DESTINATION ${WORK})
run(${CMAKE_COMMAND} -S ${WORK}/miniapps -B ${WORK}/build -G ${GENERATOR} -D CMAKE_PREFIX_PATH=${PREFIX}
  -D CMAKE_C_COMPILER=${C_COMPILER} -D CMAKE_CXX_COMPILER=${COMPILER} "-DCMAKE_CXX_FLAGS=${FLAGS}"
  -D CMAKE_BUILD_TYPE=None)
run(${CMAKE_COMMAND} --build ${WORK}/build --parallel 2)

run(${launcher} ${WORK}/build/bin/tutti-sgd --model mlp --hidden 4 --max-steps 3)
run(${launcher} ${WORK}/build/bin/tutti-dlrm --preset adult --num-batches 3)
run(${launcher} ${WORK}/build/bin/tutti-commbench --high 64 --budget 0.001 --check all)
run(${WORK}/build/bin/tutti-kernelbench combine --bytes 4096 --rounds 1)
if(NOT output MATCHES "combine_gb_per_s")
  message(FATAL_ERROR "tutti-kernelbench ran but measured nothing:\n${output}")
endif()
