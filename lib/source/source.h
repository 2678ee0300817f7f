/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * source.h - readable physical memory, wherever it lies.
 *
 * A source answers three things: the bytes at a physical address, which
 * addresses it has, and side facts its container carries. A hole is an
 * answer, never an error and never zeroes. Sources are opened read-only.
 *
 * A source is read by one thread at a time: it keeps the pages that it unpacked last.
 * Threads that read at once open the file once each. Where two meet in the pages
 * of one source, the second gets ATW_E_USAGE. Any number of kernels and spaces may
 * be read from one source by the same thread.
 */
#pragma once

#include <atwalk/base.h>

enum atw_extent_kind {
	ATW_DATA,                /* the source has these bytes */
	ATW_ZERO,                /* the source says they are all zero */
	ATW_EXCLUDED,            /* memory existed and was filtered out */
	ATW_NONE,                /* the source has no memory here */
};

struct atw_extent {
	atw_pa start;
	uint64_t len;            /* bytes; start + len may be 2^64, as 0 */
	enum atw_extent_kind kind;
};

/* What the user asked to open, taken apart. All borrowed for the call. */
struct atw_source_spec {
	const char *path;        /* the first file */
	const char *const *parts;/* further files of a split set */
	size_t nparts;
	bool has_load;
	uint64_t load;           /* raw: physical address of the first byte */
	const char *snapshot;    /* qcow2: name or number of one; or NULL */
	const char *layout;      /* qemu, kvm: where the process has the RAM; or NULL */
	const char *remember;    /* folder for what is found of a running kernel: see
				  * host/runtime_folder.h; NULL: nothing is kept */
};

/* One of several places to read. */
struct atw_piece {
	atw_pa pa;
	void *buf;
	size_t len;              /* bytes */
	ssize_t got;             /* out: as read() returns it */
};

/* Contiguous virtual and physical addresses. */
struct atw_direct {
	uint64_t va, pa, size;
};

/* Structs of a running kernel that are linked; see the op `list`. */
struct atw_chain {
	uint64_t va;             /* of the first */
	uint32_t len;            /* of each */
	uint32_t next;           /* where in a struct the pointer to the next lies */
	uint32_t back;           /* from a struct's start to where that pointer leads */
	size_t max;
	uint64_t *at;            /* out: the address of each */
	void *buf;               /* out: their bytes, max * len */
};

struct atw_source;

struct atw_source_ops {
	const char *name;        /* as in FORMAT:PATH */
	const char *help;        /* a few words for `atwalk info` and --help */

	/* 0..100: how surely these first bytes (up to 64 KiB) are ours. */
	int (*probe)(struct atw_blob head, const char *path);
	/* Fills s->impl. After a failure close() is called too. */
	int (*open)(struct atw_source *s, const struct atw_source_spec *spec,
		    struct atw_err *err);
	void (*close)(struct atw_source *s);

