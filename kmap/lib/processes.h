/* SPDX-License-Identifier: GPL-2.0-or-later */
/* processes.h - threads of a model, each under the names it had; for model.c alone. */
#ifndef KMAP_PROCESSES_H
#define KMAP_PROCESSES_H

#include "kmap/lib/model.h"

/* The index of that thread under that name, NULL: not recorded; -1: no memory. */
int64_t kmap_processes_get(struct kmap_model *m, int64_t pid, const char *task);
/* From here on it is called so. */
int kmap_processes_name(struct kmap_model *m, int64_t pid, const char *task);
int kmap_processes_access(struct kmap_model *m, const struct kmap_access *a, uint64_t site);
/* What a thread did before it had a name is its own, if it had one name only. */
int kmap_processes_end(struct kmap_model *m);

#endif
