#include <vector>

#include "repro/documents.h"

namespace derm::detail::repro {

ReproDocument faceDocument() {
  static const std::vector<ReproExhibit> all =
      joined({rigExhibits(), expressionExhibits(), wrinkleMapExhibits()});
  return {"002", "faces",
          "Dutreve 2011: Paramétrisation et transfert d'animations faciales 3D à partir de "
          "séquences vidéo (PhD thesis)",
          all};
}

}  // namespace derm::detail::repro
