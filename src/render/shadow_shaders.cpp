#include "render/shaders.h"

namespace derm::detail::shaders {

std::string screenVertex() {
  return header() + R"(
out vec2 screen;  // [-1,1]
void main() {
  screen = vec2((gl_VertexID << 1) & 2, gl_VertexID & 2) * 2.0 - 1.0;
  gl_Position = vec4(screen, 0.999999, 1.0);
}
)";
}

std::string occlusionFragment() {
  return header() + R"(
layout(std140, binding = 1) uniform Sky {
  mat4 matrix[MAX_SKY];
  vec4 direction[MAX_SKY];
} sky;
layout(binding = 0) uniform sampler2D geometry_map;  // world normal, distance
layout(binding = 1) uniform sampler2DShadow sky_map;
layout(binding = 2) uniform sampler2DShadow key_compare;
layout(binding = 3) uniform sampler2D key_depth;
in vec2 screen;
layout(location = 0) out vec4 result;  // sky, key, distance

// A different number for each pixel of a 4 x 4 block: what the blur then averages.
int blockNumber() {
  ivec2 p = ivec2(gl_FragCoord.xy) & 3;
  int order[16] = int[16](0, 8, 2, 10, 12, 4, 14, 6, 3, 11, 1, 9, 15, 7, 13, 5);
  return order[p.y * 4 + p.x];
}

vec2 disc(int i, int count, float turn) {
  float r = sqrt((float(i) + 0.5) / float(count));
  float a = float(i) * 2.39996323 + turn * 6.28318531;
  return r * vec2(cos(a), sin(a));
}

float skyLight(vec3 world, vec3 n, int number) {
  int count = int(frame.sky_shadow.x);
  vec3 from = world + n * frame.sky_shadow.y * 1.8;
  // The floor is far from what shades it, so it may be filtered widely; skin is not.
  bool floor_here = n.y > 0.9999 && abs(world.y - frame.ground.x) < 1e-4 * frame.stage.w;
  float spread = (floor_here ? 12.0 : 2.5) / SKY_TILE;
  float sum = 0.0, whole = 0.0;
  for (int i = 0; i < count; ++i) {
    vec4 d = sky.direction[i];
    float w = dot(n, d.xyz) * d.w;
    // The long shadows of low directions would draw faint streaks on an empty floor.
    if (floor_here) w *= smoothstep(0.1, 0.6, d.y);
    if (w <= 0.0) continue;
    vec3 p = (sky.matrix[i] * vec4(from, 1.0)).xyz;
    // Over a block every direction is looked at through sixteen points of a disc.
    p.xy += disc((number + 5 * i) & 15, 16, float(i) * 0.618034) * spread;
    float lit = 1.0;
    // Outside its own tile nothing is in the way; one texel less keeps neighbours out of the filter.
    if (all(lessThan(abs(p.xy - 0.5), vec2(0.5 - 1.0 / SKY_TILE)))) {
      vec2 tile = vec2(i % SKY_ROW, i / SKY_ROW);
      lit = texture(sky_map, vec3((tile + p.xy) * frame.sky_shadow.zw, p.z - 0.0006));
    }
    whole += w;
    sum += w * lit;
  }
  return whole > 0.0 ? sum / whole : 1.0;
}

// Percentage-closer soft shadows: the mean height of what is in the way says how wide to filter.
// Receiver-plane bias: the taps follow the plane of the surface, so wide filters do not shadow it.
float keyLight(vec3 world, vec3 n, float turn) {
  float facing = dot(n, frame.key_direction.xyz);
  // Light ends softly where the surface turns away; a shadow's hard border there would show. Beyond
  // that nothing is lit anyway, and 0 keeps neighbours across a crease dark.
  float counts = smoothstep(-0.12, 0.08, facing);
  if (counts <= 0.0) return 0.0;
  facing = max(facing, 0.0);
  float map_m = frame.key_shadow.x, texel_m = frame.key_shadow.y;
  vec3 from = world + n * texel_m * (1.5 + 2.0 * (1.0 - facing));
  vec3 p = (frame.key_matrix * vec4(from, 1.0)).xyz;
  if (any(lessThan(p.xy, vec2(-0.05))) || any(greaterThan(p.xy, vec2(1.05)))) return 1.0;
  float steep = max(facing, 0.2);
  vec2 slope = vec2(dot(n, frame.key_right.xyz), dot(n, frame.key_up.xyz)) / steep * map_m / frame.key_shadow.w;
  float bias = 1.5 * texel_m / frame.key_shadow.w;
  float search = clamp(frame.key_shadow.z * 0.55 * 0.5, 2.0 * texel_m / map_m, 0.06);
  float blockers = 0.0, depth = 0.0;
  for (int i = 0; i < 16; ++i) {
    vec2 o = disc(i, 16, turn) * search;
    float z = texture(key_depth, p.xy + o).r;
    // Light space z grows away from the light; the plane falls where its normal leans to +o.
    float own = p.z + dot(slope, o);
    if (z < own - bias) { blockers += 1.0; depth += own - z; }
  }
  if (blockers < 0.5) return 1.0;
  float height_m = depth / blockers * frame.key_shadow.w;
  float radius = clamp(height_m * frame.key_shadow.z, 1.5 * texel_m, 0.08 * map_m) / map_m;
  float lit = 0.0;
  for (int i = 0; i < 24; ++i) {
    vec2 o = disc(i, 24, turn) * radius;
    lit += texture(key_compare, vec3(p.xy + o, p.z + dot(slope, o) - bias));
  }
  return mix(1.0, lit / 24.0, counts);
}

void main() {
  vec4 g = texelFetch(geometry_map, ivec2(gl_FragCoord.xy), 0);
  if (g.w <= 0.0) { result = vec4(1.0, 1.0, 1e6, 0.0); return; }
  vec3 seen = vec3(screen * frame.picture.zw * g.w, -g.w);
  vec3 world = transpose(mat3(frame.view)) * seen + frame.eye.xyz;
  int number = blockNumber();
  float turn = (float(number) + 0.5) / 16.0;
  result = vec4(skyLight(world, g.xyz, number), keyLight(world, g.xyz, turn), g.w, 0.0);
}
)";
}

