// The one file that knows which compiler reads the kernels: nvcc, an OpenCL 1.2 compiler, or a host
// C++ compiler (for the emulator, and for host code that shares a layout). GLSL has
// src/device/gl/shaders/platform.glsl instead. Kernels are written in a subset of C99 plus the
// macros that this file defines.
//
// SPDX-License-Identifier: Apache-2.0
//
// Kernels use CUDA's words. In the other languages they mean:
//
//   here and CUDA          OpenCL              GLSL
//   thread                 work-item           invocation
//   warp                   sub-group           subgroup
//   thread block           work-group          workgroup
//   grid                   NDRange             dispatch
//   thread_id()            get_local_id(0)     gl_LocalInvocationID.x
//   thread_block_id()      get_group_id(0)     gl_WorkGroupID.x
//   shared memory, SHARED  local memory        shared
//   global memory, GLOBAL  global memory       buffer
//   thread_block_barrier() barrier()           barrier()
//   kernel, KERNEL         __kernel            compute shader
//
// A warp has WARP_THREADS threads: 1 on the host, otherwise 32. With OpenCL and GLSL it is only a
// way to divide work: no operation relies on the hardware's subgroups. "Block" alone is a block of
// the cipher (16 bytes), never a thread block. LC_MOST_THREADS, LC_UNROLL and the like are set by
// the host code that compiles OpenCL.
//
// Macros:
//   u8 u16 u32 u64    unsigned integers; device memory is little-endian
//   FN                declares a function that kernels call
//   TABLE             declares a constant array at file scope
//   GLOBAL SHARED     address spaces of pointers
//   KERNEL(name, n)   begins a kernel of at most n threads per thread block; the parameter list
//                     follows. The host launches the kernel by this name.
//   KERNEL_OF(name, n, r)  as KERNEL, with at most r registers per thread, for a kernel that
//                     shares the registers of its multiprocessor with another one
//   SHARED_PARAMETER  the last parameter of a kernel that uses shared memory
//   SHARED_WORDS(p)   declares p as that memory: u32 words, 16-byte aligned
//   thread_id() thread_block_size() thread_block_id() thread_block_count()
//   thread_block_barrier()  waits until all threads of the thread block have arrived; writes to
//                     shared memory before it are visible after it
//   WARP_THREADS      the threads of a warp, which take one tile of work together; 1 where there
//                     are no warps. Divides thread_block_size().
//   WARP_BARRIER()    as thread_block_barrier(), for the threads of a warp, if HAS_WARP_BARRIER
//                     is defined; otherwise nothing
//   WARP_ANY(x)       whether x holds in any thread of the warp; where that is expensive, whether
//                     it holds in this thread. All threads of the warp must call it.
//   IN_OUT_WORDS(p, n)  a parameter of n words that the function reads and writes, in a file that
//                     GLSL also compiles (GLSL has no pointers)
//   UNROLL            before a loop of constant length over an array that must stay in registers
//   ROLLED            before a loop that must not be unrolled, so that its code stays small
//   KEEP_IN_STEP()    before long straight-line code that all threads of a thread block run: a
//                     barrier on GPUs, so that warps run the code at the same time and share its
//                     instructions
//   IDLE_THREADS_MAY_SKIP  1 if a thread that has no block may skip such code. On a CPU, threads
//                     run one after the other, so an idle thread would cost as much as a busy one.
//   LET_NEXT_BEGIN() AWAIT_BEFORE()  programmatic dependent launch, see
//                     device::Launch::overlaps_previous: once all thread blocks of a launch have
//                     called LET_NEXT_BEGIN(), the next launch may begin; AWAIT_BEFORE() in the
//                     next launch waits for the end of the one before
//   HAS_KEY_SLOT KEY_SLOT(name, n)  for a target that reads n words at fixed addresses without a
//                     load (constant memory). The device offers the words as a buffer that is
//                     aligned to a block; accesses are ordered by its stream.
// Operations that a target may override:
//   ROTATE_LEFT(x, n)      rotates 32 bits, 0 < n < 32
//   ROTATE_LEFT_64(x, n)   rotates 64 bits by the constant n, 0 < n < 64
//   BYTE_OF(x, i)          byte i (constant) of x; byte 0 is the least significant
//   ROW_OF(x, i, low)      BYTE_OF(x, i) * 256 + low, low < 256: an address in rows of 256 bytes
//   SWAP_BYTES(x)          the bytes in reverse order
//   JOIN_SHIFTED(x, y, n)  the 32 bits from bit n (below 32) of the 64-bit number y:x, x lowest
//   PICK(x, y, sel)        byte permutation: nibble k of the constant sel names the source of byte
//                          k of the result: 0 to 3 are bytes of x, 4 to 7 are bytes of y
//   LUT3(a, b, c, table)   bitwise function of three bits: bit 4*a + 2*b + c of the constant table
//   PRODUCT_SUM(x, y)      x + y, computed by the multiplier, which is idle during logic operations
//   SPREAD_BIT(x, n)       all ones if bit n (constant) of x is set, otherwise 0
//   JOIN_BYTES(a, b, c, d)  four words below 256 as the bytes of one word, a lowest
//   load_block store_block load_shared_block  16 bytes at a 16-byte aligned address; the last one
//                          reads shared memory
// If LC_BIT_MATRICES is defined, for warps of 32 threads:
//   bit_matrix_256 bit_matrix_128  adds to c the product of two bit matrices, 16 rows by 8 columns
//                     over 256 or 128 bits. The threads hold the parts of the matrices as in
//                     PTX's mma.m16n8k256 and mma.m16n8k128. An element of c counts ones, so its
//                     bit 0 is the sum modulo 2. `scratch` is 256 words of shared memory per warp.
//   byte_matrix_32    the same for bytes, over 32 of them: sums of products of bytes
//   warp_barrier()    as thread_block_barrier(), for the threads of a warp
// If HAS_WARP_SHUFFLE is defined, for warps of 32 threads:
//   warp_shuffle(x, from, scratch)  the word x of thread `from` of the warp. All threads of the
//                     warp call it; each may name another thread. `scratch` is 32 words of shared
//                     memory per warp.
#ifndef LANECRYPT_KERNELS_PLATFORM_H
#define LANECRYPT_KERNELS_PLATFORM_H

