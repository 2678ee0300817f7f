/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * references_qemu.c - exact counts of all references, by a plugin in QEMU's user mode.
 *
 * The program runs emulated, also if it is one for another machine. The plugin
 * (qemu/references.c) counts in memory that is read here when the program has ended.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/digits.h"
#include "base/message.h"
#include "host/qemu_program.h"
#include "host/references_backends.h"
#include "host/references_program.h"
#include "host/references_share.h"

/* ---- programs ---- */

static const struct {
	uint16_t machine;
	bool is64;
	const char *qemu;
} references_qemu_machines[] = {
	{ EM_X86_64, true, "qemu-x86_64" },
	{ EM_AARCH64, true, "qemu-aarch64" },
	{ EM_RISCV, true, "qemu-riscv64" },
	{ EM_386, false, "qemu-i386" },
	{ EM_ARM, false, "qemu-arm" },
	{ EM_RISCV, false, "qemu-riscv32" },
};

struct references_qemu_files {
	char qemu[4096], plugin[4096];
};

static int references_qemu_find(const char *qemu, const struct references_options *o,
				struct references_qemu_files *ret, struct atw_err *err)
{
	struct references_program p;
	unsigned major, minor;
	int r = references_program_find(qemu, &p, NULL);

	if (r < 0) {
		atw_err_set(err, ATW_E_MISSING, "%s is not installed", qemu);
		atw_err_hint(err, "Install the package qemu-user.");
		return ATW_E_MISSING;
	}
	snprintf(ret->qemu, sizeof(ret->qemu), "%s", p.path);
	r = qemu_program_version(ret->qemu, &major, &minor, err);
	if (r == ATW_OK && o && o->plugin) {
		if ((size_t)snprintf(ret->plugin, sizeof(ret->plugin), "%s", o->plugin) >=
		    sizeof(ret->plugin) || access(ret->plugin, R_OK) < 0)
			return atw_err_set(err, ATW_E_MISSING, "%s: %s", o->plugin, strerror(errno));
		return ATW_OK;
	}
	return r < 0 ? r : qemu_program_plugin("references", major, ret->plugin,
					       sizeof(ret->plugin), err);
}

static const char *references_qemu_own(void)
{
#if defined(__x86_64__)
	return "qemu-x86_64";
#elif defined(__aarch64__)
	return "qemu-aarch64";
#elif defined(__riscv)
	return "qemu-riscv64";
#else
	return "qemu-user";
#endif
}

static int references_qemu_probe(const struct references_options *o, struct atw_err *err)
{
	struct references_qemu_files files;

	return references_qemu_find(references_qemu_own(), o, &files, err);
}

/* ---- memory that is shared with the plugin ---- */

struct references_qemu_share {
	struct references_share *s;
	size_t size;
	int fd;
};

static int references_qemu_share_open(struct references_qemu_share *ret,
				      const struct references_options *o, uint64_t code,
				      struct atw_err *err)
{
	uint64_t chunk = REFERENCES_CHUNK * sizeof(struct references_entry);
	uint64_t chunks = (o->memory ? o->memory : REFERENCES_MEMORY) / chunk;
	struct references_share *s;
	size_t size;
	int fd;

	/* The number of an entry has 32 bits. */
	chunks = chunks < 1 ? 1 : chunks;
	chunks = chunks > UINT32_MAX / REFERENCES_CHUNK ? UINT32_MAX / REFERENCES_CHUNK : chunks;
	size = sizeof(*s) + (size_t)(chunks * chunk);
	if (o->nranges > REFERENCES_RANGES)
		return atw_err_set(err, ATW_E_LIMIT, "too many ranges: qemu counts in %d at most",
				   REFERENCES_RANGES);
	fd = memfd_create("atwalk-references", 0);
	if (fd < 0 || ftruncate(fd, (off_t)size) < 0) {
		if (fd >= 0)
			close(fd);
		return atw_err_set(err, ATW_E_IO, "cannot create memory for counts: %s",
				   strerror(errno));
	}
	s = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (s == MAP_FAILED) {
		close(fd);
		return atw_err_nomem(err);
	}
	s->magic = REFERENCES_MAGIC;
	s->nchunks_max = chunks;
	s->file_code = code;
	s->nranges = (uint32_t)o->nranges;
	for (size_t i = 0; i < o->nranges; i++) {
		s->range[i].start = o->range[i].start;
		s->range[i].end = o->range[i].end;
		s->range[i].in_file = o->range[i].in_file;
		s->in_file |= o->range[i].in_file;
	}
	*ret = (struct references_qemu_share){ s, size, fd };
	return ATW_OK;
}

static void references_qemu_share_close(struct references_qemu_share *h)
{
	if (h->s)
		munmap(h->s, h->size);
	if (h->fd >= 0)
		close(h->fd);
}

/* ---- counts ---- */

static int references_qemu_emit(const struct references_share *s,
				const struct references_range *range, size_t nranges,
				const struct references_entry *e,
				const struct references_sink *sink, struct atw_err *err)
{
	static const enum trace_kind kinds[] = {
		[REFERENCES_READ] = TRACE_KIND_READ, [REFERENCES_WRITE] = TRACE_KIND_WRITE,
		[REFERENCES_BOTH] = TRACE_KIND_BOTH,
	};
	struct trace_ref ref = {
		.has = TRACE_HAS_ADDRESS | TRACE_HAS_SIZE | TRACE_HAS_TID,
		.size = 1u << (e->shift & 7),
	};
	int r = ATW_OK;

	/* The program could have written to this memory, too. */
	if (e->kind >= ARRAY_SIZE(kinds) || e->thread >= REFERENCES_THREADS)
		return ATW_OK;
	ref.kind = kinds[e->kind];
	ref.tid = s->tid[e->thread];
	if (e->site && e->site < REFERENCES_SITES) {
		ref.has |= TRACE_HAS_IP;
		ref.ip = s->site[e->site];
	}
	for (unsigned i = 0; i < (e->is_wide ? REFERENCES_WIDE_SLOTS : REFERENCES_SLOTS) && r >= 0;
	     i++) {
		ref.address = e->block + ((uint64_t)i << (e->shift & 7));
		ref.count = e->is_wide ? e->wide[i] : e->count[i];
		if (ref.count && references_in_ranges(range, nranges, ref.address, ref.size))
			r = sink->ref(sink->arg, &ref, err);
	}
	return r;
}

