add_test(NAME pkg.rooms COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/pkg/rooms_test.sh ${PROJECT_SOURCE_DIR})
add_test(NAME pkg.run COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/pkg/run_test.sh ${PROJECT_SOURCE_DIR})
add_test(NAME pkg.subproject
  COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/pkg/subproject_test.sh ${PROJECT_SOURCE_DIR})
add_test(NAME pkg.consumer COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/pkg/consumer_test.sh
  ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR})
add_test(NAME pkg.snippets COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/pkg/snippets_test.sh
  ${PROJECT_SOURCE_DIR} ${CMAKE_CXX_COMPILER}
  $<TARGET_PROPERTY:Eigen3::Eigen,INTERFACE_INCLUDE_DIRECTORIES>)
set_tests_properties(pkg.rooms pkg.run pkg.subproject pkg.consumer pkg.snippets PROPERTIES LABELS pkg TIMEOUT 600)
if(TARGET derm_example_live AND TARGET derm_cli)
  add_test(NAME pkg.examples COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/pkg/examples_test.sh
    $<TARGET_FILE:derm_cli> $<TARGET_FILE:derm_example_pose> $<TARGET_FILE:derm_example_live>
    $<TARGET_FILE:derm_example_own_layer>)
  add_test(NAME pkg.own_renderer COMMAND derm_example_own_renderer
    ${PROJECT_SOURCE_DIR}/examples/recipes/wrist.toml 2.8 ${CMAKE_CURRENT_BINARY_DIR}/own_renderer.png)
  add_test(NAME pkg.c_player COMMAND derm_example_c_player
    ${PROJECT_SOURCE_DIR}/examples/recipes/cat_belly_jump.toml)
  add_test(NAME pkg.recipe_live COMMAND derm_example_recipe_live
    ${PROJECT_SOURCE_DIR}/examples/recipes/cat_jump.toml)
  add_test(NAME pkg.touch_liquid COMMAND derm_example_touch_liquid)
  set_tests_properties(pkg.recipe_live PROPERTIES LABELS pkg PASS_REGULAR_EXPRESSION "2.00 s: [0-9]+ vertices")
  set_tests_properties(pkg.touch_liquid PROPERTIES LABELS pkg PASS_REGULAR_EXPRESSION "ns a question")
  set_tests_properties(pkg.c_player PROPERTIES LABELS pkg PASS_REGULAR_EXPRESSION "1.00 s: [0-9]+ vertices")
  set_tests_properties(pkg.own_renderer PROPERTIES PASS_REGULAR_EXPRESSION "triangles in")
  set_tests_properties(pkg.examples pkg.own_renderer PROPERTIES LABELS pkg)
endif()
if(DERM_SANITIZE)  # the consumer is not built with the sanitizer's runtime
  set_tests_properties(pkg.consumer PROPERTIES DISABLED TRUE)
endif()

# Every public header compiles alone. Where its own source includes it first, that shows it (to the
# full with -DDERM_UNITY=OFF); for the others there is one source each, compiled into nothing that is
# used. Precompiled headers hide forgotten standard headers: tools/check_includes.sh finds those.
file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/include
  ${PROJECT_SOURCE_DIR}/include/derm/*.h)
set(alone)
foreach(header ${headers})
  string(REGEX REPLACE "^derm/(.*)\\.h$" "${PROJECT_SOURCE_DIR}/src/\\1.cpp" source ${header})
  if(EXISTS ${source} AND NOT (DERM_UNITY AND header MATCHES "^derm/(render|view)/"))
    file(STRINGS ${source} first REGEX "^#include" LIMIT_COUNT 1)
    if(first STREQUAL "#include \"${header}\"")
      continue()
    endif()
  endif()
  string(REPLACE "/" "_" file ${header})
  set(file ${CMAKE_CURRENT_BINARY_DIR}/headers/${file}.cpp)
  file(CONFIGURE OUTPUT ${file} CONTENT "#include \"${header}\"\n#include \"${header}\"\n")
  list(APPEND alone ${file})
endforeach()
add_library(derm_headers_alone OBJECT ${alone})
target_link_libraries(derm_headers_alone PRIVATE derm::derm derm_build_flags)
derm_precompile(derm_headers_alone)
