// Rounds 1 and 2 of the counter blocks of a window, as in kernels/block/table/ctr.inc: the parts
// that depend on the row and on the column are separate.
//
// SPDX-License-Identifier: Apache-2.0

struct Window {
  uint row;          // byte 14 of the window's first counter block
  uint row_key;      // byte 14 of the first round key
  uint column1;      // round 1: column 1 without the part of byte 14
  uvec4 columns[4];  // round 2, without the part of the row
};

// Computes the window. `first` is the window's first counter block; `column` is byte 15 of the
// thread's first block.
Window begin_window(uvec4 first, uint column, uint schedule) {
  uvec4 k0 = schedules[schedule], k1 = schedules[schedule + 1u], k2 = schedules[schedule + 2u];
  uvec4 s = first ^ k0;
  uint r2 = mixed(s.z, s.w, s.x, s.y) ^ k1.z;
  uint r3 = mixed(s.w, s.x, s.y, s.z) ^ k1.w;
  uint column0 = LOOK0(s.x, 0) ^ LOOK1(s.y, 1) ^ LOOK2(s.z, 2) ^ k1.x;
  uvec4 z = k2 ^ uvec4(LOOK2(r2, 2) ^ LOOK3(r3, 3), LOOK1(r2, 1) ^ LOOK2(r3, 2),
                       LOOK0(r2, 0) ^ LOOK1(r3, 1), LOOK0(r3, 0) ^ LOOK3(r2, 3));
  Window window;
  window.row = BYTE_OF(first.w, 2);
  window.row_key = BYTE_OF(k0.w, 2);
  window.column1 = LOOK0(s.y, 0) ^ LOOK1(s.z, 1) ^ LOOK3(s.x, 3) ^ k1.y;
  for (uint n = 0u; n < 4u; ++n) {
    uint changed = s.w ^ (column + n * WARP_THREADS) << 24;
    uint r0 = column0 ^ LOOK3(changed, 3);
    window.columns[n] = z ^ uvec4(LOOK0(r0, 0), LOOK3(r0, 3), LOOK2(r0, 2), LOOK1(r0, 1));
  }
  return window;
}

// Returns the row's part of the state after round 2.
uvec4 of_row(Window window, uint row) {
  uint changed = (window.row + row) ^ window.row_key;
  uint r1 = window.column1 ^ LOOK2(changed, 0);
  return uvec4(LOOK1(r1, 1), LOOK0(r1, 0), LOOK3(r1, 3), LOOK2(r1, 2));
}
