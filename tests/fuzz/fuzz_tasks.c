/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The list of tasks of a made-up kernel. The input is a list of tasks to lay
 * out, 6 bytes each, linked as it says; then changes at single words:
 *
 *	count  then for each: pid, tgid  2 bytes, state, flags  1 byte
 *	at  value	2 bytes each: at 8 * at a pointer to 8 * value
 *
 * Task 0 is init_task. A task with pid equal to tgid is a leader, the others are
 * threads of the last leader.
 */
#include "linux/process.h"

#include "linux/tasks.h"
#include "fuzz.h"
#include "kernel_memory.h"

enum { MOST = 64, SIGNALS = 0x4000 };

static uint64_t task(unsigned i) { return i * (uint64_t)T_SIZE; }

static void link_last(struct kmemory *k, uint64_t head, uint64_t link)
{
	uint64_t last;

	memcpy(&last, k->bytes + head + 8, 8);
	last -= KBASE;
	kpoint(k, link, head);
	kpoint(k, link + 8, last);
	kpoint(k, last, link);
	kpoint(k, head + 8, link);
}

static void head(struct kmemory *k, uint64_t at)
{
	kpoint(k, at, at);
	kpoint(k, at + 8, at);
}

static void lay_out(struct kmemory *k, struct input *in)
{
	unsigned n = (unsigned)take(in, 1) % MOST;
	uint64_t sig = SIGNALS;

	head(k, T_TASKS);
	for (unsigned i = 1; i <= n; i++) {
		uint64_t pid = take(in, 2), tgid = take(in, 2);
		uint64_t at = task(i);

		kput(k, at + T_PID, pid, 4);
		kput(k, at + T_TGID, tgid, 4);
		kput(k, at + T_STATE, take(in, 1) * 0x81, 4);
		kput(k, at + T_FLAGS, take(in, 1) << 16, 4);
		if (pid == tgid || sig == SIGNALS) {
			sig = SIGNALS + i * 64u;
			head(k, sig + SIG_HEAD);
			link_last(k, T_TASKS, at + T_TASKS);
		}
		kpoint(k, at + T_SIGNAL, sig);
		link_last(k, sig + SIG_HEAD, at + T_NODE);
	}
	while (in->len) {
		uint64_t at = take(in, 2), value = take(in, 2);

		kpoint(k, at * 8 % KSIZE, value * 8 % (KSIZE + 4096));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct input in = { data, len };
	struct kmemory *k = kmemory_new();
	struct atw_err err = { 0 };
	struct lnx_tasks *tasks;
	struct lnx_task t;
	unsigned n = 0, errors = 0;
	int r;

	ktask_layout(k);
	lay_out(k, &in);
	r = tasks_open_at(kmembers(k), KBASE, &tasks, &err);
	FUZZ_CHECK(r == ATW_OK, "%s", err.text);
	while (r != ATW_END) {
		memset(&err, 0, sizeof(err));
		r = lnx_tasks_next(tasks, &t, &err);
		check_err(r, &err);
		errors += r < 0;
		if (r != ATW_OK)
			continue;
		/* Each has a link of its own, and 64 KiB hold so many. */
		FUZZ_CHECK(++n <= 2 * KSIZE / 8, "task %u", n);
		FUZZ_CHECK(t.pid && memchr(t.name, 0, sizeof(t.name)) && t.state,
			   "pid %u state %d", t.pid, t.state);
		FUZZ_CHECK(t.leader == (t.pid == t.tgid), "%u of %u", t.pid, t.tgid);
	}
	FUZZ_CHECK(errors <= KSIZE / 4, "%u errors", errors);
	lnx_tasks_close(tasks);
	kmemory_free(k);
	return 0;
}
