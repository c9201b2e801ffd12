derm_bench(deform flesh_bench.cpp skinning_bench.cpp skinning_scenes.cpp stack_bench.cpp
  wrinkles_bench.cpp)
target_compile_definitions(derm_bench_deform PRIVATE DERM_EXAMPLES="${PROJECT_SOURCE_DIR}/examples")
