/* SPDX-License-Identifier: MIT */
/* One public header and nothing else. */
#include PCAST_HEADER
typedef int pcast_translation_unit_is_not_empty;
