#include "cast/cat.h"

#include "cast/members.h"

namespace derm::cast {

Character makeCat() {
  const Figure figure = catFigure();
  Character cat = built(figure);
  cat.clips = catClips(figure.rig);
  return cat;
}

}  // namespace derm::cast
