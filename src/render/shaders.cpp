#include "render/shaders.h"

#include "derm/render/draw_list.h"

#include "render/light_rig.h"

namespace derm::detail::shaders {
namespace {

/// The normal on the side that is seen.
const char* const kSeenNormal = R"(
// From the pixel, not from the interpolated position, which is extrapolated at outlines.
vec3 eyeDirection() {
  // The half-size pass has its own pixels but the same view.
  vec2 at = gl_FragCoord.xy / frame.picture.xy * PIXEL_SCALE * 2.0 - 1.0;
  return transpose(mat3(frame.view)) * normalize(vec3(-at * frame.picture.zw, 1.0));
}
vec3 seenNormal(vec3 n, vec3 v) {
  n = length(n) > 0.0 ? normalize(n) : v;
  if (!gl_FrontFacing) n = -n;
  // Smooth normals of coarse meshes turn away from the eye at the outline; bend them back.
  float turned = dot(n, v);
  return turned < 0.02 ? normalize(n + v * (0.02 - turned)) : n;
}
)";

/// Sky and key shadow of a pixel from the half-size picture: the four nearest texels, weighted by
/// how near their surface is to ours, so that shadows do not bleed over edges.
const char* const kOcclusionLookup = R"(
layout(binding = 0) uniform sampler2D occlusion_map;  // sky, key, distance
vec2 occlusionAt(float distance_m) {
  vec2 size = vec2(textureSize(occlusion_map, 0));
  vec2 at = gl_FragCoord.xy / frame.picture.xy * size - 0.5;
  vec2 base = floor(at);
  vec2 t = at - base;
  vec2 sum = vec2(0.0);
  float weight = 1e-5;
  vec2 fallback = vec2(1.0);
  float nearest = 1e30;
  for (int i = 0; i < 4; ++i) {
    ivec2 o = ivec2(i & 1, i >> 1);
    vec4 s = texelFetch(occlusion_map, clamp(ivec2(base) + o, ivec2(0), ivec2(size) - 1), 0);
    float off = abs(s.z - distance_m) / s.z;
    float w = (o.x == 0 ? 1.0 - t.x : t.x) * (o.y == 0 ? 1.0 - t.y : t.y);
    w = (w + 0.01) * exp(-off * 400.0);
    sum += w * s.xy;
    weight += w;
    if (off < nearest) { nearest = off; fallback = s.xy; }
  }
  return weight > 2e-4 ? sum / weight : fallback;
}
)";

/// A surface's material.
const char* const kSurfaceInputs = R"(
layout(binding = 1) uniform sampler2D colour_map;
layout(binding = 2) uniform sampler2D normal_map;
layout(location = 0) uniform vec4 base_colour;
layout(location = 1) uniform vec4 material;  // metallic, roughness, self-lit, opacity
layout(location = 2) uniform ivec4 has;      // colour map, normal map, cut out, shadows
centroid in vec3 world;
centroid in vec3 world_normal;
centroid in vec2 texture_uv;
centroid in vec4 vertex_colour;
centroid in float distance_m;
centroid in vec4 detail_weights_0;
centroid in vec4 detail_weights_4;
layout(location = 0) out vec4 result;
)";

const char* const kMappedNormal = R"(
// Tangents from screen derivatives (Mikkelsen 2010): no vertex tangents needed.
vec3 mappedNormal(vec3 n) {
  n = normalize(n);
  vec3 m = mapNormal();
  vec3 px = dFdx(world), py = dFdy(world);
  vec2 ux = dFdx(texture_uv), uy = dFdy(texture_uv);
  vec3 a = cross(py, n), b = cross(n, px);
  vec3 t = a * ux.x + b * uy.x, s = a * ux.y + b * uy.y;
  if (!(dot(t, t) > 0.0 && dot(s, s) > 0.0)) return n;
  // glTF's v runs down the picture while the map's y points up.
  return normalize(normalize(t) * m.x - normalize(s) * m.y + n * m.z);
}
)";

const char* const kToneCurve = R"(
// Khronos' neutral curve: as it is below 0.8, a soft shoulder above, bright colours go to white.
vec3 toneMapped(vec3 c) {
  const float start = 0.8 - 0.04, desaturation = 0.15;
  float x = min(c.r, min(c.g, c.b));
  float offset = x < 0.08 ? x - 6.25 * x * x : 0.04;
  c -= offset;
  float peak = max(c.r, max(c.g, c.b));
  if (peak < start) return c;
  float d = 1.0 - start;
  float new_peak = 1.0 - d * d / (peak + d - start);
  c *= new_peak / peak;
  float g = 1.0 - 1.0 / (desaturation * (peak - new_peak) + 1.0);
  return mix(c, vec3(new_peak), g);
}
)";

