// What kernels on long numbers need of a platform beyond platform.h: subgroups of threads that
// share a number, and FP64. Only this file and platform.h depend on the compiler that reads them.
//
// SPDX-License-Identifier: Apache-2.0
//
// Names:
//   s64 f64           a signed integer; a double, only if FP64 is used
//   LARGE_FN          an FN that is too long to be inlined into each of its callers, unless
//                     they must share registers
//   KERNEL_RESIDENT(name, n, thread_blocks)  KERNEL of which `thread_blocks` thread blocks are to
//                     be resident on a multiprocessor and share its registers
//   UNROLL_TWICE UNROLL_FOUR_TIMES  before a loop of which several iterations are to
//                     run concurrently
//   ONE_BODY          before a loop whose body is too long to be duplicated
//   FAST_FP64         defined if multiplying in FP64 pays
// Subgroups: `threads` threads, a power of two, neighbours in one warp, which run the same
// instructions. SINGLE_THREAD_SUBGROUPS is defined if a subgroup always has one thread.
//   SUBGROUP_READ(x, thread, threads)  the u64 x of that thread of the subgroup
//   SUBGROUP_NEXT(x, threads)        x of the next thread; any value in the last thread
//   SUBGROUP_PREVIOUS(x, threads)    x of the previous thread; any value in the first
//   SUBGROUP_SPACE        address space of pointers to a subgroup's memory
//   SUBGROUP_MEMORY(p, n, threads)  declares p as u64 words of this thread's subgroup, n for
//                     each thread, word k at p[k * SUBGROUP_STRIDE(thread_block_size, threads)]
// Only if subgroups may have several threads:
//   WARP_MEMORY(p, n) declares p as n contiguous u64 words of this warp, n even
//   WARP_BALLOT(x)    bit k: whether x holds in thread k of the warp
// Functions:
//   LOAD_ONCE(pointer)     loads from GLOBAL memory what is not needed again soon
//   SHIFT_SIGNED(x, n)     the u64 x as a signed number divided by 2^n, rounded down
//   F64_BITS F64_FROM_BITS a double as the u64 of its bits, and back
//   F64_UPPER(a, b)        2^104 + 2^52 (a b / 2^52, rounded down), for whole
//                          numbers a, b below 2^52
//   F64_LOWER(a, b, upper) 2^52 + a b + 2^104 - upper
#ifndef LANECRYPT_KERNELS_SUBGROUP_H
#define LANECRYPT_KERNELS_SUBGROUP_H

#include "kernels/platform.h"

#if defined(__OPENCL_VERSION__)

typedef long s64;
// Inlined into one body, the code keeps NVIDIA's compiler busy for minutes and then crashes it.
#define LARGE_FN static __attribute__((noinline))
#define KERNEL_RESIDENT(name, threads, thread_blocks) KERNEL(name, threads)
#define UNROLL_TWICE
#define UNROLL_FOUR_TIMES
#define ONE_BODY __attribute__((opencl_unroll_hint(1)))
#define SINGLE_THREAD_SUBGROUPS

#elif defined(__CUDACC__)

typedef long long s64;
typedef double f64;
// GPUs whose FP64 rate is half that of FP32, not a 32nd or a 64th.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000
#define FAST_FP64
#endif
#define LARGE_FN FN
#define KERNEL_RESIDENT(name, threads, thread_blocks) \
  extern "C" __global__ void __launch_bounds__(threads, thread_blocks) name
#define UNROLL_TWICE _Pragma("unroll 2")
#define UNROLL_FOUR_TIMES _Pragma("unroll 4")
#define ONE_BODY _Pragma("unroll 1")
#define SUBGROUP_READ(x, thread, threads) \
  __shfl_sync(0xffffffffu, (x), (int)(thread), (int)(threads))
#define SUBGROUP_NEXT(x, threads) __shfl_down_sync(0xffffffffu, (x), 1, (int)(threads))
#define SUBGROUP_PREVIOUS(x, threads) __shfl_up_sync(0xffffffffu, (x), 1, (int)(threads))
#define SUBGROUP_SPACE
#define SUBGROUP_MEMORY(p, n, threads)                  \
  extern __shared__ __align__(16) u64 subgroup_words[]; \
  u64 *p = subgroup_words + threadIdx.x / (threads)
#define SUBGROUP_STRIDE(thread_block, threads) ((thread_block) / (threads))
#define WARP_MEMORY(p, n)                               \
  extern __shared__ __align__(16) u64 subgroup_words[]; \
  u64 *const p = subgroup_words + threadIdx.x / 32 * (n)
#define WARP_BALLOT(x) __ballot_sync(0xffffffffu, (int)(x))
#define LOAD_ONCE(pointer) __ldcg(pointer)
#define F64_BITS(x) ((u64)__double_as_longlong(x))
#define F64_FROM_BITS(x) __longlong_as_double((long long)(x))
#define F64_UPPER(a, b) __fma_rz((a), (b), 0x1p104)
#define F64_LOWER(a, b, upper) __fma_rz((a), (b), __dsub_rn(0x1p104 + 0x1p52, (upper)))

#else  // a host C++ compiler

typedef int64_t s64;
typedef double f64;
#define FAST_FP64
#define LARGE_FN static __attribute__((noinline))
#define KERNEL_RESIDENT(name, threads, thread_blocks) KERNEL(name, threads)
#define UNROLL_TWICE
#define UNROLL_FOUR_TIMES
#define ONE_BODY
#define SINGLE_THREAD_SUBGROUPS

FN u64 F64_BITS(f64 x) {
  u64 bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  return bits;
}
FN f64 F64_FROM_BITS(u64 bits) {
  f64 x;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}
// Computed in integers, so that the emulator needs no rounding mode.
FN f64 F64_UPPER(f64 a, f64 b) {
  const unsigned __int128 product = (unsigned __int128)(u64)a * (u64)b;
  return F64_FROM_BITS(0x4670000000000000ull + (u64)(product >> 52));
}
FN f64 F64_LOWER(f64 a, f64 b, f64 upper) {
  const u64 rest = (u64)a * (u64)b - (F64_BITS(upper) << 52);
  return F64_FROM_BITS(0x4330000000000000ull + rest);
}

#endif

#ifdef SINGLE_THREAD_SUBGROUPS
#define SUBGROUP_READ(x, thread, threads) (x)
#define SUBGROUP_NEXT(x, threads) (x)
#define SUBGROUP_PREVIOUS(x, threads) (x)
#define SUBGROUP_SPACE
#define SUBGROUP_MEMORY(p, n, threads) u64 p[n]
#define SUBGROUP_STRIDE(thread_block, threads) 1u
#define LOAD_ONCE(pointer) (*(pointer))
#endif
#define SHIFT_SIGNED(x, n) ((u64)((s64)(x) >> (n)))

#endif
