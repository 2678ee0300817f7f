/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kmap_recording.c - setup of the recorder inside QEMU: its memory, its options, and the
 * kernel information that it requests.
 */
#include "kmap_recording.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "format/kallsyms.h"
#include "linux/kernel.h"
#include "kmap/lib/introduce.h"
#include "source/raw.h"
#include <sys/wait.h>
#include "base/message.h"

/* Pairs of caller and callee: booting a kernel takes some 60,000. */
enum { CALLS = 1 << 18 };

/* ---- what is shared ---- */

static uint64_t recording_align(uint64_t n)
{
	return (n + 4095) & ~UINT64_C(4095);
}

/* Fractions of the memory, 1/n each; edges get the rest, which is most of it. */
enum { OBJECTS_PART = 4, SITES_PART = 32, NAMES_PART = 32 };

static int recording_make_share(struct recording *r, uint64_t bytes, struct atw_err *err)
{
	struct kshare_layout at = { 0 };
	uint64_t used = recording_align(sizeof(struct kshare));

	at.max_objects = (uint32_t)(bytes / OBJECTS_PART / sizeof(struct kshare_object));
	at.max_sites = (uint32_t)(bytes / SITES_PART / sizeof(uint64_t));
	at.max_names = (uint32_t)(bytes / NAMES_PART);
	at.objects = used;
	used += recording_align((uint64_t)at.max_objects * sizeof(struct kshare_object));
	at.sites = used;
	used += recording_align((uint64_t)at.max_sites * sizeof(uint64_t));
	at.names = used;
	used += recording_align(at.max_names);
	if (r->o->calls) {
		for (at.max_calls = CALLS; (uint64_t)at.max_calls * sizeof(struct kshare_pair) > bytes / 8; )
			at.max_calls /= 2;
		at.calls = used;
		used += recording_align((uint64_t)at.max_calls *
					sizeof(struct kshare_pair));
	}
	at.edges = used;
	at.max_edges = (uint32_t)((bytes - used) / sizeof(struct kshare_edge));
	at.size = used +
		  recording_align((uint64_t)at.max_edges * sizeof(struct kshare_edge));
	/* QEMU inherits the descriptor; a program that is recorded live must not. */
	r->share_fd = memfd_create("atwalk-kmap", r->o->live ? MFD_CLOEXEC : 0);
	if (r->share_fd < 0 || ftruncate(r->share_fd, (off_t)at.size) < 0)
		return atw_err_set(err, ATW_E_NOMEM, "cannot allocate memory for the recording: %s", strerror(errno));
	r->s = mmap(NULL, at.size, PROT_READ | PROT_WRITE, MAP_SHARED, r->share_fd, 0);
	if (r->s == MAP_FAILED) {
		r->s = NULL;
		return atw_err_set(err, ATW_E_NOMEM, "cannot allocate memory for the recording: %s", strerror(errno));
	}
	r->s->magic = KSHARE_MAGIC;
	r->s->at = at;
	kmap_introduce_general(r->s);
	return ATW_OK;
}

static int recording_make_ram(struct recording *r, struct atw_err *err)
{
	r->ram_fd = memfd_create("atwalk-ram", 0);
	if (r->ram_fd < 0 || ftruncate(r->ram_fd, (off_t)r->machine.ram) < 0)
		return atw_err_set(err, ATW_E_NOMEM, "cannot allocate the guest's memory: %s", strerror(errno));
	r->s->nrams = r->machine.nrams;
	memcpy(r->s->ram, r->machine.ram_at, sizeof(r->s->ram));
	return ATW_OK;
}

/*
 * Map our first pages private: they are copied on write, and QEMU has those of the file.
 */
static int recording_own_pages(struct recording *r, struct atw_err *err)
{
	volatile char *p = r->s->first_pages;

	if (mmap(r->s, KSHARE_FIRST, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED,
		 r->share_fd, 0) == MAP_FAILED)
		return atw_err_set(err, ATW_E_NOMEM, "cannot allocate memory for the recording: %s", strerror(errno));
	for (size_t i = 0; i < KSHARE_FIRST; i += 4096) {
		char same = p[i];

		p[i] = same;
	}
	return ATW_OK;
}

