# The reader of mathematics and the equivalence.
include(HyperExact)
target_link_libraries(hyper PRIVATE hyper::exact)
target_sources(hyper PRIVATE
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
  polynomial.cc
  quantity.cc
  reader.cc
  reader_atoms.cc
  reader_brackets.cc
  reader_numbers.cc
  reader_spell.cc
  region.cc
  scalar.cc
  scalar_policies.cc
  unicode.cc)
hyper_tests(equal_test equal_cases_test.cc equal_properties_test.cc equal_test.cc exact_test.cc)
if(HYPER_TESTS)
  target_link_libraries(equal_test PRIVATE hyper::exact hyper_answer_cases)
endif()
