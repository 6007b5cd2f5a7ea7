# Who asks for oneDNN where it is not, is told so: cmake -D PREFIX= -D SOURCE= -D WORK= -D GENERATOR= -D COMPILER=
# -P onednn.cmake
function(configure wish)
  file(REMOVE_RECURSE ${WORK})
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE}/miniapps -B ${WORK} -G ${GENERATOR} -D CMAKE_PREFIX_PATH=${PREFIX}
    -D CMAKE_CXX_COMPILER=${COMPILER} -D TUTTI_ENABLE_ONEDNN=${wish} -D TUTTI_ONEDNN_LIBRARY=
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(REGEX REPLACE "[ \n]+" " " output "${output}")
  set(result ${result} PARENT_SCOPE)
  set(output "${output}" PARENT_SCOPE)
endfunction()

configure(ON)
if(result EQUAL 0 OR NOT output MATCHES "TUTTI_ENABLE_ONEDNN: dnnl.hpp or libdnnl was not found. Install oneDNN")
  message(SEND_ERROR "ON was not refused:\n${output}")
endif()
configure(AUTO)
if(NOT result EQUAL 0 OR NOT output MATCHES "built without oneDNN")
  message(SEND_ERROR "AUTO was refused:\n${output}")
endif()
