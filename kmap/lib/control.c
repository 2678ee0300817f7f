/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kmap/lib/control_own.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/message.h"
#include "base/num.h"

/* Memorizer's names of 2016, of 2018 and of 2024. */
static const struct kmap_control controls[] = {
	{ "memorizer_enabled", C_ENABLED, true, true },
	{ "memorizer_log_access", C_ACCESSES, true, true },
	{ "log_accesses_enabled", C_ACCESSES, true, true },
	{ "print_live_obj", C_LIVE, true, true },
	{ "log_live_enabled", C_LIVE, true, true },
	{ "show_stats", C_STATS, true, false },
	{ "stats", C_STATS, true, false },
	{ "clear_object_list", C_CLEAR, false, true },
	{ "clear_dead_objs", C_CLEAR, false, true },
	{ "clear_dead_objects", C_CLEAR, false, true },
	{ "clear_printed_list", C_CLEAR_PRINTED, false, true },
	{ "clear_printed_objects", C_CLEAR_PRINTED, false, true },
	{ "kmap", C_KMAP, true, false },
	{ "kmap_stream", C_STREAM, true, false },
	{ "global_table", C_GLOBALS, true, false },
	{ "allocations", C_ALLOCATION_ROWS, true, false },
	{ "accesses", C_ACCESS_ROWS, true, false },
	/* Reading or writing these fails with a reason, if they are not available. */
	{ "cfg_log_on", C_GRAPH, true, true },
	{ "stack_trace_on", C_CALLS, true, true },
	{ "log_calls_enabled", C_GRAPH, true, true },
	{ "log_frames_enabled", C_CALLS, true, true },
	{ "cfgmap", C_GRAPH_ROWS, true, true },
	{ "function_calls", C_GRAPH_ROWS, true, false },
	{ "clear_function_calls", C_CLEAR_GRAPH, false, true },
	/* Ours. */
	{ "mark", C_MARK, false, true },
};

const struct kmap_control *kmap_control_at(size_t i)
{
	return i < ARRAY_SIZE(controls) ? &controls[i] : NULL;
}

const struct kmap_control *kmap_control_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(controls); i++)
		if (!strcmp(controls[i].name, name))
			return &controls[i];
	return NULL;
}

/* ---- the whole ---- */

/* What was written is read by a descriptor of its own. */
static void kmap_control_open_file(struct kmap_controls *c, const char *out)
{
	const struct kmap_drain_opts *o = kmap_drain_how(c->d);
	char self[64], *slash;
	struct stat st;
	int flags = fcntl(o->fd, F_GETFL);

	c->fd = -1;
	if (o->level) {
		snprintf(c->why, sizeof(c->why), _("cannot read back the recording: it is compressed"));
		return;
	}
	if (fstat(o->fd, &st) < 0 || !S_ISREG(st.st_mode) || flags & O_APPEND) {
		snprintf(c->why, sizeof(c->why), _("cannot read back the recording: it is not written to a regular file"));
		return;
	}
	snprintf(self, sizeof(self), "/proc/self/fd/%d", o->fd);
	c->fd = open(self, O_RDONLY | O_CLOEXEC);
	if (c->fd < 0)
		snprintf(c->why, sizeof(c->why), _("cannot read back the recording: %s"),
			 strerror(errno));
	snprintf(c->folder, sizeof(c->folder), "%s", out ? out : "");
	slash = strrchr(c->folder, '/');
	if (slash)
		slash[slash == c->folder] = '\0';
	else
		strcpy(c->folder, ".");
}

int kmap_controls_open(struct kshare *s, struct kmap_drain *d, const char *out,
		       struct kmap_controls **ret, struct atw_err *err)
{
	struct kmap_controls *c = calloc(1, sizeof(*c));

	if (!c)
		return atw_err_nomem(err);
	c->s = s;
	c->d = d;
	c->live = true;
	pthread_mutex_init(&c->lock, NULL);
	pthread_mutex_init(&c->copying, NULL);
	kmap_control_open_file(c, out);
	*ret = c;
	return ATW_OK;
}

