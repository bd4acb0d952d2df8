# The reader of mathematics and the equivalence.
include(HyperExact)
target_link_libraries(hyper PRIVATE hyper::exact)
target_sources(hyper PRIVATE
  compare.cc
  compare_collections.cc
  equal.cc
  evaluate.cc
  exact.cc
  lexer.cc
  names.cc
  quantity.cc
  reader.cc
  reader_atoms.cc
  reader_brackets.cc
  reader_numbers.cc
  reader_spell.cc
  scalar.cc
  unicode.cc)
hyper_tests(equal_test equal_test.cc exact_test.cc)
target_link_libraries(equal_test PRIVATE hyper::exact)