/* Parse "A-B", hexadecimal, both inclusive. */
static int recording_range(const char *text, struct kshare *s, struct atw_err *err)
{
	const char *dash = strchr(text, '-');

	if (!dash || !num_hex(text, (size_t)(dash - text), &s->first) ||
	    !num_hex(dash + 1, strlen(dash + 1), &s->last) || s->first > s->last)
		return atw_err_set(err, ATW_E_USAGE, "--range %s: expected two addresses, A-B", text);
	return ATW_OK;
}

static int recording_wish(struct recording *r, struct atw_err *err)
{
	const struct record_opts *o = r->o;
	struct kshare *s = r->s;

	s->program = getpid();
	s->locks = r->machine.threads;
	/* Memorizer's files begin as its documentation has them: accesses are not logged yet. */
	s->gate = (o->off ? 0 : KSHARE_OBJECTS | (o->control ? 0 : KSHARE_ACCESSES)) |
		  (o->task_pid.given ? KSHARE_ONE : 0);
	s->only_pid = o->task_pid.given ? (int32_t)o->task_pid.u : 0;
	s->detail = (o->times ? KSHARE_TIMES : 0) | (o->lines ? KSHARE_LINES : 0) |
		    (o->calls ? KSHARE_GRAPHED : 0);
	if (o->calls && !o->off)
		s->gate |= KSHARE_GRAPH;
	s->by_site = o->mode == RECORD_SITE;
	s->sample = o->sample.given ? (uint32_t)o->sample.u : 1;
	s->first = o->bare ? 0 : UINT64_C(1) << 63;
	s->last = UINT64_MAX;
	s->code = (struct kshare_code){ s->first, UINT64_MAX };
	s->first_code = s->first;
	if (o->caches.n > KSHARE_FILTERS)
		return atw_err_set(err, ATW_E_USAGE, "--cache: expected at most %d", KSHARE_FILTERS);
	for (size_t i = 0; i < o->caches.n; i++) {
		if (strlen(o->caches.v[i]) >= sizeof(s->only_cache[i]))
			return atw_err_set(err, ATW_E_USAGE, "--cache %s: the name is too long for a slab cache",
					   o->caches.v[i]);
		snprintf(s->only_cache[i], sizeof(s->only_cache[i]), "%s", o->caches.v[i]);
	}
	s->only_some = o->caches.n || o->sites.n;
	if (o->sites.n > KSHARE_FILTERS)
		return atw_err_set(err, ATW_E_USAGE, "--site: expected at most %d", KSHARE_FILTERS);
	s->ready = o->bare;
	return o->range ? recording_range(o->range, s, err) : ATW_OK;
}

int recording_make(struct recording *r, uint64_t bytes, struct atw_err *err)
{
	int ret = recording_make_share(r, bytes, err);

	if (ret == ATW_OK && !r->o->live)
		ret = recording_make_ram(r, err);
	if (ret == ATW_OK)
		ret = recording_own_pages(r, err);
	return ret < 0 ? ret : recording_wish(r, err);
}

/* ---- the file ---- */

const char *recording_output(const struct recording *r)
{
	return r->out_fd == 1 ? "standard output" : r->c->output;
}

/* A sample can also be one of sites. */
int recording_write_mode(struct recording *r, bool sampled, struct atw_err *err)
{
	int ret = ATW_OK;

	if (r->s->by_site || (!sampled && !r->o->sample.given))
		ret = kmap_drain_header(r->drain, err, "mode", "%s",
					r->s->by_site ? "site" : "instance");
	if (ret == ATW_OK && (sampled || r->o->sample.given))
		ret = kmap_drain_header(r->drain, err, "mode", "sample");
	/* The scale of a sample of accesses is known at the end. */
	if (ret < 0 || sampled || !r->o->sample.given)
		return ret;
	return kmap_drain_header(r->drain, err, "scale", "%" PRIu64, r->o->sample.u);
}

