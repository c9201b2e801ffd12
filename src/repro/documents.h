#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "derm/repro/exhibit.h"

/// The exhibits of each document, by its parts.
namespace derm::detail::repro {

ReproDocument wrinklesDocument();  ///< 000: flesh and folds
ReproDocument volumeDocument();    ///< 001
ReproDocument faceDocument();      ///< 002
ReproDocument implicitDocument();  ///< 003
ReproDocument skinningDocument();  ///< 004

std::span<const ReproExhibit> fleshExhibits();       ///< of 000
std::span<const ReproExhibit> foldCurveExhibits();   ///< of 000
std::span<const ReproExhibit> foldExhibits();        ///< of 000
std::span<const ReproExhibit> elbowExhibits();       ///< of 001
std::span<const ReproExhibit> cylinderExhibits();    ///< of 001
std::span<const ReproExhibit> catExhibits();         ///< of 001
std::span<const ReproExhibit> rigExhibits();         ///< of 002
std::span<const ReproExhibit> expressionExhibits();  ///< of 002
std::span<const ReproExhibit> wrinkleMapExhibits();  ///< of 002

/// Parts of a document one after another.
std::vector<ReproExhibit> joined(std::initializer_list<std::span<const ReproExhibit>> parts);

}  // namespace derm::detail::repro
