#pragma once

#include "derm/cast/cylinder.h"
#include "derm/character/character.h"

/// One function per member; cast.cpp has their names and descriptions.
namespace derm::detail::cast {

/// Makes the mesh one part of one matt material.
void mouldOfClay(Character& c, const Vec4f& colour);

Character makeCylinder(CylinderKind kind);
Character makeArm();
Character makeCat();
Character makeMushroom();
Character makeTrousers();
Character makeWrist();

// Shapes for morphing: closed, without joints.
Character makeSphere();
Character makeTorus();
Character makeSixBlobs();
Character makeTwoSpheres();
Character makeScrew();
Character makeLetterD();

}  // namespace derm::detail::cast
