# Cameras, draw lists and overlays are plain data; only the renderer itself needs OpenGL.
set(derm_render_sources camera.cpp draw_list.cpp overlays.cpp)
set(derm_render_libraries)
if(DERM_WITH_RENDER)
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(EPOXY REQUIRED IMPORTED_TARGET epoxy)
  list(APPEND derm_render_sources egl_context.cpp gl_objects.cpp gpu_scene.cpp light_rig.cpp
    offscreen_renderer.cpp overlay_shaders.cpp scene_renderer.cpp shaders.cpp shadow_shaders.cpp)
  list(APPEND derm_render_libraries PkgConfig::EPOXY ${CMAKE_DL_LIBS})
else()
  list(APPEND derm_render_sources renderer_absent.cpp)
endif()

derm_room(render
  SOURCES ${derm_render_sources}
  PRIVATE ${derm_render_libraries})