/// The picture's own colour behind everything, at [-1,1] of it.
const char* const kBackground = R"(
vec3 background(vec2 screen) {
  float t = smoothstep(0.0, 1.0, screen.y * 0.5 + 0.5);
  vec3 c = mix(frame.background_bottom.rgb, frame.background_top.rgb, t);
  vec2 from_middle = (screen - vec2(0.0, 0.12)) * vec2(min(1.0, frame.picture.x / frame.picture.y * 0.75), 1.0);
  float pool = exp(-dot(from_middle, from_middle) * 1.6);
  return mix(c, vec3(0.95, 0.955, 0.965), 0.75 * pool * frame.background_extra.x);
}
)";

/// The material's normal map with its detail maps over it (Dutreve 2011, eq. 5.13 and 5.14): slopes
/// add up, so that the fixed detail below survives. A map's normal m of length 1, mixed with the
/// flat one by the weight w, is (w m.x, w m.y, 1 - w (1 - m.z)) / l, l^2 = 1 - 2 w (1 - w) (1 -
/// m.z). All are multiplied by all l instead of divided: only the direction counts. There are no
/// loops and no arrays of textures: software drivers run every turn of a loop, and try every
/// texture of an array, for every pixel.
std::string mapNormal(const DetailLayout& layout) {
  std::string declared, laid;
  std::size_t map = 0;
  for (std::size_t t = 0; t < layout.size(); ++t) {
    const std::string n = std::to_string(t), uv = "detail_uv_" + n;
    declared += "layout(binding = " + std::to_string(kFirstDetailUnit + t) +
                ") uniform sampler2D detail_map_" + n + ";\n";
    std::string at = "texture_uv";
    if (layout[t].moved) {
      declared += "layout(location = " + std::to_string(kDetailUvs + t) + ") uniform vec4 " + uv +
                  ";  // scale, offset\n";
      at += " * " + uv + ".xy + " + uv + ".zw";
    }
    // As packedNormal() in gpu_scene.cpp stores them.
    laid +=
        "  texel = texture(detail_map_" + n + ", " + at + ") * (255.0 / 127.0) - 128.0 / 127.0;\n";
    for (int half = 0; half < layout[t].maps; ++half, ++map)
      laid += std::string("  layOver(n, lengths, texel.") + (half == 0 ? "xy" : "zw") +
              ", detail_weights_" + (map < 4 ? "0" : "4") + "[" + std::to_string(map % 4) + "]);\n";
  }
  return declared + R"(
void layOver(inout vec3 sum, inout float lengths, vec2 m, float weight) {
  float faded = weight - weight * sqrt(max(1.0 - dot(m, m), 0.0));
  float l = sqrt(1.0 + (2.0 * weight - 2.0) * faded);
  sum = vec3(sum.xy * l + m * (weight * lengths), sum.z - sum.z * faded);
  lengths *= l;
}
vec3 mapNormal() {
  vec3 n = vec3(0.0, 0.0, 1.0);
  if (has.y != 0) n = normalize(texture(normal_map, texture_uv).xyz * 2.0 - 1.0);
  float lengths = 1.0;
  vec4 texel;
)" + laid +
         "  return n;\n}\n";
}

/// What surfaces have in both lightings.
std::string surfaceInputs(const DetailLayout& layout) {
  return kSurfaceInputs + mapNormal(layout) + kMappedNormal +
         "const bool has_details = " + (layout.empty() ? "false" : "true") + ";\n";
}

}  // namespace

/// The same layout as FrameUniforms and SkyUniforms in light_rig.h.
std::string header() {
  return "#version 450 core\n#define MAX_SKY " + std::to_string(kMaxSkyDirections) +
         "\n#define SKY_ROW " + std::to_string(kSkyTilesPerRow) + "\n#define SKY_TILE " +
         std::to_string(kSkyTile_px) + ".0" + R"(
layout(std140, binding = 0) uniform Frame {
  mat4 view;
  mat4 projection;
  mat4 key_matrix;
  vec4 eye;
  vec4 key_direction;
  vec4 key_right;
  vec4 key_up;
  vec4 key_colour;
  vec4 fill_direction;
  vec4 fill_colour;
  vec4 rim_direction;
  vec4 rim_colour;
  vec4 sky_colour;
  vec4 bounce_colour;
  vec4 picture;
  vec4 key_shadow;
  vec4 sky_shadow;
  vec4 ground;
  vec4 stage;
  vec4 background_top;
  vec4 background_bottom;
  vec4 background_extra;
} frame;
)";
}

std::string depthVertex() {
  return header() + R"(
layout(location = 0) in vec3 position;
layout(location = 0) uniform mat4 light_clip;
void main() { gl_Position = light_clip * vec4(position, 1.0); }
)";
}

std::string depthFragment() { return header() + "void main() {}\n"; }