static int references_qemu_emit_all(const struct references_share *s,
				    const struct references_options *o,
				    const struct references_sink *sink,
				    struct trace_recording *rec, struct atw_err *err)
{
	struct references_range range[REFERENCES_RANGES];
	uint64_t chunks = atomic_load(&s->nchunks);
	int r = references_ranges(o, rec, range, err);

	chunks = chunks < s->nchunks_max ? chunks : s->nchunks_max;
	if (r == ATW_OK)
		r = sink->head(sink->arg, rec, err);
	for (uint64_t i = 0; i < chunks * REFERENCES_CHUNK && r >= 0; i++) {
		struct references_entry e = s->entry[i];

		r = references_qemu_emit(s, range, o->nranges, &e, sink, err);
	}
	return r < 0 ? r : ATW_OK;
}

/* ---- the run ---- */

/* QEMU reads two commas in a value as one. */
static void references_qemu_option(const char *plugin, int fd, char *ret, size_t len)
{
	struct line l = { ret, ret + len - 1, false };

	line_text(&l, "file=");
	for (; *plugin; plugin++) {
		line_put(&l, plugin, 1);
		if (*plugin == ',')
			line_text(&l, ",");
	}
	line_text(&l, ",share=");
	line_dec(&l, (uint64_t)fd);
	*l.s = '\0';
}

static void references_qemu_child(const struct references_qemu_files *files,
				  const struct references_program *p, char *const argv[], int fd)
{
	char option[2 * sizeof(files->plugin) + 64];
	size_t n = 0;
	char **args;

	while (argv[n])
		n++;
	args = calloc(n + 8, sizeof(*args));
	if (args) {
		size_t k = 0;

		references_qemu_option(files->plugin, fd, option, sizeof(option));
		/* Without a recorder, nothing would end the program. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		args[k++] = (char *)files->qemu;
		args[k++] = (char *)"-plugin";
		args[k++] = option;
		args[k++] = (char *)"-0";
		args[k++] = argv[0];
		args[k++] = (char *)p->path;
		memcpy(args + k, argv + 1, (n - 1) * sizeof(*args));
		execv(files->qemu, args);
	}
	_exit(127);
}

static int references_qemu_wait(pid_t pid, int *status)
{
	while (waitpid(pid, status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return 0;
}

static int references_qemu_start(const struct references_qemu_files *files,
				 const struct references_program *p, char *const argv[],
				 const struct references_share *s, int fd, int *status,
				 struct atw_err *err)
{
	pid_t pid = fork();

	if (!pid)
		references_qemu_child(files, p, argv, fd);
	if (pid < 0 || references_qemu_wait(pid, status) < 0)
		return atw_err_set(err, ATW_E_IO, "cannot run %s: %s", files->qemu, strerror(errno));
	if (!atomic_load(&s->attached))
		return atw_err_set(err, ATW_E_IO, "%s did not load %s", files->qemu, files->plugin);
	return ATW_OK;
}

/* The program was replaced: QEMU is gone without the end of the recording. */
static void references_qemu_finish(struct trace_recording *rec, const struct references_share *s,
				   int status)
{
	rec->lost = atomic_load(&s->lost);
	rec->children = atomic_load(&s->children);
	if (!atomic_load(&s->ended) && WIFEXITED(status))
		snprintf(rec->cut, sizeof(rec->cut),
			 N_("the program executed another one, which was not recorded"));
}

static int references_qemu_run(char *const argv[], const struct references_options *o,
			       const struct references_sink *sink, struct trace_recording *rec,
			       int *status, struct atw_err *err)
{
	struct references_qemu_share share = { .fd = -1 };
	struct references_qemu_files files;
	struct references_program p;
	const char *qemu = NULL;
	int r = references_program_find(argv[0], &p, err);

	if (r != ATW_OK)
		return r;
	for (size_t i = 0; i < ARRAY_SIZE(references_qemu_machines) && !qemu; i++)
		if (references_qemu_machines[i].machine == p.machine &&
		    references_qemu_machines[i].is64 == p.is64)
			qemu = references_qemu_machines[i].qemu;
	if (!qemu)
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "cannot record %s: it is for a machine that is not supported", p.path);
	r = references_qemu_find(qemu, o, &files, err) ?:
	    references_qemu_share_open(&share, o, p.code, err);
	if (r != ATW_OK)
		return r;
	*rec = (struct trace_recording){ .backend = "qemu", .scale = 1 };
	snprintf(rec->program, sizeof(rec->program), "%s", p.path);
	r = references_qemu_start(&files, &p, argv, share.s, share.fd, status, err);
	if (r == ATW_OK) {
		rec->has_load = atomic_load(&share.s->has_load);
		rec->load = share.s->load;
		references_qemu_finish(rec, share.s, *status);
		r = references_qemu_emit_all(share.s, o, sink, rec, err);
	}
	references_qemu_share_close(&share);
	return r;
}

const struct references_backend references_qemu = {
	.name = "qemu",
	.gives = "exact counts of all references of a program that runs emulated",
	.needs = "qemu-user",
	.probe = references_qemu_probe,
	.run = references_qemu_run,
};
