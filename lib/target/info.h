/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * info.h - records of tasks, files and the host: the lines of a capture that do not
 * describe the memory of a task. Shared by the providers.
 */
#pragma once

#include "linux/page.h"

#include "format/elfsec.h"
#include "linux/task_info.h"
#include "source/extents.h"

/* Receiver of the records; the first failure of a callback ends the listing. */
struct about_to {
	int (*tell)(void *arg, const struct capture_record *rec, struct atw_err *err);
	void *arg;
	/* Reports a task that this listing leaves out. NULL: not wanted. */
	int (*passed)(void *arg, uint32_t pid, struct atw_err *err);
};

static inline int about_passed(const struct about_to *to, uint32_t pid, struct atw_err *err)
{
	return to->passed ? to->passed(to->arg, pid, err) : ATW_OK;
}
/* An H: line. */
int about_say(const struct about_to *to, struct atw_err *err, const char *key,
	      const char *fmt, ...) ATW_PRINTF(4, 5);
/* Of a task nothing but this is known. */
void about_nothing(struct task_about *a, uint32_t pid, const char *name, uint64_t mm);
/* The T: line of a task. */
int about_tell(const struct about_to *to, const struct task_about *a, struct atw_err *err);
/* Where physical memory belongs to. */
struct about_place {
	bool has_node;
	uint32_t node;
	const char *zone;        /* NULL: not known */
};
/*
 * R: lines, cut where another NUMA node or zone begins. `place`: of memory at `pa`, and
 * in *last up to where, which begins as the end of the range.
 */
int about_ram(const struct about_to *to, const struct extents *x,
	      void (*place)(void *arg, uint64_t pa, struct about_place *ret, uint64_t *last),
	      void *arg, struct atw_err *err);
/*
 * The zone of a place with the node that is known, as zone_spans_find().
 */
struct zone_spans;
void about_zone(const struct zone_spans *z, unsigned page_shift, uint64_t pa,
		struct about_place *ret, uint64_t *last);
/* An H: line: CPUs first..last are of this NUMA node. */
int about_cpus(const struct about_to *to, uint32_t node, uint64_t first, uint64_t last,
	       struct atw_err *err);
/* An H: line of a slab cache. */
int about_slab(const struct about_to *to, struct atw_blob name, const struct capture_slab *s,
	       struct atw_err *err);
/* S: lines. `swap`: the device of a type; less than ATW_OK: there is none. */
int about_swap(const struct about_to *to, int (*swap)(void *arg, unsigned type,
	       struct atw_swap *ret), void *arg, struct atw_err *err);

/* ---- about_host.c: the machine this runs on ---- */

int about_host(const struct about_to *to, struct atw_err *err);
int about_host_slabs(const struct about_to *to, struct atw_err *err);

/* ---- about_proc.c: as /proc has it ---- */

/*
 * Pure: the text of /proc/PID/stat. What it shows only to those that may trace the
 * process is not known if it is not shown. ATW_E_FORMAT: not such a line.
 */
int about_stat(struct atw_blob text, struct task_about *ret);
/* The same of process or thread `pid`; ATW_E_MISSING: it has ended. */
int about_stat_of(uint32_t pid, struct task_about *ret, struct atw_err *err);
/* Of thread `tid` of a process, what is its own. ATW_E_MISSING: it has ended. */
int about_thread(uint32_t pid, uint32_t tid, struct task_about *ret, struct atw_err *err);
/* Pure: parse /proc/PID/cgroup; the result is the memory cgroup of the process. */
bool about_cgroup(struct atw_blob text, char *buf, size_t len);
/*
 * `thread`: as proc_stat() has it; `heap`: where its heap ends; 0: it has none yet.
 * ATW_E_MISSING: it has ended.
 */
int about_proc(uint32_t pid, uint32_t thread, uint64_t heap, struct task_about *ret,
	       struct atw_err *err);
/*
 * The beginning of the file that an area of a process maps. ATW_E_MISSING: it cannot
 * be read; ATW_E_FORMAT: it is no program.
 */
int about_proc_file(uint32_t pid, const struct atw_area *a, struct elfunit *ret);

/* ---- about_kernel.c: as the kernel's structures have it ---- */

int about_kernel(struct atw_kernel *k, const struct about_to *to, struct atw_err *err);
int about_kernel_slabs(struct atw_kernel *k, const struct about_to *to, struct atw_err *err);
struct others_opts {
	bool threads;            /* of processes, too */
	uint64_t mm;             /* those of this address space alone; 0: all */
};
/* T: lines of tasks without memory of their own. */
int about_others(struct atw_kernel *k, const struct others_opts *o, const struct about_to *to,
		 struct atw_err *err);
/* What memory is read by: "kcore" or "bpf"; of a dump its format. */
const char *about_way(struct atw_source *s);
/* The same of the page that the area begins with, where it is the file's first. */
int about_memory(const struct mmu_space *sp, const struct atw_area *a, struct elfunit *ret);
