# hyper_embed_files(TARGET name=path...): a generated source that holds the bytes of the files, found
# by name at run time (src/eval/bundled.h). Regenerated when a file changes.
function(hyper_embed_files target)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/bundled_files.cc)
  set(paths)
  foreach(entry IN LISTS ARGN)
    string(REGEX REPLACE "^[^=]*=" "" path "${entry}")
    list(APPEND paths ${path})
  endforeach()
  string(REPLACE ";" "|" entries "${ARGN}")
  add_custom_command(OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${source} "-DENTRIES=${entries}"
            -DHEADER=src/eval/bundled.h -DTYPE=BundledFile -DFUNCTION=BundledFiles
            -P ${CMAKE_SOURCE_DIR}/cmake/WriteEmbeddedFiles.cmake
    DEPENDS ${paths} ${CMAKE_SOURCE_DIR}/cmake/WriteEmbeddedFiles.cmake VERBATIM)
  # An object library: a custom command serves only targets of its own folder.
  add_library(${target}_bundled OBJECT ${source})
  target_include_directories(${target}_bundled PRIVATE ${CMAKE_SOURCE_DIR})
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:${target}_bundled>)
endfunction()

# hyper_embed_page(TARGET path...): the same for the files of the page (src/server/page_files.h).
function(hyper_embed_page target)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/page_files.cc)
  set(entries)
  foreach(path IN LISTS ARGN)
    get_filename_component(name ${path} NAME)
    list(APPEND entries "${name}=${path}")
  endforeach()
  string(REPLACE ";" "|" entries "${entries}")
  add_custom_command(OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${source} "-DENTRIES=${entries}"
            -DHEADER=src/server/page_files.h -DTYPE=PageFile -DFUNCTION=PageFiles
            -P ${CMAKE_SOURCE_DIR}/cmake/WriteEmbeddedFiles.cmake
    DEPENDS ${ARGN} ${CMAKE_SOURCE_DIR}/cmake/WriteEmbeddedFiles.cmake VERBATIM)
  target_sources(${target} PRIVATE ${source})
endfunction()
