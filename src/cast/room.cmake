derm_room(cast
  SOURCES arm.cpp cast.cpp cat.cpp cat_body.cpp cat_motion.cpp clay.cpp curve.cpp cylinder.cpp figure.cpp
    head_tessellation.cpp liquids.cpp shapes.cpp
    mushroom.cpp planar_pose.cpp remesh.cpp rig.cpp sculpt.cpp surface.cpp synthetic_head.cpp trousers.cpp weights.cpp
    work_mesh.cpp wrist.cpp)