void kmap_controls_close(struct kmap_controls *c)
{
	if (!c)
		return;
	while (c->open)
		kmap_reading_close(c->open);
	if (c->fd >= 0)
		close(c->fd);
	pthread_mutex_destroy(&c->lock);
	pthread_mutex_destroy(&c->copying);
	free(c);
}

void kmap_controls_lock(struct kmap_controls *c)
{
	if (c)
		pthread_mutex_lock(&c->lock);
}

void kmap_controls_unlock(struct kmap_controls *c)
{
	if (c)
		pthread_mutex_unlock(&c->lock);
}

void kmap_controls_over(struct kmap_controls *c)
{
	kmap_controls_lock(c);
	if (c)
		c->over = true;
	kmap_controls_unlock(c);
}

void kmap_controls_ended(struct kmap_controls *c, bool cut)
{
	static const struct timespec moment = { 0, 10000000 };
	uint64_t had = 0;

	if (!c)
		return;
	kmap_controls_lock(c);
	c->ended = true;
	c->cut = cut;
	for (unsigned idle = 0; c->streaming && idle < 100; idle++) {
		idle = c->streamed == had ? idle : 0;
		had = c->streamed;
		kmap_controls_unlock(c);
		nanosleep(&moment, NULL);
		kmap_controls_lock(c);
	}
	kmap_controls_unlock(c);
}

/* ---- standing still ---- */

void control_stand_still(struct kmap_controls *c)
{
	static const struct timespec moment = { 0, 100000 }, long_moment = { 0, 20000000 };

	atomic_store(&c->s->hold, 1);
	/* From here on it sees that, or we see that it is busy. */
	if (syscall(__NR_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) < 0)
		nanosleep(&long_moment, NULL);
	/* The recorder may be waiting for the drain, which needs the lock. */
	while (atomic_load(&c->s->busy) && !c->over) {
		kmap_controls_unlock(c);
		nanosleep(&moment, NULL);
		kmap_controls_lock(c);
	}
}

void control_go_on(struct kmap_controls *c)
{
	atomic_store(&c->s->hold, 0);
}

int control_refuse(struct atw_err *err, int error, int status, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), message(fmt), ap);
	va_end(ap);
	atw_err_set(err, status, "%s", text);
	return error;
}

/* ---- places in the file ---- */

int control_here(struct kmap_controls *c, struct control_mark *ret, off_t *headers,
		 struct atw_err *err)
{
	struct kmap_drained sum;

	if (c->fd < 0)
		return control_refuse(err, -EOPNOTSUPP, ATW_E_UNSUPPORTED, "%s", c->why);
	if (c->ended)
		return control_refuse(err, -ESHUTDOWN, ATW_E_MISSING,
				      "the recording has ended");
	/* The drain reports a failure; the contents of the file are then uncertain. */
	if (atomic_load(&c->s->failed) || kmap_drain_flush(c->d, err) < 0)
		return control_refuse(err, -EIO, ATW_E_IO, "the recording has failed");
	sum = kmap_drain_sums(c->d);
	*ret = (struct control_mark){kmap_drain_at(c->d, headers), sum.objects,
				     sum.accesses, c->s->count.parts};
	return 0;
}

int control_drain_all(struct kmap_controls *c, struct atw_err *err)
{
	unsigned n;

	do {
		if (kmap_drain_some(c->d, KSHARE_QUEUE, &n, err) < 0)
			return -EIO;
	} while (n == KSHARE_QUEUE);
	return 0;
}

/* ---- switches ---- */

int control_no_calls(struct atw_err *err)
{
	atw_err_set(err, ATW_E_UNSUPPORTED, "calls of functions are not recorded");
	atw_err_remedy(err, ATW_PARAM_CALLS);
	return -EOPNOTSUPP;
}

