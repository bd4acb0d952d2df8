# Extraction of answers: sources and tests.
target_sources(hyper PRIVATE
  ${CMAKE_CURRENT_LIST_DIR}/extract.cc
  ${CMAKE_CURRENT_LIST_DIR}/extract_boxes.cc
  ${CMAKE_CURRENT_LIST_DIR}/extract_choices.cc
  ${CMAKE_CURRENT_LIST_DIR}/extract_labels.cc
  ${CMAKE_CURRENT_LIST_DIR}/extract_normal.cc
  ${CMAKE_CURRENT_LIST_DIR}/extract_numbers.cc
  ${CMAKE_CURRENT_LIST_DIR}/extract_rules.cc
  ${CMAKE_CURRENT_LIST_DIR}/extract_scan.cc
  ${CMAKE_CURRENT_LIST_DIR}/extract_values.cc
  ${CMAKE_CURRENT_LIST_DIR}/reasoning.cc)
hyper_tests(extract_test ${CMAKE_CURRENT_LIST_DIR}/extract_test.cc
  ${CMAKE_CURRENT_LIST_DIR}/extract_golds_test.cc)
if(HYPER_TESTS)
  target_link_libraries(extract_test PRIVATE hyper_answer_cases)
endif()