#if defined(__OPENCL_VERSION__)

typedef uchar u8;
typedef ushort u16;
typedef uint u32;
typedef ulong u64;
#define FN static inline
#define TABLE __constant
#define GLOBAL __global
#define SHARED __local
// OpenCL compilers distribute registers by the size of the work-group, so it is fixed here.
#define KERNEL(name, threads)                   \
  __kernel __attribute__((reqd_work_group_size( \
      (threads) < LC_MOST_THREADS ? (threads) : LC_MOST_THREADS, 1, 1))) void name
#define KERNEL_OF(name, threads, registers) KERNEL(name, threads)
// An OpenCL local pointer is only as aligned as the type it points to, so the parameter is uint4.
#define SHARED_PARAMETER , __local uint4 *shared_blocks
#define SHARED_WORDS(pointer) __local u32 *pointer = (__local u32 *)shared_blocks
#define WARP_THREADS 32u
#define thread_id() ((u32)get_local_id(0))
#define thread_block_size() ((u32)get_local_size(0))
#define thread_block_id() ((u32)get_group_id(0))
#define thread_block_count() ((u32)get_num_groups(0))
#define thread_block_barrier() barrier(CLK_LOCAL_MEM_FENCE)
#define ROTATE_LEFT(x, n) rotate((u32)(x), (u32)(n))
#define ROTATE_LEFT_64(x, n) rotate((u64)(x), (u64)(n))
#ifdef LC_UNROLL  // set for GPUs: arrays must be kept in registers
#define UNROLL __attribute__((opencl_unroll_hint))
#define ROLLED __attribute__((opencl_unroll_hint(1)))
#define KEEP_IN_STEP() barrier(CLK_LOCAL_MEM_FENCE)
#else
#define UNROLL
#endif

