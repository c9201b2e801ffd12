#pragma once

#include <memory>
#include <string_view>

#include "derm/anim/skin.h"
#include "derm/base/diagnostics.h"
#include "derm/character/character.h"
#include "derm/contact/contact_layer.h"
#include "derm/mesh/tri_mesh.h"

#include "contact/contact_body.h"

/// Private to room contact.
namespace derm::detail {

/// What is known of a character before it moves, with what is in contact at rest exempt; nothing
/// where no part of its skin has another to meet. `rest` and `skin` are the character's, or those
/// of a surface that was made from it.
std::shared_ptr<const ContactBody> bindContactBody(const Character& character, const TriMesh& rest,
                                                   const Skin& skin, const ContactDesc& desc,
                                                   std::string_view element, Diagnostics& notes);

/// The same after an edit of the numbers, from what was bound to the same surface before it.
std::shared_ptr<const ContactBody> rebindContactBody(const ContactBody& before, const TriMesh& rest,
                                                     const Skin& skin, const ContactDesc& desc);

}  // namespace derm::detail
