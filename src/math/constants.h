/* SPDX-License-Identifier: MIT */
/* Between nats and powers of two. */
#ifndef PCAST_MATH_CONSTANTS_H
#define PCAST_MATH_CONSTANTS_H

#define PCAST_LOG2_E     0x1.71547652b82fep+0
#define PCAST_LN2        0x1.62e42fefa39efp-1
#define PCAST_LOG2_E_F32 0x1.715476p+0f /* RN32(log2 e) */
#define PCAST_LN2_F32    0x1.62e430p-1f /* RN32(ln 2) */

#endif
