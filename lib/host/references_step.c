/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * references_step.c - exact counts of all references, one instruction at a time, by
 * ptrace(2).
 *
 * The operands of an instruction are computed before it runs and counted once it has run,
 * so an instruction that faults and is repeated is counted once. What the kernel reads or
 * writes for a system call is not counted.
 */
#include "host/references_backends.h"

#ifdef __x86_64__

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/message.h"
#include "host/references_operands.h"
#include "host/references_program.h"
#include "trace/counts.h"

struct step_thread {
	pid_t tid;
	bool begun;                      /* its first stop was seen */
	bool injected;                   /* it was resumed with a signal */
	int n;                           /* references of the instruction that runs; -1: unknown */
	uint64_t ip;
	struct operands_ref ref[OPERANDS_MAX];
};

struct step_run {
	pid_t pid;
	struct operands *operands;
	struct step_thread *thread;
	size_t n, room;
	pid_t early[64];                 /* stopped before their parent reported them */
	unsigned nearly;
	struct references_range *range;
	size_t nranges;
	uint64_t left;                   /* instructions */
	bool detaching;
	struct trace_counts counts;
	struct trace_recording *rec;
};

static int step_probe(const struct references_options *o, struct atw_err *err)
{
	struct operands *operands = NULL;
	int r = operands_open(&operands, err);

	if (r == ATW_OK)
		operands_close(operands);
	return r;
}

/* ---- threads ---- */

static struct step_thread *step_find(struct step_run *s, pid_t tid)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->thread[i].tid == tid)
			return &s->thread[i];
	return NULL;
}

static struct step_thread *step_add(struct step_run *s, pid_t tid)
{
	if (!array_reserve((void **)&s->thread, &s->room, s->n + 1, sizeof(*s->thread)))
		return NULL;
	s->thread[s->n] = (struct step_thread){ .tid = tid };
	return &s->thread[s->n++];
}

static void step_remove(struct step_run *s, pid_t tid)
{
	struct step_thread *t = step_find(s, tid);

	if (t)
		*t = s->thread[--s->n];
}

static bool step_was_early(struct step_run *s, pid_t tid)
{
	for (unsigned i = 0; i < s->nearly; i++)
		if (s->early[i] == tid) {
			s->early[i] = s->early[--s->nearly];
			return true;
		}
	return false;
}

/* ---- instructions ---- */

static void step_decode(struct step_run *s, struct step_thread *t)
{
	struct user_regs_struct u;
	uint8_t code[OPERANDS_CODE];
	struct iovec to = { code, sizeof(code) }, from;
	struct operands_regs regs;
	ssize_t len;

	t->n = -1;
	if (ptrace(PTRACE_GETREGS, t->tid, NULL, &u) < 0)
		return;
	regs = (struct operands_regs){
		.r = { u.rax, u.rcx, u.rdx, u.rbx, u.rsp, u.rbp, u.rsi, u.rdi, u.r8, u.r9, u.r10,
		       u.r11, u.r12, u.r13, u.r14, u.r15 },
		.rip = u.rip, .fs_base = u.fs_base, .gs_base = u.gs_base,
	};
	t->ip = u.rip;
	from = (struct iovec){ (void *)(uintptr_t)u.rip, sizeof(code) };
	len = process_vm_readv(t->tid, &to, 1, &from, 1, 0);
	if (len < 0) {
		/* The instruction may end at a page that no other follows. */
		from.iov_len = 4096 - u.rip % 4096;
		len = from.iov_len < sizeof(code) ? process_vm_readv(t->tid, &to, 1, &from, 1, 0) : -1;
	}
	if (len > 0)
		t->n = operands_of(s->operands, code, (size_t)len, &regs, t->ref);
}

