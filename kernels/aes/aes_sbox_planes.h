// The AES S-box (FIPS 197, 5.1.1) as 67 three-input gates, for bitsliced code. GLSL compiles this
// file too; there, the tables of the gates must be compile-time constants.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/platform.h"

// SubBytes (FIPS 197, 5.1.1) without its constant. x[0] to x[7] are the bit planes of the input
// bytes, most significant first; the function replaces them by the planes of S(x) XOR 0x63.
FN void aes_sbox_planes(IN_OUT_WORDS(x, 8)) {
  u32 n0 = LUT3(x[3], x[5], x[2], 0x3c);
  u32 n1 = LUT3(n0, x[6], x[0], 0x96);
  u32 n2 = LUT3(n0, x[7], n1, 0x5a);
  u32 n3 = LUT3(x[3], x[4], n2, 0x69);
  u32 n4 = LUT3(x[2], n1, x[6], 0x96);
  u32 n5 = LUT3(n4, x[1], n3, 0xa5);
  u32 n6 = LUT3(n2, x[0], n5, 0xc6);
  u32 n7 = LUT3(x[7], n3, n5, 0xc3);
  u32 n8 = LUT3(n5, x[2], x[1], 0x69);
  u32 n9 = LUT3(n4, n8, n7, 0x69);
  u32 n10 = LUT3(n9, n6, x[6], 0x36);
  u32 n11 = LUT3(x[0], n0, x[3], 0x96);
  u32 n12 = LUT3(n9, n11, x[6], 0x69);
  u32 n13 = LUT3(n9, x[0], n8, 0x3c);
  u32 n14 = LUT3(n1, x[1], x[4], 0x96);
  u32 n15 = LUT3(n14, n13, n8, 0x05);
  u32 n16 = LUT3(n0, n15, n4, 0x6c);
  u32 n17 = LUT3(n7, n16, n12, 0x9c);
  u32 n18 = LUT3(n4, x[7], n8, 0x5a);
  u32 n19 = LUT3(n11, n18, n15, 0x65);
  u32 n20 = LUT3(n3, n1, n19, 0x0c);
  u32 n21 = LUT3(n14, n20, n17, 0x96);
  u32 n22 = LUT3(x[3], n9, x[7], 0x28);
  u32 n23 = LUT3(n11, n18, n22, 0x59);
  u32 n24 = LUT3(n23, n15, n20, 0x96);
  u32 n25 = LUT3(x[0], n13, n5, 0x84);
  u32 n26 = LUT3(n6, n25, n19, 0x96);
  u32 n27 = LUT3(n10, n24, n16, 0x5a);
  u32 n28 = LUT3(n27, n26, n24, 0x4c);
  u32 n29 = LUT3(n28, n24, n21, 0x31);
  u32 n30 = LUT3(n27, n29, n21, 0xc6);
  u32 n31 = LUT3(n28, n27, n21, 0xb4);
  u32 n32 = LUT3(n31, n24, n26, 0x5e);
  u32 n33 = LUT3(n21, n32, n30, 0xe1);
  u32 n34 = LUT3(n26, n32, n27, 0x6b);
  u32 n35 = LUT3(n34, n33, n10, 0x3c);
  u32 n36 = LUT3(n30, n5, n33, 0x84);
  u32 n37 = LUT3(n36, n30, n9, 0xd2);
  u32 n38 = LUT3(n30, n0, n31, 0xa5);
  u32 n39 = LUT3(n38, n35, n23, 0xc3);
  u32 n40 = LUT3(n39, n4, n37, 0x6a);
  u32 n41 = LUT3(n8, n40, n35, 0xc6);
  u32 n42 = LUT3(n1, n31, n34, 0x90);
  u32 n43 = LUT3(n35, x[3], x[0], 0x60);
  u32 n44 = LUT3(n39, n43, n0, 0x6c);
  u32 n45 = LUT3(n31, n44, n12, 0xc9);
  u32 n46 = LUT3(n45, n42, n41, 0x96);
  u32 n47 = LUT3(n31, n3, n34, 0x21);
  u32 n48 = LUT3(n31, n7, n47, 0x59);
  u32 n49 = LUT3(n46, n48, n37, 0x69);
  u32 n50 = LUT3(n11, n43, n38, 0x9c);
  u32 n51 = LUT3(n2, n33, n30, 0x90);
  u32 n52 = LUT3(n18, n51, n38, 0xc9);
  u32 n53 = LUT3(n47, x[7], n34, 0x78);
  u32 n54 = LUT3(n53, n40, n52, 0x96);
  u32 n55 = LUT3(n13, n33, n54, 0x6a);
  u32 n56 = LUT3(n55, n50, n41, 0x96);
  u32 n57 = LUT3(n49, n47, n41, 0x5a);
  u32 n58 = LUT3(n8, x[7], n33, 0x82);
  u32 n59 = LUT3(n53, n58, n36, 0x69);
  u32 n60 = LUT3(n57, n59, n1, 0xc3);
  u32 n61 = LUT3(n1, n34, n12, 0x84);
  u32 n62 = LUT3(n61, n55, n45, 0x96);
  u32 n63 = LUT3(n30, n12, n11, 0x09);
  u32 n64 = LUT3(n59, n44, n63, 0x69);
  u32 n65 = LUT3(n54, n64, x[2], 0x3c);
  u32 n66 = LUT3(n51, n47, n64, 0x5a);
  x[0] = n46;
  x[1] = n49;
  x[2] = n56;
  x[3] = n57;
  x[4] = n60;
  x[5] = n62;
  x[6] = n65;
  x[7] = n66;
}

// InvSubBytes (FIPS 197, 5.3.2): replaces the planes of y by those of the inverse S-box of y. Since
// S(x) XOR 0x63 is A(1/x) with A linear, the inverse S-box is A' S' A', where S' is the gates above
// and A' the inverse of A; the first A' includes the constant 0x05.
FN void aes_inverse_sbox_planes(IN_OUT_WORDS(x, 8)) {
  u32 t[8];
  t[0] = LUT3(x[6], x[3], x[1], 0x96);
  t[1] = LUT3(x[7], x[4], x[2], 0x96);
  t[2] = LUT3(x[0], x[5], x[3], 0x96);
  t[3] = LUT3(x[1], x[6], x[4], 0x96);
  t[4] = LUT3(x[2], x[7], x[5], 0x96);
  t[5] = LUT3(x[3], x[0], x[6], 0x69);
  t[6] = LUT3(x[4], x[1], x[7], 0x96);
  t[7] = LUT3(x[5], x[2], x[0], 0x69);
  aes_sbox_planes(t);
  x[0] = LUT3(t[6], t[3], t[1], 0x96);
  x[1] = LUT3(t[7], t[4], t[2], 0x96);
  x[2] = LUT3(t[0], t[5], t[3], 0x96);
  x[3] = LUT3(t[1], t[6], t[4], 0x96);
  x[4] = LUT3(t[2], t[7], t[5], 0x96);
  x[5] = LUT3(t[3], t[0], t[6], 0x96);
  x[6] = LUT3(t[4], t[1], t[7], 0x96);
  x[7] = LUT3(t[5], t[2], t[0], 0x96);
}