	/*
	 * Copy up to `len` bytes from `pa` up to the first hole and return
	 * how many; 0 when pa itself is in a hole; < 0 an atw_status.
	 */
	ssize_t (*read)(struct atw_source *s, atw_pa pa, void *buf, size_t len,
			struct atw_err *err);
	/*
	 * Optional. Like read, but lends a pointer that stays good until
	 * close(). Sources that cannot keep that promise leave it NULL.
	 */
	ssize_t (*peek)(struct atw_source *s, atw_pa pa, size_t len,
			const void **ret, struct atw_err *err);
	/*
	 * The extent that holds pa, from pa on. Adjacent extents of one kind
	 * may be returned piecewise. ATW_END when the source has only NONE
	 * from pa to the top.
	 */
	int (*extent)(struct atw_source *s, atw_pa pa, struct atw_extent *ret);
	/*
	 * Side data of the container, borrowed until close(); ATW_E_MISSING
	 * when it has none. Numbers are little-endian, texts not terminated:
	 *   "vmcoreinfo", "machine" ("x86_64"), "release"   text
	 *   "cpus", "cpu0.cr3" (.cr0 .cr2 .cr4)              8 bytes
	 *   "cpu0.prstatus"                                  the note's bytes
	 *   "stored"                  8 bytes: size of the file or files
	 *   "truncated", "damaged"    what is wrong with the file, a sentence
	 *   "image.start", "image.len" 8 bytes: the kernel's image, physical (live)
	 *   "btf"                     the kernel's types (live)
	 *   "btf.index"               where each of them lies in their section, 4 bytes
	 *   "percpu"                  8 bytes per CPU: offsets of its data (live)
	 *   "init_task"               8 bytes: the first task's virtual address (live,
	 *                             extracts)
	 *   "root", "ignore", "paging"        of the kernel's page tables: where, bits
	 *                             that are no address, the mode (extracts)
	 *   "way"                     "kcore", "bpf" (live)
	 *   "layout"                  of a guest, by its monitor: see atw_source_spec
	 *   "remark"                  a sentence about how it was opened, no defect
	 *   "host"                    text: SOURCE of the machine that a guest runs on, if
	 *                             that is not this one
	 */
	int (*fact)(struct atw_source *s, const char *key, struct atw_blob *ret);
	/* A line for `atwalk info`, e.g. "kdump-compressed v6, zstd, split 1/3". */
	void (*describe)(struct atw_source *s, char *buf, size_t len);
	/* The memory is in use by a running machine or guest: it changes while it is read. */
	bool live;
	/*
	 * It is that of the kernel that runs atwalk: /proc and /sys are about the same
	 * processes and devices, and it must not be scanned as a whole.
	 */
	bool here;
	/*
	 * Optional, for sources where each read has a cost of its own. Reads all pieces
	 * in this order, so that the last one shows a moment after the first.
	 */
	void (*read_many)(struct atw_source *s, struct atw_piece *piece, size_t n,
			  struct atw_err *err);
	/*
	 * Optional, both or neither, for sources that read through buffers of their own:
	 * returns one of these, page-aligned, which read_many() fills without a copy.
	 * NULL: none is left. buffer_close() returns whether `buf` was one of them.
	 */
	void *(*buffer_open)(struct atw_source *s, size_t len);
	bool (*buffer_close)(struct atw_source *s, void *buf);
	/*
	 * Optional, of a running kernel: reports that the kernel maps these bytes at
	 * `va` as well. Called before they are read, because its direct map may lack its
	 * image.
	 */
	void (*mapped)(struct atw_source *s, atw_pa pa, atw_va va, uint64_t len);
	/*
	 * Optional, of a running kernel: virtual address of the mm_struct of process
	 * `pid`, a number of this PID namespace. ATW_E_NONE: there is no such process, or
	 * it has no address space of its own; ATW_END: processes are to be found as in a
	 * dump.
	 */
	int (*mm_of)(struct atw_source *s, uint64_t pid, uint64_t *ret,
		     struct atw_err *err);
	/*
	 * Optional, of a running guest that is read from outside: the process that runs
	 * it, a number of this PID namespace, and where that one has the byte at `pa`.
	 * ATW_E_MISSING: nowhere; *pid is set nevertheless.
	 */
	int (*outside)(struct atw_source *s, atw_pa pa, uint32_t *pid, uint64_t *va);
	/*
	 * Optional, the reverse: the guest's physical address of the byte that the process
	 * has at `va`, and for how many bytes from there on it holds. ATW_E_MISSING: it is
	 * not RAM of the guest.
	 */
	int (*inside)(struct atw_source *s, uint64_t va, atw_pa *ret, uint64_t *ret_len);
	/*
	 * Optional, of a running kernel: the range of its direct map that `va` is in, and
	 * the physical address of its start. false: it is not in the direct map.
	 */
	bool (*direct)(struct atw_source *s, uint64_t va, struct atw_direct *ret);
	/*
	 * Optional, likewise: reads structs of a list that the kernel frees by RCU, all
	 * at one moment. Returns how many; 0: read them one by one.
	 */
	size_t (*list)(struct atw_source *s, const struct atw_chain *l);
	/*
	 * Optional, both or neither, for sources that unpack pages: `n` threads do it
	 * beside the caller's from here on, if they can be started; and these pages,
	 * by physical address, will be read soon. Both are for speed alone. ahead()
	 * returns whether there are such threads.
	 */
	void (*threads)(struct atw_source *s, unsigned n);
	bool (*ahead)(struct atw_source *s, const uint64_t *pa, size_t n);
};

