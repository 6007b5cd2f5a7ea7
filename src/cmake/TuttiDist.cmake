# Target dist: a source archive of the last commit, which configures and builds without git. The same commit gives the
# same bytes: names are sorted, the owner is root, all times are that of the commit.
find_package(Git QUIET)
find_package(Python3 QUIET COMPONENTS Interpreter)
if(GIT_FOUND AND Python3_FOUND AND EXISTS ${PROJECT_SOURCE_DIR}/.git)
  add_custom_target(dist VERBATIM COMMENT "Packing ${PROJECT_NAME}-${PROJECT_VERSION}.tar.gz"
    COMMAND ${CMAKE_COMMAND} -D GIT=${GIT_EXECUTABLE} -D PYTHON=${Python3_EXECUTABLE} -D SOURCE=${PROJECT_SOURCE_DIR}
      -D NAME=${PROJECT_NAME}-${PROJECT_VERSION} -D OUTPUT=${PROJECT_BINARY_DIR} -P ${CMAKE_CURRENT_LIST_DIR}/dist.cmake)
endif()