/* ---- QEMU ---- */

int recording_run_qemu(struct recording *r, struct atw_err *err)
{
	pid_t parent = getpid();

	r->child = fork();
	if (r->child < 0)
		return atw_err_set(err, ATW_E_IO, "cannot fork: %s", strerror(errno));
	if (r->child)
		return ATW_OK;
	/* QEMU must not outlive the recording. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(127);
	execvp(r->machine.argv[0], r->machine.argv);
	fprintf(stderr, "atwalk: %s: %s\n", r->machine.argv[0], strerror(errno));
	_exit(127);
}

/* ---- the kernel ---- */

struct symbols_to {
	struct recording *r;
	uint64_t slide;
	struct atw_err *err;
};

static int recording_add_function(void *arg, const struct kallsyms_symbol *sym)
{
	struct symbols_to *to = arg;

	if (sym->type != 't' && sym->type != 'T' && sym->type != 'w' && sym->type != 'W')
		return ATW_OK;
	if (kmap_functions_of_add(&to->r->functions, sym->address - to->slide, sym->name))
		return ATW_OK;
	return atw_err_nomem(to->err);
}

/* The address that an x86 kernel is linked for: what it was moved by is taken off. */
static uint64_t recording_slide_of(const struct recording *r)
{
	const uint64_t linked = 0xffffffff81000000;

	return r->machine.family == ATW_X86 ? r->s->kernel.image_first - linked : 0;
}

/* A function by its name; an instruction as files have it, where the kernel was linked. */
static int recording_find_site(struct recording *r, struct atw_kernel *k,
			       const char *text, struct kshare_code *ret,
			       struct atw_err *err)
{
	struct lnx_symbol sym;
	int status;

	if (num_hex(text, strlen(text), &ret->start)) {
		ret->start += recording_slide_of(r);
		ret->end = ret->start + 1;
		return ATW_OK;
	}
	status = atw_kernel_symbol(k, text, &ret->start, err) ?:
		 atw_kernel_symbol_at(k, ret->start, &sym, err);
	if (status != ATW_OK)
		return atw_err_wrap(err, "--site %s", text);
	ret->end = sym.address + sym.size;
	return ATW_OK;
}

int recording_write_filters(struct recording *r, struct atw_err *err)
{
	const struct record_opts *o = r->o;
	int ret = ATW_OK;

	for (size_t i = 0; i < o->caches.n && ret == ATW_OK; i++)
		ret = kmap_drain_header(r->drain, err, "only-cache", "%s", o->caches.v[i]);
	for (size_t i = 0; i < o->sites.n && ret == ATW_OK; i++)
		ret = kmap_drain_header(r->drain, err, "only-site", "%s", o->sites.v[i]);
	if (o->range && ret == ATW_OK)
		ret = kmap_drain_header(r->drain, err, "only-range", "%s", o->range);
	if (o->task_pid.given && ret == ATW_OK)
		ret = kmap_drain_header(r->drain, err, "only-pid", "%" PRIu64, o->task_pid.u);
	return ret;
}

void recording_find_sites(struct recording *r, struct atw_kernel *k)
{
	for (size_t i = 0; i < r->o->sites.n && r->refused.status == ATW_OK; i++)
		recording_find_site(r, k, r->o->sites.v[i], &r->s->only_site[i],
				    &r->refused);
}

int recording_describe(struct recording *r, struct atw_kernel *k, struct atw_err *err)
{
	static const char *const machines[] = {
		[ATW_X86] = "x86_64", [ATW_ARM64] = "aarch64", [ATW_RISCV] = "riscv64",
	};
	struct symbols_to to = {r, recording_slide_of(r), err};
	const char *release = atw_kernel_release(k);
	int ret = ATW_OK;

	kmap_drain_slide(r->drain, to.slide);
	if (release)
		ret = kmap_drain_header(r->drain, err, "kernel", "%s", release);
	if (ret == ATW_OK)
		ret = kmap_drain_header(r->drain, err, "machine", "%s",
					machines[r->machine.family]) ?:
		      kmap_drain_header(r->drain, err, "slide", "%" PRIx64, to.slide) ?:
		      kmap_drain_header(r->drain, err, "clock", "serial") ?:
		      recording_write_filters(r, err);
	if (ret < 0 || r->o->no_symbols)
		return ret;
	ret = kernel_symbols_each(k, recording_add_function, &to, err);
	kmap_functions_of_sort(&r->functions);
	return ret < 0 ? ret : kmap_drain_functions(r->drain, &r->functions, err);
}

struct recording_pieces {
	struct raw_piece *v;
	size_t n, room;
};

/*
 * Adds the parts of a range of memory that the guest has written. Reading the others
 * through a mapping would make the host allocate pages for them.
 */
static int recording_add_written(int fd, const struct kshare_ram *ram,
				 struct recording_pieces *to)
{
	off_t at = (off_t)ram->offset, end = (off_t)(ram->offset + ram->len), stop;

	while ((at = lseek(fd, at, SEEK_DATA)) >= 0 && at < end) {
		stop = lseek(fd, at, SEEK_HOLE);
		stop = stop < 0 || stop > end ? end : stop;
		if (!array_reserve((void **)&to->v, &to->room, to->n + 1, sizeof(*to->v)))
			return -1;
		to->v[to->n++] = (struct raw_piece){ ram->pa + (uint64_t)at - ram->offset,
						     (uint64_t)(stop - at), (uint64_t)at };
		at = stop;
	}
	return 0;
}

/* The guest's memory, wherever the machine has it, as far as it is written by now. */
static int recording_open_ram(struct recording *r, struct atw_err *err)
{
	struct recording_pieces to = {0};
	int status = ATW_OK;
	char path[32];

	for (uint32_t i = 0; i < r->s->nrams && status == ATW_OK; i++)
		if (recording_add_written(r->ram_fd, &r->s->ram[i], &to) < 0)
			status = atw_err_nomem(err);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", r->ram_fd);
	if (status == ATW_OK)
		status = r->ram ? raw_set_pieces(r->ram, to.v, to.n, err)
				: raw_open_pieces(path, to.v, to.n, &r->ram, err);
	free(to.v);
	return status;
}

/*
 * Minimum besides variables: objects that live at once while a kernel boots, and names of
 * caches.
 */
enum { OBJECTS_LEAST = 1 << 16, NAMES_LEAST = 1 << 16 };

/* Fails early if there is too little room. recording_make_share() describes the parts. */
static void recording_check_room(struct recording *r)
{
	const struct kshare_kernel *k = &r->s->kernel;
	uint64_t objects = k->variables + UINT64_C(1) * OBJECTS_LEAST;
	uint64_t names = k->variable_names + UINT64_C(1) * NAMES_LEAST;
	uint64_t bytes = OBJECTS_PART * objects * sizeof(struct kshare_object);

	if (objects <= r->s->at.max_objects && names <= r->s->at.max_names)
		return;
	bytes = MAX(bytes, NAMES_PART * names);
	atw_err_set(&r->refused, ATW_E_USAGE,
		    "--mem %s: the kernel has %" PRIu32 " variables, which leave no room for objects; use at least --mem %" PRIu64 "M",
		    r->o->mem ? r->o->mem : "512M", k->variables, (bytes >> 20) + 1);
}

/* The kernel when the recorder asks for the first time, and until it is found. */
static int recording_find_kernel(struct recording *r, struct atw_err *err)
{
	const struct atw_kernel_opts ko = { 0 };
	struct atw_kernel *k;
	int ret = atw_kernel_open(r->ram, &ko, &k, err);

	if (ret < 0)
		return ret;
	atw_kernel_close(r->kernel);
	r->kernel = k;
	return ATW_OK;
}

bool recording_answer(struct recording *r)
{
	struct atw_err err = { 0 };
	bool found = false;
	int ret = recording_open_ram(r, &err);

	if (ret == ATW_OK && (!r->introduced || !kernel_renew(r->kernel)))
		ret = recording_find_kernel(r, &err);
	if (ret == ATW_OK && r->introduced) {
		kmap_introduce_memory(r->s, r->kernel, &err);
	} else if (ret == ATW_OK && kmap_introduce(r->s, r->kernel, &err) == ATW_OK) {
		recording_find_sites(r, r->kernel);
		recording_check_room(r);
		r->introduced = found = true;
		atomic_store(&r->s->ready, 1);
	}
	r->no_kernel = err;
	atomic_store(&r->s->answered, atomic_load(&r->s->asked));
	return found;
}

bool recording_has_begun(const struct recording *r)
{
	return r->introduced || (r->o->bare && atomic_load(&r->s->attached));
}

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23   /* since Linux 5.14 */
#endif

void recording_go_ahead(struct recording *r)
{
	const uint64_t piece = UINT64_C(4) << 20;
	uint64_t most = (uint64_t)r->s->at.max_edges * sizeof(struct kshare_edge);
	uint64_t used = r->s->count.edges_peak * sizeof(struct kshare_edge);
	char *edges = (char *)r->s + r->s->at.edges;

	while (r->ahead < used + piece && r->ahead + piece <= most) {
		if (madvise(edges + r->ahead, piece, MADV_POPULATE_WRITE) < 0)
			r->ahead = most;
		else
			r->ahead += piece;
	}
}

/* Closed while QEMU still has it, the guest's memory is QEMU's to free, which takes a while. */
void recording_leave_guest(struct recording *r)
{
	atw_kernel_close(r->kernel);
	atw_source_close(r->ram);
	if (r->ram_fd >= 0)
		close(r->ram_fd);
	r->kernel = NULL;
	r->ram = NULL;
	r->ram_fd = -1;
}

/* ---- summary and errors at its end ---- */

const char *recording_cut_by(const struct recording *r, char *buf, size_t len)
{
	if (r->failed.status < 0)
		return r->failed.text;
	if (r->running)
		return NULL;     /* a request ended it: not cut */
	if (WIFSIGNALED(r->status))
		snprintf(buf, len, "QEMU was killed by signal %d", WTERMSIG(r->status));
	else if (atomic_load(&r->s->failed))
		snprintf(buf, len, "the recorder gave up: %.*s", (int)sizeof(r->s->why), r->s->why);
	else
		return NULL;
	return buf;
}

static void recording_print_sums(const struct recording *r)
{
	const struct kshare_counts *c = &r->s->count;
	struct kmap_drained d = kmap_drain_sums(r->drain);

	print_warning(r->c, "%" PRIu64 " objects, %" PRIu64 " freed; %" PRIu64 " reads and %" PRIu64
		      " writes; %" PRIu64 " lines of %" PRIu64 " bytes", c->objects, c->frees, c->reads,
		      c->writes, d.objects + d.accesses, d.bytes);
	if (!c->objects && (r->o->caches.n || r->o->sites.n) && r->refused.status == ATW_OK)
		print_warning(r->c, "no object matches --cache and --site");
	if (!r->c->verbose)
		return;
	print_warning(r->c, "events: kmalloc %" PRIu64 ", kmem_cache_alloc %" PRIu64 ", kfree %" PRIu64
		      ", kmem_cache_free %" PRIu64 ", mm_page_alloc %" PRIu64 ", mm_page_free %" PRIu64
		      ", alloc_vmap_area %" PRIu64 ", free_vmap_area_noflush %" PRIu64 "; undecodable %" PRIu64, c->event[KSHARE_KMALLOC], c->event[KSHARE_CACHE_ALLOC],
		      c->event[KSHARE_KFREE], c->event[KSHARE_CACHE_FREE], c->event[KSHARE_PAGE_ALLOC],
		      c->event[KSHARE_PAGE_FREE], c->event[KSHARE_VMAP_ALLOC],
		      c->event[KSHARE_VMAP_FREE], c->undecodable);
	print_warning(r->c, "calls: kmem_cache_alloc_bulk %" PRIu64 ", kmem_cache_free_bulk %" PRIu64
		      ", vmalloc %" PRIu64 ", vfree %" PRIu64 ", pcpu_alloc %" PRIu64 ", free_percpu %" PRIu64
		      ", memblock_alloc %" PRIu64 ", memblock_free %" PRIu64 "; without an end %" PRIu64
		      ", unreadable %" PRIu64, c->call[KSHARE_BULK_ALLOC], c->call[KSHARE_BULK_FREE],
		      c->call[KSHARE_VMALLOC], c->call[KSHARE_VFREE], c->call[KSHARE_PERCPU_ALLOC],
		      c->call[KSHARE_PERCPU_FREE], c->call[KSHARE_MEMBLOCK_ALLOC],
		      c->call[KSHARE_MEMBLOCK_FREE], c->endless, c->unread);
	print_warning(r->c, "missed frees: %" PRIu64 "; frees of unknown objects: %" PRIu64
		      "; accesses by the tracing itself, left out: %" PRIu64 "; accesses to no single object: %" PRIu64
		      "; task switches: %" PRIu64, c->overlaps, c->strange_frees, c->induced,
		      d.general, c->switches);
	print_warning(r->c, "peak: %" PRIu64 " objects, room for %" PRIu64 " edges; %" PRIu64
		      " objects written in parts; waited %" PRIu64 " times for the writer",
		      c->objects_peak, c->edges_peak, c->parts, c->waits);
}

int recording_summarize(struct recording *r, const char *cut)
{
	const struct kshare_counts *c = &r->s->count;
	struct atw_err err = { 0 };

	recording_print_sums(r);
	if (r->running && r->failed.status == ATW_OK && r->refused.status == ATW_OK)
		return recording_live_summarize(r);
	if (!r->running && WIFEXITED(r->status) && WEXITSTATUS(r->status) &&
	    !recording_has_begun(r))
		atw_err_set(&err, ATW_E_IO, "%s ended with status %d before anything was recorded",
			    r->machine.argv[0], WEXITSTATUS(r->status));
	else if (!r->running && WIFSIGNALED(r->status) && !recording_has_begun(r))
		atw_err_set(&err, ATW_E_IO, "%s was ended by signal %d before anything was recorded",
			    r->machine.argv[0], WTERMSIG(r->status));
	else if (!r->running && !atomic_load(&r->s->attached))
		atw_err_set(&err, ATW_E_IO, "%s did not load the recorder", r->machine.argv[0]);
	else if (r->failed.status < 0)
		atw_err_set(&err, ATW_E_IO, "%s: %s%s", recording_output(r), r->failed.text,
			    r->mended ? _("; the file ends there and is marked as cut off") : "");
	else if (!r->running && !r->o->bare && !r->introduced)
		atw_err_set(&err, ATW_E_MISSING, "no kernel was found in the guest: %s",
			    r->no_kernel.status < 0 ? r->no_kernel.text : _("none of its code ran"));
	if (r->refused.status < 0)
		return usage_error("kmap record", "%s", r->refused.text);
	if (err.status < 0) {
		print_error(&err);
		return EXIT_SOURCE;
	}
	if (cut) {
		print_incomplete("%s: the file ends there and is marked as cut off", cut);
		return EXIT_PARTIAL;
	}
	if (c->lost_objects || c->lost_accesses)
		print_incomplete("no room for %" PRIu64 " objects and %" PRIu64
				 " accesses, which are not in the file; use a larger --mem",
				 c->lost_objects, c->lost_accesses);
	if (c->lost_calls)
		print_incomplete("no room for %" PRIu64 " calls, which are not in the file; use a larger --mem",
				 c->lost_calls);
	return kshare_lost(c) ? EXIT_PARTIAL : EXIT_COMPLETE;
}