std::string blurFragment() {
  return header() + R"(
layout(binding = 0) uniform sampler2D noisy_map;
layout(binding = 1) uniform sampler2D geometry_map;
in vec2 screen;
layout(location = 0) out vec4 result;
void main() {
  ivec2 here = ivec2(gl_FragCoord.xy);
  ivec2 last = textureSize(noisy_map, 0) - 1;
  vec4 own = texelFetch(noisy_map, here, 0);
  if (own.z >= 1e6) { result = own; return; }
  vec3 n = texelFetch(geometry_map, here, 0).xyz;
  vec2 sum = own.xy;
  float weight = 1.0;
  // Exactly one 4 x 4 block of turns, twice: 5 x 5 with half weights at the rim.
  for (int y = -2; y <= 2; ++y)
    for (int x = -2; x <= 2; ++x) {
      if (x == 0 && y == 0) continue;
      ivec2 at = clamp(here + ivec2(x, y), ivec2(0), last);
      vec4 s = texelFetch(noisy_map, at, 0);
      float w = (abs(x) == 2 ? 0.5 : 1.0) * (abs(y) == 2 ? 0.5 : 1.0);
      w *= exp(-abs(s.z - own.z) / own.z * 250.0);
      w *= smoothstep(0.55, 0.95, dot(n, texelFetch(geometry_map, at, 0).xyz));
      sum += w * s.xy;
      weight += w;
    }
  result = vec4(sum / weight, own.z, 0.0);
}
)";
}

}  // namespace derm::detail::shaders
