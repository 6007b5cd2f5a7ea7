# The programs that draw lie beside the folder of those that call them, in the build tree as where they are installed.
include_guard(GLOBAL)
foreach(file chart.py draw.py rounds.py)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/${file}
    ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/../${CMAKE_INSTALL_DATADIR}/tutti/${file} COPYONLY)
  install(PROGRAMS ${CMAKE_CURRENT_LIST_DIR}/${file} DESTINATION ${CMAKE_INSTALL_DATADIR}/tutti)
endforeach()
