#include "io/gltf/prune.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "io/gltf/extensions.h"

namespace derm::detail::gltf {
namespace {

enum class Kind { Mesh, Skin, Accessor, View };

const char* arrayName(Kind kind) {
  switch (kind) {
    case Kind::Mesh:
      return "meshes";
    case Kind::Skin:
      return "skins";
    case Kind::Accessor:
      return "accessors";
    case Kind::View:
      break;
  }
  return "bufferViews";
}

/// Visits every reference by number to the four kinds. Wrong ones (not a number) are skipped.
class References {
 public:
  using Visit = std::function<void(Kind, Json& number)>;

  References(Json& root, Visit visit) : root_(root), visit_(std::move(visit)) {}

  void run() {
    each(root_, "nodes", [&](Json& node) {
      member(node, "mesh", Kind::Mesh);
      member(node, "skin", Kind::Skin);
      if (Json* extension = inside(node, "extensions", "EXT_mesh_gpu_instancing"))
        allMembers(*extension, "attributes");
    });
    each(root_, "meshes", [&](Json& mesh) {
      each(mesh, "primitives", [&](Json& primitive) {
        allMembers(primitive, "attributes");
        member(primitive, "indices", Kind::Accessor);
        each(primitive, "targets", [&](Json& target) { members(target); });
        if (Json* extension = inside(primitive, "extensions", "KHR_draco_mesh_compression"))
          member(*extension, "bufferView", Kind::View);
      });
    });
    each(root_, "skins", [&](Json& skin) { member(skin, "inverseBindMatrices", Kind::Accessor); });
    each(root_, "animations", [&](Json& animation) {
      each(animation, "samplers", [&](Json& sampler) {
        member(sampler, "input", Kind::Accessor);
        member(sampler, "output", Kind::Accessor);
      });
    });
    each(root_, "accessors", [&](Json& accessor) {
      member(accessor, "bufferView", Kind::View);
      if (Json* indices = inside(accessor, "sparse", "indices"))
        member(*indices, "bufferView", Kind::View);
      if (Json* values = inside(accessor, "sparse", "values"))
        member(*values, "bufferView", Kind::View);
    });
    each(root_, "images", [&](Json& image) { member(image, "bufferView", Kind::View); });
  }

 private:
  static Json* find(Json& object, const char* key) {
    if (!object.is_object()) return nullptr;
    const auto it = object.find(key);
    return it == object.end() ? nullptr : &*it;
  }
  static Json* inside(Json& object, const char* outer, const char* inner) {
    Json* first = find(object, outer);
    return first != nullptr ? find(*first, inner) : nullptr;
  }
  template <class Body>
  static void each(Json& object, const char* key, const Body& body) {
    Json* array = find(object, key);
    if (array == nullptr || !array->is_array()) return;
    for (Json& item : *array) body(item);
  }
  void member(Json& object, const char* key, Kind kind) {
    Json* number = find(object, key);
    if (number != nullptr && asUint(*number)) visit_(kind, *number);
  }
  void members(Json& object) {
    if (!object.is_object()) return;
    for (Json& number : object)
      if (asUint(number)) visit_(Kind::Accessor, number);
  }
  void allMembers(Json& object, const char* key) {
    if (Json* inner = find(object, key)) members(*inner);
  }