static int step_count(struct step_run *s, struct step_thread *t, struct atw_err *err)
{
	for (int i = 0; i < t->n; i++) {
		struct trace_ref ref = {
			.has = TRACE_HAS_ADDRESS | TRACE_HAS_SIZE | TRACE_HAS_TID | TRACE_HAS_IP,
			.address = t->ref[i].address, .size = t->ref[i].size, .kind = t->ref[i].kind,
			.tid = (uint32_t)t->tid, .ip = t->ip, .count = 1,
		};

		if (references_in_ranges(s->range, s->nranges, ref.address, ref.size) &&
		    !trace_counts_add(&s->counts, &ref))
			return atw_err_nomem(err);
	}
	s->rec->lost += t->n < 0;
	t->n = 0;
	s->left -= s->left > 0;
	return ATW_OK;
}

/* ---- stops ---- */

static void step_resume(struct step_run *s, struct step_thread *t, int sig)
{
	t->injected = sig != 0;
	if (!s->left && !s->detaching) {
		s->detaching = true;
		snprintf(s->rec->cut, sizeof(s->rec->cut), N_("the limit of instructions was reached"));
	}
	if (s->detaching) {
		ptrace(PTRACE_DETACH, t->tid, NULL, (void *)(intptr_t)sig);
		if (t->tid != s->pid)
			step_remove(s, t->tid);
		return;
	}
	step_decode(s, t);
	ptrace(PTRACE_SINGLESTEP, t->tid, NULL, (void *)(intptr_t)sig);
}

/* Another process: it runs on, not recorded. */
static void step_release(struct step_run *s, pid_t pid)
{
	int status;

	s->rec->children++;
	if (!step_was_early(s, pid))
		while (waitpid(pid, &status, __WALL) < 0 && errno == EINTR)
			;
	ptrace(PTRACE_DETACH, pid, NULL, NULL);
}

static int step_event(struct step_run *s, pid_t tid, int event, struct atw_err *err)
{
	struct step_thread *new;
	unsigned long pid = 0;

	if (event == PTRACE_EVENT_EXEC && !s->detaching) {
		s->detaching = true;
		snprintf(s->rec->cut, sizeof(s->rec->cut),
			 N_("the program executed another one, which was not recorded"));
		return ATW_OK;
	}
	if (ptrace(PTRACE_GETEVENTMSG, tid, NULL, &pid) < 0)
		return ATW_OK;
	if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK)
		step_release(s, (pid_t)pid);
	if (event != PTRACE_EVENT_CLONE)
		return ATW_OK;
	new = step_add(s, (pid_t)pid);
	if (!new)
		return atw_err_nomem(err);
	if (step_was_early(s, (pid_t)pid)) {
		new->begun = true;
		step_resume(s, new, 0);
	}
	return ATW_OK;
}

/* A stop by a signal: 0, or the signal that the program is to get. */
static int step_signal(struct step_run *s, struct step_thread *t, int sig, int *deliver,
		       struct atw_err *err)
{
	siginfo_t info = { 0 };
	bool injected = t->injected;

	*deliver = sig;
	if (!t->begun && (sig == SIGSTOP || sig == SIGTRAP)) {
		t->begun = true;
		*deliver = 0;
		return ATW_OK;
	}
	/* In a group-stop there is no signal; it goes on, because nothing would continue it. */
	if (ptrace(PTRACE_GETSIGINFO, t->tid, NULL, &info) < 0) {
		*deliver = 0;
		return ATW_OK;
	}
	if (sig != SIGTRAP || info.si_code <= 0 || info.si_code == SI_KERNEL)
		return ATW_OK;
	*deliver = 0;
	/* At the entry of a signal handler, which is no instruction: signal_setup_done(). */
	if (injected && info.si_code == SIGTRAP)
		return ATW_OK;
	return step_count(s, t, err);
}

static int step_stopped(struct step_run *s, pid_t tid, int status, struct atw_err *err)
{
	struct step_thread *t = step_find(s, tid);
	int sig = WSTOPSIG(status), event = status >> 16, deliver = 0, r;

	if (!t) {
		if (s->nearly == ARRAY_SIZE(s->early))
			return atw_err_set(err, ATW_E_LIMIT, "too many processes start at once");
		s->early[s->nearly++] = tid;
		return ATW_OK;
	}
	if (event) {
		/* The system call that started it has run. */
		t->n = 0;
		r = step_event(s, tid, event, err);
		t = step_find(s, tid);
	} else {
		r = step_signal(s, t, sig, &deliver, err);
	}
	if (r == ATW_OK && t)
		step_resume(s, t, deliver);
	return r;
}

