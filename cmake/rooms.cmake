# Every room, lowest first. Who may include whom is written in tools/rooms.txt and tested.
foreach(room base math image mesh anim character weights deform volume implicit cast io render scene view)
  if(EXISTS ${PROJECT_SOURCE_DIR}/src/${room}/room.cmake)
    include(${PROJECT_SOURCE_DIR}/src/${room}/room.cmake)
  endif()
endforeach()
