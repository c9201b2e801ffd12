#include "cast/cat.h"

#include "cast/members.h"

namespace derm::detail::cast {

Character makeCat() {
  const Figure figure = catFigure();
  Character cat = built(figure);
  cat.clips = catClips(figure.rig);
  return cat;
}

}  // namespace derm::detail::cast
