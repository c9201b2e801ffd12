if(DERM_WITH_ASSIMP)
  find_package(assimp REQUIRED)
  set(derm_assimp_sources assimp_process.cpp)
else()
  set(derm_assimp_sources assimp_absent.cpp)
endif()

if(DERM_WITH_OPENVDB)
  set(derm_vdb_sources vdb.cpp vdb_answer.cpp)
else()
  set(derm_vdb_sources vdb_absent.cpp)
endif()

if(DERM_WITH_ASSIMP OR DERM_WITH_OPENVDB)
  set(derm_process_sources limited_process.cpp)
endif()

if(DERM_WITH_IMAGES)
  set(derm_image_sources jpeg.cpp png.cpp)
  set(derm_image_libraries PNG::PNG JPEG::JPEG)
else()
  set(derm_image_sources images_absent.cpp)
  set(derm_image_libraries)
endif()

if(DERM_WITH_FILMS)
  set(derm_film_sources film.cpp film_process.cpp film_reader.cpp)
else()
  set(derm_film_sources film_absent.cpp)
endif()

derm_room(io
  SOURCES
    file_bytes.cpp
    file_ending.cpp
    file_overlay.cpp
    ${derm_film_sources}
    image_file.cpp
    photo_file.cpp
    plain_png.cpp
    ${derm_image_sources}
    bvh_hierarchy.cpp
    bvh_reader.cpp
    character_author.cpp
    character_file.cpp
    import_answer.cpp
    import_units.cpp
    name_table.cpp
    obj_faces.cpp
    obj_materials.cpp
    obj_reader.cpp
    obj_tables.cpp
    obj_writer.cpp
    off_reader.cpp
    stl_reader.cpp
    output_files.cpp
    side_files.cpp
    background_file.cpp
    point_cache.cpp
    point_file.cpp
    point_tracks_file.cpp
    shape_tracks_csv.cpp
    shape_tracks_file.cpp
    shape_tracks_json.cpp
    table_cells.cpp
    whole_file.cpp
    mesh_assembly.cpp
    mesh_sequence.cpp
    particle_file.cpp
    vtk_particles.cpp
    ply_cursor.cpp
    ply_reader.cpp
    polygon_triangles.cpp
    external_images.cpp
    text_scanner.cpp
    ${derm_assimp_sources}
    ${derm_vdb_sources}
    ${derm_process_sources}
    json_value.cpp
    json_dom.cpp
    gltf/uri.cpp
    gltf/skin_reader.cpp
    gltf/scene.cpp
    gltf/reader.cpp
    gltf/morph_reader.cpp
    gltf/mesh_plan.cpp
    gltf/material_reader.cpp
    gltf/groups.cpp
    gltf/points.cpp
    gltf/detail_maps.cpp
    gltf/geometry_reader.cpp
    gltf/extensions.cpp
    gltf/document.cpp
    gltf/container.cpp
    gltf/clip_reader.cpp
    gltf/controls.cpp
    gltf/geometry_transform.cpp
    gltf/accessor.cpp
    gltf/gltf.cpp
    gltf/writer.cpp
    gltf/prune.cpp
    gltf/clip_writer.cpp
    gltf/instance_writer.cpp
    gltf/mesh_writer.cpp
    gltf/morph_writer.cpp
    gltf/skin_writer.cpp
    gltf/material_writer.cpp
    gltf/node_writer.cpp
    gltf/output.cpp
    base64.cpp
  PRIVATE fmt::fmt nlohmann_json::nlohmann_json ${derm_image_libraries}
  PRECOMPILE <nlohmann/json.hpp>)
if(DERM_WITH_ASSIMP)
  # The few sources of io that it needs are compiled for it once more: io waits for the program, so
  # that whoever builds a reader can run it.
  set(derm_import_sources assimp_import.cpp assimp_materials.cpp assimp_meshes.cpp
    assimp_program.cpp assimp_scene.cpp base64.cpp external_images.cpp file_ending.cpp gltf/uri.cpp
    import_answer.cpp import_units.cpp limited_program.cpp text_scanner.cpp)
  list(TRANSFORM derm_import_sources PREPEND ${PROJECT_SOURCE_DIR}/src/io/)
  derm_module_program(import OUTPUT derm-import SOURCES ${derm_import_sources}
    LIBRARIES derm::character assimp::assimp fmt::fmt)
  derm_precompile(derm_import)
  add_dependencies(derm_io derm_import)
endif()
if(DERM_WITH_OPENVDB)
  set(derm_read_vdb_sources limited_program.cpp text_scanner.cpp vdb_answer.cpp vdb_program.cpp)
  derm_module(io_vdb
    SOURCES ${PROJECT_SOURCE_DIR}/src/io/vdb_module.cpp
    LIBRARIES derm_openvdb derm::mesh)
  list(TRANSFORM derm_read_vdb_sources PREPEND ${PROJECT_SOURCE_DIR}/src/io/)
  derm_module_program(read_vdb OUTPUT derm-read-vdb SOURCES ${derm_read_vdb_sources}
    LIBRARIES derm_openvdb derm::mesh)
  # OpenVDB's templates must be the same objects in its library and in ours.
  set_target_properties(derm_io_vdb derm_read_vdb PROPERTIES CXX_VISIBILITY_PRESET default
    VISIBILITY_INLINES_HIDDEN OFF)
  add_dependencies(derm_io derm_io_vdb derm_read_vdb)
endif()
# Files we write name the version that wrote them.
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/io/gltf/writer.cpp PROPERTIES
  COMPILE_DEFINITIONS DERM_VERSION="${PROJECT_VERSION}")
