# What ./run builds beside this tree: fuzz targets, the WebAssembly module with its package, the
# studio. They are tests of this one, so that all tests share the machine's cores; skipped, with a
# word, where their tree was not built. Long ones go first.
if(DERM_SANITIZE)  # those trees are not built with this one's sanitizer
  return()
endif()

function(derm_tree_test label name)
  add_test(NAME ${label}.${name} COMMAND ${ARGN})
  set_tests_properties(${label}.${name} PROPERTIES LABELS ${label} SKIP_RETURN_CODE 77 TIMEOUT 900 COST 100)
endfunction()

set(DERM_FUZZ_SECONDS 4 CACHE STRING "How long a test fuzz.* tries inputs")
file(GLOB fuzz_targets CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}/fuzz fuzz/fuzz_*.cpp)
foreach(source ${fuzz_targets})
  string(REGEX REPLACE "^fuzz_(.*)\\.cpp$" "\\1" parser ${source})
  derm_tree_test(fuzz ${parser} ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/run_short.sh ${DERM_FUZZ_SECONDS}
    ${PROJECT_SOURCE_DIR}/build/fuzz fuzz_${parser})
endforeach()

if(TARGET derm_cli)
  foreach(test module native hostile mending package three examples demo)
    derm_tree_test(web ${test} ${PROJECT_SOURCE_DIR}/web/test/run.sh ${PROJECT_SOURCE_DIR}/build/web
      $<TARGET_FILE:derm_cli> ${test})
  endforeach()
  foreach(test types faces features hands monkey open responsive robust screens)
    derm_tree_test(studio ${test} ${PROJECT_SOURCE_DIR}/web/studio/test/run.sh $<TARGET_FILE:derm_cli> ${test})
  endforeach()
  # How long the page keeps a visitor waiting is measured there.
  set_tests_properties(studio.responsive PROPERTIES RUN_SERIAL ON)
endif()