static bool kmap_control_is_word(const char *text, const char *words)
{
	size_t len = strlen(text);

	if (!len || strchr(text, ' '))
		return false;
	for (const char *at = words; (at = strstr(at, text)); at++)
		if ((at == words || at[-1] == ' ') && (at[len] == ' ' || !at[len]))
			return true;
	return false;
}

/* As the kernel reads a bool. */
static int kmap_control_read_switch(const char *text, bool *ret)
{
	*ret = kmap_control_is_word(text, "1 y Y yes on On ON t T");
	return *ret || kmap_control_is_word(text, "0 n N no off Off OFF f F") ? 0
									      : -EINVAL;
}

static int kmap_control_set_gate(struct kmap_controls *c, uint32_t bit, bool on,
				 struct atw_err *err)
{
	/* Events would not be written any more. */
	if (atomic_load(&c->s->failed) || c->over)
		return control_refuse(err, -ESHUTDOWN, ATW_E_MISSING,
				      "the recording has ended");
	if (on)
		atomic_fetch_or(&c->s->gate, bit);
	else
		atomic_fetch_and(&c->s->gate, ~bit);
	return 0;
}

/* A switch, or from 2024 on a number: 2 and 3 are the writing process, N is a process. */
static int kmap_control_write_enabled(struct kmap_controls *c, const char *text,
				      struct atw_err *err)
{
	uint64_t n;
	bool on;

	if (kmap_control_read_switch(text, &on) == 0)
		n = on;
	else if (!num_dec(text, strlen(text), &n) || n > INT32_MAX)
		return -EINVAL;
	if (n == 2 || n == 3)
		return control_refuse(err, -EINVAL, ATW_E_USAGE,
				      "'%s' selects the writing process and its children, which a recording cannot determine", text);
	if (n > 1) {
		atomic_store(&c->s->only_pid, (int32_t)n);
		kmap_control_set_gate(c, KSHARE_ONE, true, err);
	} else if (n == 1) {
		kmap_control_set_gate(c, KSHARE_ONE, false, err);
	}
	return kmap_control_set_gate(c, KSHARE_OBJECTS, n, err);
}

/* Calls are recorded if --calls was given at the beginning, and stacks never are. */
static int kmap_control_write_calls(struct kmap_controls *c, bool graph, const char *text,
				    struct atw_err *err)
{
	bool on;

	if (kmap_control_read_switch(text, &on) < 0)
		return -EINVAL;
	if (graph && c->s->at.max_calls)
		return kmap_control_set_gate(c, KSHARE_GRAPH, on, err);
	if (!on || graph)
		return on ? control_no_calls(err) : 0;
	return control_refuse(err, -EOPNOTSUPP, ATW_E_UNSUPPORTED,
			      "it is off, and cannot be switched on: stacks are not recorded");
}

/* Keep the pairs: the recorder has references to them. */
static int kmap_control_clear_graph(struct kmap_controls *c, struct atw_err *err)
{
	if (!c->s->at.max_calls)
		return control_no_calls(err);
	control_stand_still(c);
	for (uint32_t i = 0; i < c->s->at.max_calls; i++)
		kshare_pair(c->s, i)->count = 0;
	control_go_on(c);
	return 0;
}

static int kmap_control_write_flag(struct kmap_controls *c, uint32_t bit,
				   const char *text, struct atw_err *err)
{
	bool on;
	int r = kmap_control_read_switch(text, &on);

	if (r == 0 && bit)
		r = kmap_control_set_gate(c, bit, on, err);
	else if (r == 0)
		c->live = on;
	return r;
}

static int kmap_control_clear(struct kmap_controls *c, bool printed, struct atw_err *err)
{
	struct control_mark here;
	off_t headers;
	int r = control_here(c, &here, &headers, err);

	if (r < 0)
		return r;
	if (!printed) {
		/* What waits to be written was freed before. */
		if (control_drain_all(c, err) < 0)
			return -EIO;
		r = control_here(c, &here, &headers, err);
	}
	if (printed && c->printed.at > c->view.at) {
		c->view = c->printed;
	} else if (!printed && r == 0) {
		c->view = here;
		kmap_drain_anew(c->d);
	}
	return r;
}