  Json& root_;
  Visit visit_;
};

std::vector<bool> used(Json& root, Kind wanted) {
  std::vector<bool> out(arraySize(root, arrayName(wanted)), false);
  References(root, [&](Kind kind, Json& number) {
    const std::uint64_t i = *asUint(number);
    if (kind == wanted && i < out.size()) out[i] = true;
  }).run();
  return out;
}

/// Takes the marked items out of an array and renumbers all references to the others.
void remove(Json& root, Kind wanted, const std::vector<bool>& drop) {
  std::vector<std::size_t> number(drop.size(), 0);
  Json kept = Json::array();
  for (std::size_t i = 0; i < drop.size(); ++i) {
    if (drop[i]) continue;
    number[i] = kept.size();
    kept.push_back(std::move(root[arrayName(wanted)][i]));
  }
  if (kept.empty())
    root.erase(arrayName(wanted));
  else
    root[arrayName(wanted)] = std::move(kept);
  References(root, [&](Kind kind, Json& reference) {
    const std::uint64_t i = *asUint(reference);
    if (kind == wanted && i < number.size()) reference = number[i];
  }).run();
}

/// Names of all extensions the file uses, declared or (at its root) not.
std::set<std::string> extensionNames(const Json& root) {
  std::set<std::string> out;
  for (const char* key : {"extensionsUsed", "extensionsRequired"}) {
    const Json* list = findMember(root, key);
    if (list != nullptr && list->is_array())
      for (const Json& name : *list)
        if (name.is_string()) out.insert(name.get<std::string>());
  }
  const Json* extensions = findMember(root, "extensions");
  if (extensions != nullptr && extensions->is_object())
    for (auto it = extensions->begin(); it != extensions->end(); ++it) out.insert(it.key());
  return out;
}

/// Copies the bytes that views still show to a new buffer. Gives up (and leaves all as it is) where
/// views overlap so much that the copy would be larger, or are malformed.
void compactBytes(Output& out) {
  struct Run {
    Json* view;
    std::uint64_t offset, length;
  };
  std::vector<Run> runs;
  std::uint64_t total = 0;
  const auto add = [&](Json& view) {
    const Json* buffer = findMember(view, "buffer");
    if (buffer == nullptr || asUint(*buffer) != 0) return buffer != nullptr;
    const Json* offset = findMember(view, "byteOffset");
    const Json* length = findMember(view, "byteLength");
    const std::uint64_t start = offset ? asUint(*offset).value_or(~std::uint64_t{0}) : 0;
    const std::uint64_t size = length ? asUint(*length).value_or(~std::uint64_t{0}) : 0;
    if (start > out.bin.size() || size > out.bin.size() - start) return false;
    runs.push_back({&view, start, size});
    total += size;
    return true;
  };
  for (std::size_t i = 0; i < arraySize(out.root, "bufferViews"); ++i) {
    Json& view = out.root["bufferViews"][i];
    if (!add(view)) return;
    if (!view.contains("extensions") || !view["extensions"].is_object()) continue;
    for (Json& extension : view["extensions"])
      if (extension.is_object() && extension.contains("buffer") && !add(extension)) return;
  }
  if (total > out.bin.size()) return;
  std::vector<std::uint8_t> bytes;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> placed;
  for (const Run& run : runs) {
    const auto [it, fresh] = placed.try_emplace({run.offset, run.length}, 0);
    if (fresh) {
      bytes.resize((bytes.size() + 3) / 4 * 4, 0);
      it->second = bytes.size();
      const auto begin = out.bin.begin() + static_cast<std::ptrdiff_t>(run.offset);
      bytes.insert(bytes.end(), begin, begin + static_cast<std::ptrdiff_t>(run.length));
    }
    (*run.view)["byteOffset"] = it->second;
  }
  out.bin = std::move(bytes);
}

}  // namespace

void dropReplaced(const GltfDocument& document, Output& out) {
  const std::set<std::string> extensions = extensionNames(document.root);
  const bool accessors_move = std::all_of(extensions.begin(), extensions.end(), accessorsMayMove);
  const bool meshes_move = std::all_of(extensions.begin(), extensions.end(), meshesMayMove);
  Json before = document.root;
  bool views_dropped = false;
  for (const Kind kind : {Kind::Mesh, Kind::Skin, Kind::Accessor, Kind::View}) {
    const bool mesh_like = kind == Kind::Mesh || kind == Kind::Skin;
    if (mesh_like ? !meshes_move : !accessors_move) continue;
    const std::vector<bool> then = used(before, kind);
    std::vector<bool> drop = used(out.root, kind);
    bool any = false;
    for (std::size_t i = 0; i < drop.size(); ++i) {
      drop[i] = !drop[i] && i < then.size() && then[i];
      any = any || drop[i];
    }
    if (!any) continue;
    remove(out.root, kind, drop);
    if (kind == Kind::View) views_dropped = true;
  }
  if (views_dropped) compactBytes(out);
}

}  // namespace derm::detail::gltf