struct atw_source {
	const struct atw_source_ops *ops;
	void *impl;
	struct atw_source *below;    /* what a wrapper wraps; it owns it */
};

/* The kinds of source this build knows, by number; NULL past the end. */
const struct atw_source_ops *atw_source_kind(size_t i);

/*
 * Open a source from what a person types: PATH, FORMAT:PATH, or
 * raw:PATH@ADDRESS. `parts` are the further files of a split set.
 */
int atw_source_open(const char *text, const char *const *parts,
		    size_t nparts, struct atw_source **ret,
		    struct atw_err *err);
/* Wrapper: what was read is reported. */
typedef void atw_trace_fn(void *arg, atw_pa pa, size_t len, ssize_t result);
int atw_source_trace(struct atw_source *below, atw_trace_fn *fn,
		     void *arg, struct atw_source **ret,
		     struct atw_err *err);
/* Closes what it wraps as well. NULL is fine. */
void atw_source_close(struct atw_source *s);

/* The operations, with holes inside a range handled: see source.h's ops. */
ssize_t atw_read(struct atw_source *s, atw_pa pa, void *buf, size_t len,
		 struct atw_err *err);
/*
 * Several places in this order, one after the other; each piece's `got` is as
 * atw_read() returns it, and `err` is about the last that is negative.
 */
void atw_read_many(struct atw_source *s, struct atw_piece *piece, size_t n,
		   struct atw_err *err);
/*
 * Memory for bytes of this source, where they come cheapest: its own, or of
 * malloc(). NULL: out of memory. To be closed before the source; NULL is fine.
 */
void *atw_buffer_open(struct atw_source *s, size_t len);
void atw_buffer_close(struct atw_source *s, void *buf);
void atw_source_mapped(struct atw_source *s, atw_pa pa, atw_va va, uint64_t len);
int atw_extent_at(struct atw_source *s, atw_pa pa, struct atw_extent *ret);
int atw_fact(struct atw_source *s, const char *key, struct atw_blob *ret);
/* Is it a running machine's memory, wrapped or not? */
bool atw_source_is_live(const struct atw_source *s);
bool atw_source_is_here(const struct atw_source *s);
/* The op `mm_of`; ATW_END if the source has none. */
int atw_source_mm_of(struct atw_source *s, uint64_t pid, uint64_t *ret,
		     struct atw_err *err);
/* The op `outside`, also of a source that is wrapped; ATW_E_UNSUPPORTED if it has none. */
int atw_source_outside(struct atw_source *s, atw_pa pa, uint32_t *pid, uint64_t *va);
/* The op `inside`, likewise. */
int atw_source_inside(struct atw_source *s, uint64_t va, atw_pa *ret, uint64_t *ret_len);
/* The ops `direct` and `list`, where the source has them. */
bool atw_source_direct(struct atw_source *s, uint64_t va, struct atw_direct *ret);
size_t atw_source_list(struct atw_source *s, const struct atw_chain *l);
/* The ops `threads` and `ahead`, where the source has them. */
void atw_source_threads(struct atw_source *s, unsigned n);
bool atw_source_ahead(struct atw_source *s, const uint64_t *pa, size_t n);
/* For the op `fact`: data of a container by its key; those of 0 bytes are missing. */
struct source_fact {
	const char *key;
	const void *data;
	size_t len;
};
int source_fact_of(const struct source_fact *v, size_t n, const char *key, struct atw_blob *ret);
/* A fact that is a little-endian number of 1 to 8 bytes. */
int atw_fact_u64(struct atw_source *s, const char *key, uint64_t *ret);

/* ---- kinds.c: declares the operations of every kind in sources.def ---- */

/* qemu.c: the RAM of a running guest, which it takes over; also if it fails. */
struct vmm;
int source_of_guest(struct vmm *v, struct atw_source **ret, struct atw_err *err);
/* That RAM, also below a source that wraps it; NULL: of another source. */
const struct vmm *source_guest(const struct atw_source *s);
/* Exchanges it for other RAM of the same guest. */
void source_guest_swap(struct atw_source *s, struct vmm *v);

#define SOURCE(name) extern const struct atw_source_ops source_##name;
#include "source/sources.def"
#undef SOURCE