/* Names this moment: what is allocated from here on has that time or a later one. */
static int kmap_control_mark(struct kmap_controls *c, const char *name, struct atw_err *err)
{
	bool word = *name;

	for (const char *s = name; *s; s++)
		word &= (uint8_t)*s > ' ' && *s != 0x7f;
	if (!word)
		return control_refuse(err, -EINVAL, ATW_E_USAGE, "a mark is a word");
	if (kmap_drain_how(c->d)->version != KMAP_V4)
		return control_refuse(err, -EOPNOTSUPP, ATW_E_UNSUPPORTED,
				      "the recording is in a form that has no marks");
	if (atomic_load(&c->s->failed) || c->over || c->ended)
		return control_refuse(err, -ESHUTDOWN, ATW_E_MISSING,
				      "the recording has ended");
	return kmap_drain_header(c->d, err, "mark", "%" PRIu64 " %s", c->s->clock + 1,
				 name) < 0 ? -EIO : 0;
}

static int kmap_control_write_text(struct kmap_controls *c, unsigned kind,
				   const char *text, struct atw_err *err)
{
	switch (kind) {
	case C_ENABLED:
		return kmap_control_write_enabled(c, text, err);
	case C_ACCESSES:
		return kmap_control_write_flag(c, KSHARE_ACCESSES, text, err);
	case C_LIVE:
		return kmap_control_write_flag(c, 0, text, err);
	case C_CALLS:
	case C_GRAPH:
		return kmap_control_write_calls(c, kind == C_GRAPH, text, err);
	case C_GRAPH_ROWS:
	case C_CLEAR_GRAPH:
		return kmap_control_clear_graph(c, err);
	case C_CLEAR:
	case C_CLEAR_PRINTED:
		return kmap_control_clear(c, kind == C_CLEAR_PRINTED, err);
	case C_MARK:
		return kmap_control_mark(c, text, err);
	default:
		return control_no_calls(err);
	}
}

/* Does the recorder stand still for what is written? */
static bool kmap_control_stills(unsigned kind)
{
	return kind == C_GRAPH_ROWS || kind == C_CLEAR_GRAPH;
}

/* Those that do it whatever is written. */
static bool kmap_control_takes_any(unsigned kind)
{
	return kind == C_CLEAR || kind == C_CLEAR_PRINTED || kmap_control_stills(kind);
}

int kmap_control_write(struct kmap_controls *c, const struct kmap_control *f, const char *text,
		       size_t len, struct atw_err *err)
{
	char word[KMAP_CONTROL_TEXT + 1] = "";
	size_t first = 0;
	int r = -EINVAL;

	if (!f->writes)
		return control_refuse(err, -EACCES, ATW_E_PERM, "it is read-only");
	len = kmap_control_takes_any(f->kind) ? 0 : len;
	while (len && strchr(" \t\n", text[len - 1]) && text[len - 1])
		len--;
	while (first < len && (text[first] == ' ' || text[first] == '\t'))
		first++;
	if (len - first <= KMAP_CONTROL_TEXT && !memchr(text + first, '\0', len - first)) {
		memcpy(word, text + first, len - first);
		/* While the recorder is stopped for one caller, the others wait. */
		if (kmap_control_stills(f->kind))
			pthread_mutex_lock(&c->copying);
		kmap_controls_lock(c);
		r = kmap_control_write_text(c, f->kind, word, err);
		kmap_controls_unlock(c);
		if (kmap_control_stills(f->kind))
			pthread_mutex_unlock(&c->copying);
	}
	if (r == -EINVAL && (!err || err->status == ATW_OK))
		atw_err_set(err, ATW_E_USAGE, "invalid value");
	return r;
}
