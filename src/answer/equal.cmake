# The reader of mathematics and the equivalence.
include(HyperExact)
target_link_libraries(hyper PRIVATE hyper::exact)
set(equal_sources
  ball.cc
  calculator.c
  compare.cc
  compare_collections.cc
  compare_relations.cc
  constant.cc
  equal.cc
  evaluate.cc
  exact.cc
  form.cc
  form_functions.cc
  form_roots.cc
  lexer.cc
  modular.cc
  names.cc
  near.cc
  polynomial.cc
  quantity.cc
  reader.cc
  reader_atoms.cc
  reader_brackets.cc
  reader_infix.cc
  reader_numbers.cc
  reader_spell.cc
  region.cc
  scalar.cc
  scalar_policies.cc
  unicode.cc
  unicode_letters.cc)
list(TRANSFORM equal_sources PREPEND ${CMAKE_CURRENT_LIST_DIR}/)
target_sources(hyper PRIVATE ${equal_sources})
hyper_tests(equal_test equal_cases_test.cc equal_properties_test.cc equal_test.cc exact_test.cc
  near_test.cc)
if(HYPER_TESTS)
  target_link_libraries(equal_test PRIVATE hyper::exact hyper_answer_cases)
endif()

# Pairs in bulk, for bench/answer/against_math_verify.py.
if(HYPER_BENCH)
  add_executable(equal_pairs ${CMAKE_SOURCE_DIR}/bench/answer/equal_pairs.cc)
  target_link_libraries(equal_pairs PRIVATE hyper)
endif()