static int step_loop(struct step_run *s, int *ret, struct atw_err *err)
{
	for (;;) {
		int status, r;
		pid_t tid = waitpid(-1, &status, __WALL | __WNOTHREAD);

		if (tid < 0 && errno == EINTR)
			continue;
		if (tid < 0)
			return atw_err_set(err, ATW_E_IO, "cannot wait for the program: %s",
					   strerror(errno));
		if (WIFSTOPPED(status)) {
			r = step_stopped(s, tid, status, err);
			if (r < 0)
				return r;
			continue;
		}
		step_remove(s, tid);
		if (tid != s->pid)
			continue;
		*ret = status;
		return ATW_OK;
	}
}

/* ---- the run ---- */

static int step_trace(struct step_run *s, const struct references_options *o, int *status,
		      struct atw_err *err)
{
	long options = PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
		       PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
	struct step_thread *t;
	int r = references_ranges(o, s->rec, s->range, err);

	t = r == ATW_OK ? step_add(s, s->pid) : NULL;
	if (r == ATW_OK && !t)
		r = atw_err_nomem(err);
	if (r == ATW_OK && ptrace(PTRACE_SETOPTIONS, s->pid, NULL, options) < 0)
		r = atw_err_set(err, ATW_E_IO, "cannot trace the program: %s", strerror(errno));
	if (r == ATW_OK) {
		t->begun = true;
		step_resume(s, t, 0);
		r = step_loop(s, status, err);
	}
	if (r < 0)
		references_program_kill(s->pid, status);
	return r;
}

static int step_emit(const struct step_run *s, const struct references_sink *sink,
		     struct atw_err *err)
{
	int r = sink->head(sink->arg, s->rec, err);

	for (size_t i = 0; i < s->counts.n && r >= 0; i++) {
		struct trace_ref ref = trace_counts_get(&s->counts, i);

		r = sink->ref(sink->arg, &ref, err);
	}
	return r < 0 ? r : ATW_OK;
}

static int step_run(char *const argv[], const struct references_options *o,
		    const struct references_sink *sink, struct trace_recording *rec, int *status,
		    struct atw_err *err)
{
	struct step_run s = {
		.rec = rec, .left = o->limit ? o->limit : REFERENCES_STEPS, .nranges = o->nranges,
	};
	struct references_program *p = malloc(sizeof(*p));
	int r = p ? references_program_find(argv[0], p, err) : atw_err_nomem(err);

	*rec = (struct trace_recording){ .backend = "step", .scale = 1 };
	if (r == ATW_OK && (p->machine != 62 || !p->is64))
		r = atw_err_set(err, ATW_E_UNSUPPORTED,
				"cannot record %s: only programs for x86_64 can be stepped", p->path);
	if (r == ATW_OK)
		r = operands_open(&s.operands, err);
	if (r == ATW_OK) {
		s.range = calloc(o->nranges + 1, sizeof(*s.range));
		r = s.range ? references_program_start(p, argv, rec, &s.pid, err) : atw_err_nomem(err);
	}
	if (r == ATW_OK)
		r = step_trace(&s, o, status, err) ?: step_emit(&s, sink, err);
	trace_counts_deinit(&s.counts);
	operands_close(s.operands);
	free(s.thread);
	free(s.range);
	free(p);
	return r;
}

#else

static int step_probe(const struct references_options *o, struct atw_err *err)
{
	return atw_err_set(err, ATW_E_UNSUPPORTED, "only programs for x86_64 can be stepped");
}

static int step_run(char *const argv[], const struct references_options *o,
		    const struct references_sink *sink, struct trace_recording *rec, int *status,
		    struct atw_err *err)
{
	return step_probe(o, err);
}

#endif

const struct references_backend references_step = {
	.name = "step",
	.gives = "exact counts of all references of a short program, an instruction at a time",
	.needs = "x86_64 and libzydis",
	.probe = step_probe,
	.run = step_run,
};
