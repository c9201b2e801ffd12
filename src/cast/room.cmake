derm_room(cast
  SOURCES arm.cpp cast.cpp cat.cpp cat_body.cpp cat_motion.cpp clay.cpp curve.cpp cylinder.cpp figure.cpp
    head_tessellation.cpp liquids.cpp mushroom.cpp planar_pose.cpp remesh.cpp rig.cpp sculpt.cpp shapes.cpp
    surface.cpp synthetic_head.cpp trousers.cpp weights.cpp work_mesh.cpp wrist.cpp
    head/designs.cpp head/ear_plan.cpp head/expressions.cpp head/eye_plan.cpp head/face_pose.cpp
    head/flatten.cpp head/guide_columns.cpp head/hair.cpp head/head.cpp head/head_cage.cpp head/head_clay.cpp
    head/head_pieces.cpp head/head_skin.cpp head/mouth_plan.cpp head/skin_paint.cpp head/subdivide.cpp
    head/unwrap.cpp)
