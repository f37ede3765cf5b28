// The vertices of one triangle that covers every pixel of the target.
//
// SPDX-License-Identifier: Apache-2.0

void main() {
  vec2 corner = vec2(float((gl_VertexID & 1) << 2), float((gl_VertexID & 2) << 1));
  gl_Position = vec4(corner - 1.0, 0.0, 1.0);
}