std::string surfaceVertex() {
  return header() + R"(
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec2 uv;
layout(location = 3) in vec4 colour;
layout(location = 4) in vec4 weights_0;  // of detail maps
layout(location = 5) in vec4 weights_4;
// At an outline the middle of a pixel may lie outside the triangle: `centroid` keeps inside.
centroid out vec3 world;
centroid out vec3 world_normal;
centroid out vec2 texture_uv;
centroid out vec4 vertex_colour;
centroid out float distance_m;
centroid out vec4 detail_weights_0;
centroid out vec4 detail_weights_4;
void main() {
  world = position;
  world_normal = normal;
  detail_weights_0 = weights_0;
  detail_weights_4 = weights_4;
  texture_uv = uv;
  vertex_colour = colour;
  vec4 seen = frame.view * vec4(position, 1.0);
  distance_m = -seen.z;
  gl_Position = frame.projection * seen;
}
)";
}

std::string geometryFragment() {
  return header() + "#define PIXEL_SCALE 2.0\n" + kSeenNormal + R"(
centroid in vec3 world_normal;
centroid in float distance_m;
layout(location = 0) out vec4 geometry;
void main() {
  geometry = vec4(seenNormal(world_normal, eyeDirection()), distance_m);
}
)";
}

std::string groundVertex() {
  return header() + R"(
out vec3 world;
out float distance_m;
void main() {
  vec2 corner = vec2((gl_VertexID & 1) * 2 - 1, (gl_VertexID >> 1) * 2 - 1) * frame.ground.z;
  world = vec3(frame.stage.x + corner.x, frame.ground.x, frame.stage.z + corner.y);
  vec4 seen = frame.view * vec4(world, 1.0);
  distance_m = -seen.z;
  gl_Position = frame.projection * seen;
}
)";
}

std::string groundGeometryFragment() {
  return header() + R"(
in float distance_m;
layout(location = 0) out vec4 geometry;
void main() { geometry = vec4(0.0, 1.0, 0.0, distance_m); }
)";
}

std::string backgroundFragment() {
  return header() + kBackground + R"(
in vec2 screen;
layout(location = 0) out vec4 colour;
void main() { colour = vec4(background(screen), 1.0); }
)";
}

std::string groundFragment() {
  return header() + kOcclusionLookup + R"(
in vec3 world;
in float distance_m;
layout(location = 0) out vec4 colour;
void main() {
  vec2 o = occlusionAt(distance_m);
  float light = 0.5 * o.x + 0.5 * o.y;
  float fade = 1.0 - smoothstep(frame.ground.y, frame.ground.z, distance(world.xz, frame.stage.xz));
  float dark = (1.0 - light) * fade * frame.ground.w;
  colour = vec4(vec3(0.055, 0.06, 0.075), clamp(dark, 0.0, 1.0) * 0.86);
}
)";
}

