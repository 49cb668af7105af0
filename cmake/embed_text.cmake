# Writes a source file with a function that gives the text of a file, so that the binary carries it.
function(ff_embed_text file namespace name output)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(READ ${file} text)
  set(body "#include <string_view>\n\nnamespace ${namespace} {\n\nstd::string_view ${name}();\n")
  string(APPEND body "std::string_view ${name}() {\n  return R\"text(${text})text\";\n}\n\n}  // namespace ${namespace}\n")
  file(GENERATE OUTPUT ${output} CONTENT "${body}")
endfunction()
