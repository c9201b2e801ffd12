#pragma once

#include "derm/cast/cylinder.h"
#include "derm/character/character.h"

/// One function per member; cast.cpp has their names and descriptions.
namespace derm::cast {

Character makeCylinder(CylinderKind kind);
Character makeArm();
Character makeCat();
Character makeMushroom();
Character makeTrousers();
Character makeWrist();

}  // namespace derm::cast
