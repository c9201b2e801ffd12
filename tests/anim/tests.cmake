derm_test(anim unit clip_test.cpp pose_test.cpp retarget_test.cpp sampled_tracks_test.cpp skeleton_test.cpp skin_test.cpp)
