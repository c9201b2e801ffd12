#include "contact/contact_binding.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "derm/deform/props.h"

#include "contact/contact_search.h"

namespace derm::detail {
namespace {

/// Of the body's units: skin that comes so near at rest, beyond the gap, is in contact there.
constexpr float kRestMargin = 0.2f;
constexpr float kMaxRoom = 8;

/// Skin that touches itself at rest, and two rings around it, never seeks contact: lips, lids,
/// toes.
void exemptRestContacts(ContactBody& body, const TriMesh& rest, std::size_t slot_count) {
  ContactSearch search(body);
  const std::vector<Affine3f> palette(slot_count, Affine3f::Identity());
  search.takeUp({.palette = palette,
                 .positions = rest.positions,
                 .extra_gap = kRestMargin * body.lengths.unit});
  search.find(nullptr);
  search.gate();
  PointSet touching(body.pointCount());
  for (const Contact& c : search.contacts()) {
    touching.add(c.point);
    for (const std::uint32_t p : c.hit) touching.add(p);
  }
  for (int ring = 0; ring < 2; ++ring)
    for (std::size_t i = 0, n = touching.list().size(); i < n; ++i)
      for (const std::uint32_t q : body.neighbours[touching.list()[i]]) touching.add(q);
  for (const std::uint32_t p : touching.list()) body.seeks[p] = 0;
}

/// How far each point is from skin that is not beside it; by the cells of a grid.
void addRoom(ContactBody& body) {
  const float reach = 2 * kMaxRoom * body.lengths.unit;
  using Cell = std::array<std::int32_t, 3>;
  const auto cell_of = [&](const Vec3f& p) {
    Cell out;
    for (std::size_t k = 0; k < 3; ++k)
      out[k] = static_cast<std::int32_t>(
          std::clamp(std::floor(p[static_cast<int>(k)] / reach), -1e6f, 1e6f));
    return out;
  };
  std::vector<std::pair<Cell, std::uint32_t>> entries;
  for (std::uint32_t p = 0; p < body.welded_count; ++p)
    if (body.takes_part[p]) entries.push_back({cell_of(body.rest[p]), p});
  std::sort(entries.begin(), entries.end());
  for (std::uint32_t p = 0; p < body.welded_count; ++p) {
    if (!body.takes_part[p]) continue;
    float least = reach;
    const Cell at = cell_of(body.rest[p]);
    for (std::int32_t x = -1; x <= 1; ++x)
      for (std::int32_t y = -1; y <= 1; ++y) {
        const Cell row = {at[0] + x, at[1] + y, at[2] - 1};
        auto it = std::lower_bound(entries.begin(), entries.end(), std::pair{row, 0u});
        for (; it != entries.end() && it->first <= Cell{row[0], row[1], row[2] + 2}; ++it) {
          const float distance = (body.rest[it->second] - body.rest[p]).norm();
          if (distance < least && !body.withinTwoRings(p, it->second)) least = distance;
        }
      }
    body.room[p] = 0.5f * least;
  }
}

}  // namespace

std::shared_ptr<const ContactBody> bindContactBody(const Character& character, const TriMesh& rest,
                                                   const Skin& skin, const ContactDesc& desc,
                                                   std::string_view element, Diagnostics& notes) {
  auto body = std::make_shared<ContactBody>(makeContactBody(
      rest, character.skeleton, skin, rigidMeshVertices(character, skin), desc, element, notes));
  if (body->closed.empty() || body->parts.size() < 2) return nullptr;
  exemptRestContacts(*body, rest, skin.slots.size());
  addRoom(*body);
  return body;
}

std::shared_ptr<const ContactBody> rebindContactBody(const ContactBody& before, const TriMesh& rest,
                                                     const Skin& skin, const ContactDesc& desc) {
  auto body = std::make_shared<ContactBody>(before);
  if (takeNumbers(*body, desc)) {
    body->seeks = body->takes_part;
    exemptRestContacts(*body, rest, skin.slots.size());
  }
  return body;
}

}  // namespace derm::detail
