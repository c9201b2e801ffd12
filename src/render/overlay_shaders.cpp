#include "render/shaders.h"

namespace derm::detail::shaders {

std::string lineVertex() {
  return header() + R"(
layout(location = 0) in vec3 from;
layout(location = 1) in vec3 to;
layout(location = 2) in vec4 from_colour;
layout(location = 3) in vec4 to_colour;
layout(location = 0) uniform vec4 stroke;  // width [px], share towards the eye
noperspective out vec2 across;  // [px] along the stroke from its start, and away from its middle
noperspective out vec4 line_colour;
flat out float line_length;
void main() {
  vec3 a = (frame.view * vec4(from, 1.0)).xyz * (1.0 - stroke.y);
  vec3 b = (frame.view * vec4(to, 1.0)).xyz * (1.0 - stroke.y);
  // Cut at the near plane: beyond it the projection turns over.
  float near = frame.projection[3][2] / (frame.projection[2][2] - 1.0) * 1.001;
  if (a.z > -near && b.z > -near) { gl_Position = vec4(2.0, 2.0, 2.0, 1.0); return; }
  if (a.z > -near) a = mix(a, b, (-near - a.z) / (b.z - a.z));
  if (b.z > -near) b = mix(b, a, (-near - b.z) / (a.z - b.z));
  vec4 ca = frame.projection * vec4(a, 1.0), cb = frame.projection * vec4(b, 1.0);
  vec2 pa = ca.xy / ca.w * 0.5 * frame.picture.xy, pb = cb.xy / cb.w * 0.5 * frame.picture.xy;
  vec2 along = pb - pa;
  line_length = length(along);
  along = line_length > 1e-4 ? along / line_length : vec2(1.0, 0.0);
  float reach = 0.5 * max(stroke.x, 1.0) + 1.0;
  bool end = (gl_VertexID & 1) != 0;
  float side = (gl_VertexID & 2) != 0 ? 1.0 : -1.0;
  across = vec2(end ? line_length + reach : -reach, side * reach);
  line_colour = end ? to_colour : from_colour;
  vec4 c = end ? cb : ca;
  vec2 p = (end ? pb + along * reach : pa - along * reach) + vec2(-along.y, along.x) * side * reach;
  gl_Position = vec4(p / (0.5 * frame.picture.xy) * c.w, c.zw);
}
)";
}

std::string lineFragment() {
  return header() + R"(
layout(location = 0) uniform vec4 stroke;
noperspective in vec2 across;
noperspective in vec4 line_colour;
flat in float line_length;
layout(location = 0) out vec4 colour;
void main() {
  float beyond = max(max(-across.x, across.x - line_length), 0.0);
  float d = length(vec2(beyond, across.y));
  float cover = clamp(0.5 * max(stroke.x, 1.0) + 0.5 - d, 0.0, 1.0) * min(stroke.x, 1.0);
  if (cover <= 0.0) discard;
  colour = vec4(line_colour.rgb, line_colour.a * cover);
}
)";
}

std::string pointVertex() {
  return header() + R"(
layout(location = 0) in vec3 position;
layout(location = 1) in vec4 point_colour;
layout(location = 0) uniform vec4 dot_size;  // diameter, outline [px]
noperspective out vec2 offset;  // [px]
out vec4 colour_in;
void main() {
  vec4 c = frame.projection * frame.view * vec4(position, 1.0);
  float reach = 0.5 * dot_size.x + 1.0;
  offset = vec2((gl_VertexID & 1) * 2 - 1, (gl_VertexID >> 1) * 2 - 1) * reach;
  colour_in = point_colour;
  if (c.w <= 0.0) { gl_Position = vec4(2.0, 2.0, 2.0, 1.0); return; }
  gl_Position = vec4(c.xy + offset / (0.5 * frame.picture.xy) * c.w, c.zw);
}
)";
}

std::string pointFragment() {
  return header() + R"(
layout(location = 0) uniform vec4 dot_size;
noperspective in vec2 offset;
in vec4 colour_in;
layout(location = 0) out vec4 colour;
void main() {
  float d = length(offset), radius = 0.5 * dot_size.x;
  float cover = clamp(radius + 0.5 - d, 0.0, 1.0);
  if (cover <= 0.0) discard;
  float inside = clamp(radius - dot_size.y + 0.5 - d, 0.0, 1.0);
  colour = vec4(mix(colour_in.rgb * 0.12, colour_in.rgb, inside), colour_in.a * cover);
}
)";
}

}  // namespace derm::detail::shaders
