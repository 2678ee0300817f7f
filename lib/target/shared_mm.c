/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shared_mm.c - detection of shared address spaces. kcmp(2) reports whether two processes
 * share one and, if not, their order. Processes that share memory have the same stack and
 * code addresses: only those with equal ones are compared.
 */

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/sorted.h"
#include "target/info.h"
#include "target/procfs.h"

enum { KCMP_VM = 1 };            /* linux/kcmp.h */
enum shared_mm_order { SAME, BEFORE, BEHIND };

struct one {
	uint64_t stack, code;        /* 0: not known */
	uint32_t thread;             /* that is to be compared, as proc_stat() has it */
	size_t i;
};

static int shared_mm_by_place(const void *a, const void *b)
{
	const struct one *x = a, *y = b;

	return ORDER(x->stack, y->stack) ?: ORDER(x->code, y->code) ?: ORDER(x->i, y->i);
}

static void shared_mm_look(uint32_t pid, struct task_about *about, struct one *ret)
{
	struct proc_stat st;

	ret->thread = pid;
	if (about_stat_of(pid, about, NULL) < 0)
		return;
	/* Of several threads the main one may have ended. */
	if (!(about->has & CAPTURE_T_STACK) && about->t.threads > 1 &&
	    proc_stat(pid, &st, NULL) == ATW_OK && st.headless && !st.kernel &&
	    about_stat_of(st.thread, about, NULL) == ATW_OK)
		ret->thread = st.thread;
	if (!(about->has & CAPTURE_T_STACK))
		return;
	ret->stack = about->t.stack;
	ret->code = about->t.code.a;
}

/*
 * `found`: those of one place that differ, in kcmp's order. Where does one belong?
 * Less than 0: it cannot be compared.
 */
static long shared_mm_place(const struct one *const *found, size_t n,
			    const struct one *one, bool *same)
{
	size_t low = 0, high = n;

	*same = false;
	while (low < high) {
		size_t mid = (low + high) / 2;
		long order = syscall(SYS_kcmp, one->thread, found[mid]->thread, KCMP_VM, 0, 0);

		if (order < 0 || order > BEHIND)
			return -1;
		if (order == SAME) {
			*same = true;
			return (long)mid;
		}
		if (order == BEFORE)
			high = mid;
		else
			low = mid + 1;
	}
	return (long)low;
}

static void shared_mm_group(const struct one *v, size_t n, const struct one **found,
			    size_t *ret)
{
	size_t have = 0;

	for (size_t i = 0; i < n; i++) {
		bool same;
		long at = shared_mm_place(found, have, &v[i], &same);

		if (at < 0)
			continue;
		if (same) {
			ret[v[i].i] = found[at]->i;
			continue;
		}
		memmove(found + at + 1, found + at, (have - (size_t)at) * sizeof(*found));
		found[at] = &v[i];
		have++;
	}
}

int share_find(const uint32_t *pid, size_t n, size_t *ret, struct atw_err *err)
{
	_auto_free struct task_about *about = malloc(sizeof(*about));
	_auto_free struct one *v = calloc(n + 1, sizeof(*v));
	_auto_free const struct one **found = calloc(n + 1, sizeof(*found));
	size_t end;

	if (!about || !v || !found)
		return atw_err_nomem(err);
	for (size_t i = 0; i < n; i++) {
		ret[i] = v[i].i = i;
		shared_mm_look(pid[i], about, &v[i]);
	}
	qsort(v, n, sizeof(*v), shared_mm_by_place);
	for (size_t i = 0; i < n; i = end) {
		for (end = i + 1; end < n && v[end].stack == v[i].stack &&
		     v[end].code == v[i].code; end++)
			;
		if (v[i].stack && end > i + 1)
			shared_mm_group(v + i, end - i, found, ret);
	}
	return ATW_OK;
}
