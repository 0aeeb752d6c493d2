/* SPDX-License-Identifier: MIT */
/* Marks of what a GPU's compiler compiles a second time, with the same operations in the same
 * order: nvcc with --fmad=false, so that a * b + c is two roundings there too. PCAST_INLINE is a
 * function of a header, PCAST_FUNCTION one of the library's whose source the device code includes,
 * PCAST_TABLE and PCAST_TABLE_OF_LIBRARY are numbers of either. */
#ifndef PCAST_BASE_DEVICE_H
#define PCAST_BASE_DEVICE_H

#if defined(__CUDACC__)
#define PCAST_INLINE           static __device__ __forceinline__
#define PCAST_FUNCTION         static __device__ __forceinline__
#define PCAST_TABLE            static __device__ const
#define PCAST_TABLE_OF_LIBRARY static __device__ const
#else
#define PCAST_INLINE static inline
#define PCAST_FUNCTION
#define PCAST_TABLE            static const
#define PCAST_TABLE_OF_LIBRARY const
#endif

#endif
