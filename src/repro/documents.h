#pragma once

#include "derm/repro/exhibit.h"

/// The exhibits of each document, one file each.
namespace derm::detail::repro {

ReproDocument wrinklesDocument();  ///< 000: flesh and folds
ReproDocument volumeDocument();    ///< 001
ReproDocument faceDocument();      ///< 002
ReproDocument implicitDocument();  ///< 003
ReproDocument skinningDocument();  ///< 004

}  // namespace derm::detail::repro
