# Extraction of answers: sources and tests.
set(extract_sources extract.cc extract_boxes.cc extract_choices.cc extract_labels.cc
  extract_normal.cc extract_numbers.cc extract_rules.cc extract_scan.cc extract_values.cc
  reasoning.cc)
list(TRANSFORM extract_sources PREPEND ${CMAKE_CURRENT_LIST_DIR}/)
target_sources(hyper PRIVATE ${extract_sources})

set(extract_tests extract_test.cc extract_boxes_test.cc extract_choices_test.cc
  extract_golds_test.cc extract_numbers_test.cc reasoning_test.cc)
list(TRANSFORM extract_tests PREPEND ${CMAKE_CURRENT_LIST_DIR}/)
hyper_tests(extract_test ${extract_tests})
if(HYPER_TESTS)
  target_link_libraries(extract_test PRIVATE hyper_answer_cases)

  # Counts steps: its own copy of the sources, with a call in every basic block.
  add_library(extract_counted OBJECT ${extract_sources})
  target_include_directories(extract_counted PRIVATE ${CMAKE_SOURCE_DIR})
  # Steps are blocks of optimised code, whatever the build is for.
  target_compile_options(extract_counted PRIVATE -fsanitize-coverage=trace-pc -O2)
  add_executable(extract_steps_test ${CMAKE_CURRENT_LIST_DIR}/extract_steps_test.cc)
  target_include_directories(extract_steps_test PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(extract_steps_test PRIVATE extract_counted GTest::gtest_main)
  target_link_options(extract_steps_test PRIVATE
    LINKER:--wrap=memchr,--wrap=memcmp,--wrap=memcpy,--wrap=memmove)
  add_test(NAME extract_steps_test COMMAND extract_steps_test)
  set_tests_properties(extract_steps_test PROPERTIES TIMEOUT 300)
endif()
