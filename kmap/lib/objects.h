/* SPDX-License-Identifier: GPL-2.0-or-later */
/* objects.h - objects that may still get further parts, and threads; for model.c. */
#pragma once

#include "kmap/lib/model.h"

int kmap_objects_init(struct kmap_model *m);
void kmap_objects_deinit(struct kmap_model *m);
/* The one before it is settled. `fresh`: no part of it came before. */
int kmap_objects_begin(struct kmap_model *m, const struct kmap_object *o, uint64_t site,
		       const char *task, bool *fresh);
void kmap_objects_access(struct kmap_model *m, const struct kmap_access *a);
/* The present one was accessed from the first of these times to the last. */
void kmap_objects_used(struct kmap_model *m, uint64_t last);
int kmap_objects_end(struct kmap_model *m);
/* `time`, or 0 (not known) if no recording can have it. */
uint64_t kmap_objects_free_time(const struct kmap_model *m, uint64_t time);

/* model.c */
bool kmap_is_code(uint64_t ip);
int64_t kmap_code_of(struct kmap_model *m, uint64_t ip);
struct kmap_edge *kmap_edge_of(struct kmap_model *m, uint64_t site, uint64_t code);

/* ---- threads, each under the names it had ---- */

/* The index of that thread under that name, NULL: not recorded; -1: no memory. */
int64_t kmap_processes_get(struct kmap_model *m, int64_t pid, const char *task);
/* From here on it is called so. */
int kmap_processes_name(struct kmap_model *m, int64_t pid, const char *task);
int kmap_processes_access(struct kmap_model *m, const struct kmap_access *a, uint64_t site);
/* What a thread did before it had a name is its own, if it had one name only. */
int kmap_processes_end(struct kmap_model *m);