#ifdef __NV_CL_C_VERSION  // NVIDIA's compiler accepts inline PTX
FN u32 byte_permute(u32 x, u32 y, u32 select) {
  u32 result;
  __asm("prmt.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(x), "r"(y), "r"(select));
  return result;
}
FN u32 multiply_add(u32 a, u32 b, u32 c) {
  u32 result;
  __asm("mad.lo.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(c));
  return result;
}
#define ROW_OF(x, i, low) byte_permute((x), (low), 0x5504 | ((i) << 4))
#define SWAP_BYTES(x) byte_permute((x), 0, 0x0123)
#define PICK(x, y, sel) byte_permute((x), (y), (sel))
#define SPREAD_BIT(x, n) byte_permute((x) << (7 - (n) % 8), 0, 0x8888 | ((n) / 8) * 0x1111)
#define JOIN_BYTES(a, b, c, d) \
  multiply_add(multiply_add((d), 256, (c)), 65536, multiply_add((b), 256, (a)))
#define LUT3(a, b, c, table)                              \
  ({                                                      \
    u32 lut3_result;                                      \
    __asm("lop3.b32 %0, %1, %2, %3, " #table ";"          \
          : "=r"(lut3_result)                             \
          : "r"((u32)(a)), "r"((u32)(b)), "r"((u32)(c))); \
    lut3_result;                                          \
  })
#endif

#elif defined(__CUDACC__)

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
#define FN static __device__ __forceinline__
#define TABLE static __device__ const
#define GLOBAL
#define SHARED
#define KERNEL(name, threads) extern "C" __global__ void __launch_bounds__(threads) name
#define KERNEL_OF(name, threads, registers) extern "C" __global__ void __maxnreg__(registers) name
#define SHARED_PARAMETER
#define SHARED_WORDS(pointer)                         \
  extern __shared__ __align__(16) u32 shared_words[]; \
  u32 *pointer = shared_words
#define WARP_THREADS 32u
#define thread_id() (threadIdx.x)
#define thread_block_size() (blockDim.x)
#define thread_block_id() (blockIdx.x)
#define thread_block_count() (gridDim.x)
#define thread_block_barrier() __syncthreads()
#define ROTATE_LEFT(x, n) __funnelshift_l((x), (x), (n))
#define ROTATE_LEFT_64(x, n) rotate_words<(n)>(x)
#define ROW_OF(x, i, low) __byte_perm((x), (low), 0x5504 | ((i) << 4))
#define SWAP_BYTES(x) __byte_perm((x), 0, 0x0123)
#define PICK(x, y, sel) __byte_perm((x), (y), (sel))
#define JOIN_SHIFTED(x, y, n) __funnelshift_r((x), (y), (n))
#define LUT3(a, b, c, table) lut3_gate<table>((a), (b), (c))
// The constant 1, hidden from the compiler so that it keeps the multiplication.
__constant__ u32 product_sum_factor = 1;
#define PRODUCT_SUM(x, y) ((x)*product_sum_factor + (y))
#define UNROLL _Pragma("unroll")
#define ROLLED _Pragma("unroll 1")
#define KEEP_IN_STEP() __syncthreads()
#define WARP_ANY(x) __any_sync(0xffffffffu, (int)(x))
#define HAS_WARP_BARRIER
#define WARP_BARRIER() __syncwarp()
#define HAS_KEY_SLOT
// Kernels that expand keys write to the key slot in 16-byte blocks.
#define KEY_SLOT(name, words)                 \
  extern "C" {                                \
  __constant__ __align__(16) u32 name[words]; \
  }
#define SPREAD_BIT(x, n) spread_sign((x) << (7 - (n) % 8), 0x8888 | ((n) / 8) * 0x1111)
#define JOIN_BYTES(a, b, c, d) \
  multiply_add(multiply_add((d), 256, (c)), 65536, multiply_add((b), 256, (a)))
#if __CUDA_ARCH__ >= 900
#define LET_NEXT_BEGIN() asm volatile("griddepcontrol.launch_dependents;")
#define AWAIT_BEFORE() asm volatile("griddepcontrol.wait;" ::: "memory")
#endif

// Selects bytes of x as the nibbles of `select` name them. If bit 3 of a nibble is set, the
// result's byte is that byte's sign bit, repeated 8 times.
FN u32 spread_sign(u32 x, u32 select) {
  u32 result;
  asm("prmt.b32 %0, %1, %1, %2;" : "=r"(result) : "r"(x), "r"(select));
  return result;
}

// Computes a * b + c on the multipliers, which are idle while the logic units are busy.
FN u32 multiply_add(u32 a, u32 b, u32 c) {
  u32 result;
  asm("mad.lo.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(c));
  return result;
}

template <int kBits>
FN u64 rotate_words(u64 x) {
  const u32 low = (u32)(kBits < 32 ? x : x >> 32), high = (u32)(kBits < 32 ? x >> 32 : x);
  return (u64)__funnelshift_l(low, high, kBits % 32) << 32 | __funnelshift_l(high, low, kBits % 32);
}

template <int kTable>
FN u32 lut3_gate(u32 a, u32 b, u32 c) {
  u32 result;
  asm("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(result) : "r"(a), "r"(b), "r"(c), "n"(kTable));
  return result;
}

// Every architecture has the same kernels. On architectures without the matrix instructions, the
// kernels with bit matrices are empty.
#define LC_BIT_MATRIX_KERNELS 1
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define LC_BIT_MATRICES 1
#define warp_barrier() __syncwarp()
FN void bit_matrix_256(u32 *c, u32 a0, u32 a1, u32 a2, u32 a3, u32 b0, u32 b1, u32 *) {
  asm("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%0, %1, %2, %3}, "
      "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}
FN void byte_matrix_32(u32 *c, u32 a0, u32 a1, u32 a2, u32 a3, u32 b0, u32 b1, u32 *) {
  asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, "
      "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}
FN void bit_matrix_128(u32 *c, u32 a0, u32 a1, u32 b0, u32 *) {
  asm("mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.and.popc {%0, %1, %2, %3}, "
      "{%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
      : "r"(a0), "r"(a1), "r"(b0));
}
#endif

#define HAS_WARP_SHUFFLE
FN u32 warp_shuffle(u32 word, u32 from, u32 *) { return __shfl_sync(0xffffffffu, word, from); }

#else  // a host C++ compiler

#include <cstdint>

#include "host_thread.h"

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
#define FN static inline
#define TABLE static const
#define GLOBAL
#define SHARED
#ifdef LC_LIST_KERNELS  // cmake/list_kernels.py reads this
#define KERNEL(name, threads) LC_KERNEL name
#else
#define KERNEL(name, threads) void name
#endif
#define KERNEL_OF(name, threads, registers) KERNEL(name, threads)
#define SHARED_PARAMETER , u32 *shared_words
#define SHARED_WORDS(pointer) u32 *pointer = shared_words
#define WARP_THREADS 1u
#define HAS_WARP_BARRIER
#define ROTATE_LEFT(x, n) (((x) << (n)) | ((x) >> (32 - (n))))
#define UNROLL

#define thread_id() (lanecrypt::device::host_thread.thread)
#define thread_block_size() (lanecrypt::device::host_thread.threads)
#define thread_block_id() (lanecrypt::device::host_thread.thread_block)
#define thread_block_count() (lanecrypt::device::host_thread.thread_blocks)
#define thread_block_barrier()                                                                   \
  (lanecrypt::device::host_thread.barrier                                                        \
       ? lanecrypt::device::host_thread.barrier(lanecrypt::device::host_thread.barrier_argument) \
       : (void)0)

// On the host, a thread block of 32 threads is one warp.
#define LC_BIT_MATRIX_KERNELS 1
#define LC_BIT_MATRICES 1
#define warp_barrier() thread_block_barrier()
// Multiplies matrices as the mma instructions do: gathers the parts that the threads hold in
// `scratch` and calls `multiply` for every pair of a word of a row and a word of a column.
template <typename Multiply>
static inline void multiply_matrices(u32 *c, const u32 (&mine)[6], u32 *scratch,
                                     Multiply multiply) {
  for (u32 i = 0; i < 6; ++i) scratch[8 * thread_id() + i] = mine[i];
  thread_block_barrier();
  for (u32 i = 0; i < 4; ++i) {
    const u32 row = thread_id() / 4, column = 2 * (thread_id() % 4) + i % 2;
    for (u32 k = 0; k < 4; ++k) {
      const u32 *a = scratch + 8 * (4 * row + k) + i / 2, *b = scratch + 8 * (4 * column + k) + 4;
      c[i] += multiply(a[0], b[0]) + multiply(a[2], b[1]);
    }
  }
  thread_block_barrier();
}
static inline void bit_matrix_256(u32 *c, u32 a0, u32 a1, u32 a2, u32 a3, u32 b0, u32 b1,
                                  u32 *scratch) {
  multiply_matrices(c, {a0, a1, a2, a3, b0, b1}, scratch,
                    [](u32 a, u32 b) { return u32(__builtin_popcount(a & b)); });
}
static inline void byte_matrix_32(u32 *c, u32 a0, u32 a1, u32 a2, u32 a3, u32 b0, u32 b1,
                                  u32 *scratch) {
  multiply_matrices(c, {a0, a1, a2, a3, b0, b1}, scratch, [](u32 a, u32 b) {
    u32 sum = 0;
    for (u32 n = 0; n < 32; n += 8) sum += (a >> n & 0xff) * (b >> n & 0xff);
    return sum;
  });
}
static inline void bit_matrix_128(u32 *c, u32 a0, u32 a1, u32 b0, u32 *scratch) {
  bit_matrix_256(c, a0, a1, 0, 0, b0, 0, scratch);
}
#define HAS_WARP_SHUFFLE
static inline u32 warp_shuffle(u32 word, u32 from, u32 *scratch) {
  scratch[thread_id()] = word;
  thread_block_barrier();
  const u32 theirs = scratch[from];
  thread_block_barrier();
  return theirs;
}

#endif

#define IN_OUT_WORDS(pointer, count) u32 *pointer

// Portable versions for targets that do not define their own.
#ifndef ROTATE_LEFT_64
#define ROTATE_LEFT_64(x, n) (((x) << (n)) | ((x) >> (64 - (n))))
#endif
#define BYTE_OF(x, i) (((x) >> (8 * (i))) & 0xffu)
#ifndef ROW_OF
#define ROW_OF(x, i, low) ((BYTE_OF((x), (i)) << 8) | (low))
#endif
#ifndef SWAP_BYTES
#define SWAP_BYTES(x) ((ROTATE_LEFT((x), 8) & 0x00ff00ffu) | (ROTATE_LEFT((x), 24) & 0xff00ff00u))
#endif
#ifndef JOIN_SHIFTED
#define JOIN_SHIFTED(x, y, n) ((u32)(((u64)(y) << 32 | (x)) >> (n)))
#endif
#ifndef PICK
#define PICK_BYTE(x, y, n) (((n)&4 ? (y) >> (8 * ((n)&3)) : (x) >> (8 * ((n)&3))) & 0xffu)
#define PICK(x, y, sel)                                                        \
  (PICK_BYTE((x), (y), (sel)&7) | PICK_BYTE((x), (y), ((sel) >> 4) & 7) << 8 | \
   PICK_BYTE((x), (y), ((sel) >> 8) & 7) << 16 | PICK_BYTE((x), (y), ((sel) >> 12) & 7) << 24)
#endif
#ifndef ROLLED
#define ROLLED
#endif
#ifndef WARP_ANY
#define WARP_ANY(x) (x)
#endif
#ifndef WARP_BARRIER
#define WARP_BARRIER()
#endif
#ifdef KEEP_IN_STEP
#define IDLE_THREADS_MAY_SKIP 0
#else
#define KEEP_IN_STEP()
#define IDLE_THREADS_MAY_SKIP 1
#endif
#ifndef LET_NEXT_BEGIN
#define LET_NEXT_BEGIN()
#define AWAIT_BEFORE()
#endif
#ifndef SPREAD_BIT
#define SPREAD_BIT(x, n) (0u - (((x) >> (n)) & 1u))
#endif
#ifndef PRODUCT_SUM
#define PRODUCT_SUM(x, y) ((x) + (y))
#endif
#ifndef JOIN_BYTES
#define JOIN_BYTES(a, b, c, d) ((a) | (b) << 8 | (c) << 16 | (d) << 24)
#endif
#ifndef LUT3
// Algebraic normal form of the table: the compiler drops the terms that the constant table does not
// contain.
#define LUT3_TERM(bits, term) ((bits)&1 ? (term) : 0u)
#define LUT3_BIT(t, i) (((t) >> (i)) & 1)
#define LUT3(a, b, c, t)                                                                          \
  (LUT3_TERM(LUT3_BIT(t, 0), 0xffffffffu) ^ LUT3_TERM(LUT3_BIT(t, 0) ^ LUT3_BIT(t, 1), (c)) ^     \
   LUT3_TERM(LUT3_BIT(t, 0) ^ LUT3_BIT(t, 2), (b)) ^                                              \
   LUT3_TERM(LUT3_BIT(t, 0) ^ LUT3_BIT(t, 4), (a)) ^                                              \
   LUT3_TERM(LUT3_BIT(t, 0) ^ LUT3_BIT(t, 1) ^ LUT3_BIT(t, 2) ^ LUT3_BIT(t, 3), (b) & (c)) ^      \
   LUT3_TERM(LUT3_BIT(t, 0) ^ LUT3_BIT(t, 1) ^ LUT3_BIT(t, 4) ^ LUT3_BIT(t, 5), (a) & (c)) ^      \
   LUT3_TERM(LUT3_BIT(t, 0) ^ LUT3_BIT(t, 2) ^ LUT3_BIT(t, 4) ^ LUT3_BIT(t, 6), (a) & (b)) ^      \
   LUT3_TERM(LUT3_BIT(t, 0) ^ LUT3_BIT(t, 1) ^ LUT3_BIT(t, 2) ^ LUT3_BIT(t, 3) ^ LUT3_BIT(t, 4) ^ \
                 LUT3_BIT(t, 5) ^ LUT3_BIT(t, 6) ^ LUT3_BIT(t, 7),                                \
             (a) & (b) & (c)))
#endif

// A 16-byte block as four little-endian words.
typedef struct Block {
  u32 w[4];
} Block;

#if defined(__OPENCL_VERSION__)
FN Block load_block(GLOBAL const u8 *from) {
  uint4 v = *(GLOBAL const uint4 *)from;
  Block b = {{v.x, v.y, v.z, v.w}};
  return b;
}
FN void store_block(GLOBAL u8 *to, Block b) {
  *(GLOBAL uint4 *)to = (uint4)(b.w[0], b.w[1], b.w[2], b.w[3]);
}
FN Block load_shared_block(SHARED const u32 *from) {
  uint4 v = *(SHARED const uint4 *)from;
  Block b = {{v.x, v.y, v.z, v.w}};
  return b;
}
#elif defined(__CUDACC__)
FN Block load_block(const u8 *from) {
  uint4 v = *(const uint4 *)from;
  Block b = {{v.x, v.y, v.z, v.w}};
  return b;
}
FN void store_block(u8 *to, Block b) { *(uint4 *)to = make_uint4(b.w[0], b.w[1], b.w[2], b.w[3]); }
FN Block load_shared_block(const u32 *from) { return load_block((const u8 *)from); }
#else
FN Block load_block(const u8 *from) {
  Block b;
  __builtin_memcpy(&b, from, 16);
  return b;
}
FN void store_block(u8 *to, Block b) { __builtin_memcpy(to, &b, 16); }
FN Block load_shared_block(const u32 *from) { return load_block((const u8 *)from); }
#endif

#endif
