find_package(fmt REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(PNG REQUIRED)
find_package(JPEG REQUIRED)

if(DERM_WITH_ASSIMP)
  find_package(assimp REQUIRED)
  set(derm_assimp_sources assimp_import.cpp assimp_materials.cpp assimp_meshes.cpp assimp_scene.cpp)
  set(derm_assimp_library assimp::assimp)
else()
  set(derm_assimp_sources assimp_absent.cpp)
  set(derm_assimp_library)
endif()

if(DERM_WITH_OPENVDB)
  set(derm_vdb_sources vdb.cpp)
  set(derm_vdb_library derm_openvdb)
else()
  set(derm_vdb_sources vdb_absent.cpp)
  set(derm_vdb_library)
endif()

derm_room(io
  SOURCES
    file_bytes.cpp
    film.cpp
    film_process.cpp
    image_file.cpp
    jpeg.cpp
    png.cpp
    bvh_hierarchy.cpp
    bvh_reader.cpp
    character_file.cpp
    import_units.cpp
    name_table.cpp
    obj_faces.cpp
    obj_materials.cpp
    obj_reader.cpp
    obj_tables.cpp
    obj_writer.cpp
    background_file.cpp
    point_cache.cpp
    whole_file.cpp
    mesh_sequence.cpp
    particle_file.cpp
    vtk_particles.cpp
    ply_cursor.cpp
    ply_reader.cpp
    polygon_triangles.cpp
    side_images.cpp
    text_scanner.cpp
    ${derm_assimp_sources}
    ${derm_vdb_sources}
    json_value.cpp
    json_dom.cpp
    gltf_uri.cpp
    gltf_skin_reader.cpp
    gltf_scene.cpp
    gltf_reader.cpp
    gltf_morph_reader.cpp
    gltf_mesh_plan.cpp
    gltf_material_reader.cpp
    gltf_groups.cpp
    gltf_geometry_reader.cpp
    gltf_extensions.cpp
    gltf_document.cpp
    gltf_container.cpp
    gltf_clip_reader.cpp
    gltf_bake.cpp
    gltf_accessor.cpp
    gltf.cpp
    gltf_writer.cpp
    gltf_prune.cpp
    gltf_clip_writer.cpp
    gltf_instance_writer.cpp
    gltf_mesh_writer.cpp
    gltf_morph_writer.cpp
    gltf_skin_writer.cpp
    gltf_material_writer.cpp
    gltf_node_writer.cpp
    gltf_output.cpp
    base64.cpp
  ROOMS base math image mesh anim character
  PRIVATE fmt::fmt nlohmann_json::nlohmann_json PNG::PNG JPEG::JPEG ${derm_assimp_library}
    ${derm_vdb_library})
# Files we write name the version that wrote them.
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/io/gltf_writer.cpp PROPERTIES
  COMPILE_DEFINITIONS DERM_VERSION="${PROJECT_VERSION}")
