# hyper_write_embedded(SOURCE HEADER NAMESPACE TYPE FUNCTION name=path...): SOURCE, generated, defines
# FUNCTION of HEADER in NAMESPACE: the names and bytes of the files. Made again when a file changes.
function(hyper_write_embedded source header namespace type function)
  set(paths)
  foreach(entry IN LISTS ARGN)
    string(REGEX REPLACE "^[^=]*=" "" path "${entry}")
    list(APPEND paths ${path})
  endforeach()
  string(REPLACE ";" "|" entries "${ARGN}")
  add_custom_command(OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${source} "-DENTRIES=${entries}"
            -DHEADER=${header} -DNAMESPACE=${namespace} -DTYPE=${type} -DFUNCTION=${function}
            -P ${CMAKE_SOURCE_DIR}/cmake/WriteEmbeddedFiles.cmake
    DEPENDS ${paths} ${CMAKE_SOURCE_DIR}/cmake/WriteEmbeddedFiles.cmake VERBATIM)
endfunction()

# hyper_embed_files(TARGET name=path...): files found by name at run time (src/eval/data/bundled.h).
function(hyper_embed_files target)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/bundled_files.cc)
  hyper_write_embedded(${source} src/eval/data/bundled.h hyper::eval BundledFile BundledFiles ${ARGN})
  # An object library: a custom command serves only targets of its own folder.
  add_library(${target}_bundled OBJECT ${source})
  target_include_directories(${target}_bundled PRIVATE
    $<TARGET_PROPERTY:${target},INTERFACE_INCLUDE_DIRECTORIES>)
  set_target_properties(${target}_bundled PROPERTIES CXX_VISIBILITY_PRESET hidden)
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:${target}_bundled>)
endfunction()

# hyper_embed_page(TARGET path...): the files of the page (src/server/http/page_files.h).
function(hyper_embed_page target)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/page_files.cc)
  set(entries)
  foreach(path IN LISTS ARGN)
    get_filename_component(name ${path} NAME)
    list(APPEND entries "${name}=${path}")
  endforeach()
  hyper_write_embedded(${source} src/server/http/page_files.h hyper::server
    PageFile PageFiles ${entries})
  target_sources(${target} PRIVATE ${source})
endfunction()
