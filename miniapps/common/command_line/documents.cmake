# tutti_install_documents(target name): installs the manual page and the completion for bash of a program, which writes
# them itself; the site has the page too.
function(tutti_install_documents target name)
  if(CMAKE_CROSSCOMPILING)
    return()
  endif()
  set_property(GLOBAL APPEND PROPERTY TUTTI_DOCUMENTED_PROGRAMS ${target})
  set_target_properties(${target} PROPERTIES TUTTI_PROGRAM_NAME ${name})
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/documents)
  install(CODE "
    file(MAKE_DIRECTORY [[${folder}]])
    execute_process(COMMAND [[$<TARGET_FILE:${target}>]] --help-man OUTPUT_FILE [[${folder}/${name}.1]]
      COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND [[$<TARGET_FILE:${target}>]] --help-bash OUTPUT_FILE [[${folder}/${name}]]
      COMMAND_ERROR_IS_FATAL ANY)")
  install(FILES ${folder}/${name}.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${folder}/${name} DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
endfunction()
