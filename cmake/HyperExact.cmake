# Exact numbers: FLINT with Arb, antic and Calcium (Debian 12: libcalcium-dev libantic-dev
# libflint-arb-dev libflint-dev). Gives the target hyper::exact.
find_path(HYPER_CALCIUM_INCLUDE calcium/ca.h REQUIRED)
find_path(HYPER_FLINT_INCLUDE flint/fmpz_mpoly.h REQUIRED)
find_path(HYPER_ARB_INCLUDE acb.h REQUIRED)
set(HYPER_EXACT_LIBRARIES "")
foreach(part calcium antic flint-arb flint)
  find_library(HYPER_LIBRARY_${part} ${part} REQUIRED)
  list(APPEND HYPER_EXACT_LIBRARIES ${HYPER_LIBRARY_${part}})
endforeach()
add_library(hyper_exact INTERFACE)
add_library(hyper::exact ALIAS hyper_exact)
# As system headers: their warnings are not ours.
target_include_directories(hyper_exact SYSTEM INTERFACE
  ${HYPER_CALCIUM_INCLUDE} ${HYPER_CALCIUM_INCLUDE}/calcium ${HYPER_FLINT_INCLUDE}
  ${HYPER_ARB_INCLUDE})
target_link_libraries(hyper_exact INTERFACE ${HYPER_EXACT_LIBRARIES} gmp mpfr)