std::string surfaceFragment(const DetailLayout& layout) {
  return header() + "#define PIXEL_SCALE 1.0\n" + kSeenNormal + kOcclusionLookup +
         surfaceInputs(layout) + kToneCurve + R"(
float ggx(vec3 n, vec3 v, vec3 l, float rough) {
  vec3 h = normalize(v + l);
  float a = rough * rough;
  float nh = max(dot(n, h), 0.0), nv = max(dot(n, v), 1e-3), nl = max(dot(n, l), 0.0);
  float d = nh * nh * (a * a - 1.0) + 1.0;
  float distribution = a * a / (3.14159265 * d * d);
  float k = a * 0.5;
  float shadowing = 1.0 / ((nv * (1.0 - k) + k) * (nl * (1.0 - k) + k) * 4.0);
  return distribution * shadowing * nl;
}

// Light that bleeds a little around the edge, as in skin and clay.
float wrapped(float cosine, float wrap) {
  return max(cosine + wrap, 0.0) / ((1.0 + wrap) * (1.0 + wrap));
}

vec3 lamp(vec3 n, vec3 v, vec3 l, vec3 light, vec3 diffuse, vec3 mirror, float rough, float wrap, float lit) {
  vec3 h = normalize(v + l);
  vec3 fresnel = mirror + (1.0 - mirror) * pow(1.0 - max(dot(v, h), 0.0), 5.0);
  return light * lit * (diffuse * wrapped(dot(n, l), wrap) + fresnel * ggx(n, v, l, rough) * 1.4);
}

// A room as a mirror sees it: bright ceiling, grey walls, darker floor; blurred by roughness.
vec3 room(vec3 d, float rough) {
  float soft = mix(0.25, 1.0, rough);
  float up = smoothstep(-soft, soft, d.y);
  vec3 c = mix(frame.bounce_colour.rgb * 0.8, frame.sky_colour.rgb * 1.25, up);
  float box = smoothstep(0.72 - 0.5 * rough, 0.95, dot(d, frame.key_direction.xyz));
  return c + box * (1.0 - rough) * 1.6;
}

void main() {
  vec4 base = base_colour * clamp(vertex_colour, 0.0, 1.0);
  if (has.x != 0) base *= texture(colour_map, texture_uv);
  if (has.z != 0 && base.a < 0.02) discard;
  vec3 v = eyeDirection();
  vec3 n = seenNormal(has.y != 0 || has_details ? mappedNormal(world_normal) : world_normal, v);

  vec2 o = has.w != 0 ? occlusionAt(distance_m) : vec2(1.0);
  float metallic = material.x, rough = clamp(material.y, 0.08, 1.0);
  vec3 diffuse = base.rgb * (1.0 - metallic);
  vec3 mirror = mix(vec3(0.04), base.rgb, metallic);
  float sky = o.x;
  // Light that bounced off the surface itself: darks of bright or coloured skin are not black.
  vec3 bounced = sky + (1.0 - sky) * base.rgb * sky * 0.55;

  vec3 c = lamp(n, v, frame.key_direction.xyz, frame.key_colour.rgb, diffuse, mirror, rough, 0.12, o.y);
  c += lamp(n, v, frame.fill_direction.xyz, frame.fill_colour.rgb, diffuse, mirror, rough, 0.35, mix(0.35, 1.0, sky));
  c += lamp(n, v, frame.rim_direction.xyz, frame.rim_colour.rgb, diffuse, mirror, rough, 0.0, smoothstep(0.1, 0.7, sky));
  c += diffuse * mix(frame.bounce_colour.rgb, frame.sky_colour.rgb, n.y * 0.5 + 0.5) * bounced;
  // Mirror part of the room's light, with the split-sum factors as a fit (Karis 2014).
  float nv = max(dot(n, v), 0.0);
  vec4 r = rough * vec4(-1.0, -0.0275, -0.572, 0.022) + vec4(1.0, 0.0425, 1.04, -0.04);
  float a004 = min(r.x * r.x, exp2(-9.28 * nv)) * r.x + r.y;
  vec2 split = vec2(-1.04, 1.04) * a004 + r.zw;
  c += (mirror * split.x + split.y) * room(reflect(-v, n), rough) * mix(sky * sky, sky, 0.4);

  vec3 shown = mix(toneMapped(c * 0.92), base.rgb, material.z);
  float alpha = has.z != 0 ? clamp((base.a - 0.5) / max(fwidth(base.a), 1e-4) + 0.5, 0.0, 1.0) : 1.0;
  if (material.w < 1.0) alpha *= mix(material.w, 1.0, 0.55 * pow(1.0 - nv, 3.0));
  result = vec4(shown, alpha);
}
)";
}

std::string quickSurfaceFragment(const DetailLayout& layout) {
  return header() + "#define PIXEL_SCALE 1.0\n" + kSeenNormal + surfaceInputs(layout) + kToneCurve +
         R"(
void main() {
  vec4 base = base_colour * clamp(vertex_colour, 0.0, 1.0);
  if (has.x != 0) base *= texture(colour_map, texture_uv);
  if (has.z != 0 && base.a < 0.02) discard;
  vec3 v = eyeDirection();
  vec3 n = seenNormal(has.y != 0 || has_details ? mappedNormal(world_normal) : world_normal, v);
  // Wrapped as in the studio; what a mirror would show is a share of the sky.
  float lit = max(dot(n, frame.key_direction.xyz) + 0.12, 0.0) / (1.12 * 1.12);
  vec3 ambient = mix(frame.bounce_colour.rgb, frame.sky_colour.rgb, n.y * 0.5 + 0.5);
  vec3 c = base.rgb * (frame.key_colour.rgb * lit + ambient * 1.15);
  vec3 shown = mix(toneMapped(c * 0.92), base.rgb, material.z);
  float alpha = has.z != 0 ? clamp((base.a - 0.5) / max(fwidth(base.a), 1e-4) + 0.5, 0.0, 1.0) : 1.0;
  if (material.w < 1.0) alpha *= mix(material.w, 1.0, 0.55 * pow(1.0 - max(dot(n, v), 0.0), 3.0));
  result = vec4(shown, alpha);
}
)";
}

std::string flatShadowFragment() {
  return header() + kBackground + R"(
layout(location = 0) out vec4 colour;
void main() {
  vec3 dark = vec3(0.055, 0.06, 0.075);
  float share = 0.3 * frame.ground.w;
  // A picture without a background keeps the shadow alone; its colours are times alpha till the end.
  if (frame.background_extra.y > 0.0) colour = vec4(dark * share, share);
  else colour = vec4(mix(background(gl_FragCoord.xy / frame.picture.xy * 2.0 - 1.0), dark, share), 1.0);
}
)";
}

}  // namespace derm::detail::shaders
