/* SPDX-License-Identifier: GPL-2.0-or-later */
/* references_backends.h - the recorders that references.c lists. */
#pragma once

#include "host/references.h"

extern const struct references_backend references_pmu, references_qemu, references_watch,
	references_step;
