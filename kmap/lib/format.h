/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * format.h - which code touched which kernel object, as text: atwalk-kmap(5), the
 * output of Memorizer in all the forms it was published in, and what sampling and
 * recordings that were cut off add to it. Pure.
 *
 * A line is an object, by the number of its fields:
 *	V1  8: alloc_ip,pid,va,size,alloc_time,free_time,free_ip,task
 *	V2  9: ... free_ip,type,task
 *	V3 10: ... free_ip,type,task,cache         (uSCOPE's .cmap, and compressed)
 *	V4 11: ... free_ip,type,task,cache,new_type
 * and one or three fields are an edge of the call graph (V3). A line with blanks in
 * front is an access to the object before it, if it has no more than 5 fields:
 *	V1 ip,pid,writes,reads   V2, V3 ip,writes,reads   V4 ip,writes,reads,pid
 *	compressed ip,writes,reads,frees           V3 from:ip[,caller:ip],writes,reads
 *	V4 from:ip,writes,reads, and our own recordings as V3
 * Commas in a task's name stay in it: fields are counted from both ends.
 *
 * All of kmap/lib reads or writes this format: what nearly all of it uses is included here.
 */
#pragma once

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <atwalk/base.h>
#include "base/cleanup.h"

enum kmap_version {
	KMAP_UNKNOWN, KMAP_V1, KMAP_V2, KMAP_V3, KMAP_V4,
	KMAP_COMPRESSED,         /* V3, one object for each place that allocates */
	KMAP_VERSIONS,
};

enum {
	KMAP_LINE = 4096,        /* bytes of a line, with its newline */
	KMAP_LOOK = 16384,       /* so far ahead are lines compared that could be of two versions */
	KMAP_COMM = 15,          /* no task's name is longer */
	/* What is known of a file besides its version. */
	KMAP_OURS = 1,           /* it has "# atwalk-kmap" lines */
	KMAP_DECLARED = 2,       /* it has its version: lines are not checked */
};

/* What Memorizer writes where an address should be. */
enum {
	KMAP_FREE_NEVER = 0,             /* free_ip: not freed, or the free not seen */
	KMAP_FREE_LOST = 0xDEADBEEF,     /* another object came over it: a free was missed */
	KMAP_FREE_NESTED = 0xFEDBEEF,    /* it holds an object of another allocator */
	KMAP_ALLOC_EARLY = 0xFEEDBEEF,   /* alloc_ip: touched before it was handed out */
};

enum {
	KMAP_HAS_TYPE = 1, KMAP_HAS_CACHE = 2, KMAP_HAS_NEW_TYPE = 4,
	KMAP_HAS_NAME = 256,     /* compressed: a word stands for alloc_ip */
	/* of an access */
	KMAP_HAS_PID = 8, KMAP_HAS_FREES = 16, KMAP_HAS_CALLER = 32, KMAP_IS_FROM = 64,
	KMAP_HAS_LINE = 128,
};

/* Names are bytes, not ended; they lie in the text that was read. */
struct kmap_object {
	uint64_t alloc_ip, va, size;
	uint64_t alloc_time, free_time;  /* jiffies in V1, else a counter of events; free 0: none */
	uint64_t free_ip;
	int64_t pid;
	uint32_t has;
	struct atw_blob type, task, cache, new_type;     /* data NULL: "(null)" */
	struct atw_blob name;            /* "THREAD_STACK"; alloc_ip is 0 then */
};

struct kmap_access {
	uint64_t ip, caller;
	uint64_t writes, reads, frees;
	int64_t pid;                     /* -1: outside of any task */
	/*
	 * "# line N,writes,reads" behind an object's accesses: what the bytes
	 * from 64 * N on of it got, of all code together. ip is not set.
	 */
	uint64_t line;
	uint32_t has;
};

struct kmap_call {
	uint64_t from, to, count;
};

enum kmap_mark {
	KMAP_BEFORE = 1,                 /* it was there before the recording began */
	KMAP_WATCHED = 2,                /* of a sample: for a while accesses were looked for */
};

enum kmap_kind {
	KMAP_OBJECT, KMAP_ACCESS, KMAP_LINE_HEAT,
	KMAP_USED,                       /* "# used FIRST,LAST": when the object was accessed */
	KMAP_TASK,                       /* "# task PID NAME": what it is called from here on */
	KMAP_MARK,                       /* "# mark WORD...": what else is known of the object */
	KMAP_CALL, KMAP_COMMENT, KMAP_BLANK,
	KMAP_HEADER,                     /* "# atwalk-kmap KEY VALUE"; the first's key is "version" */
	KMAP_END,                        /* "# atwalk-kmap end objects N accesses M lost L" */
};

struct kmap_record {
	enum kmap_kind kind;
	union {
		struct kmap_object object;
		struct kmap_access access;       /* LINE_HEAT, too */
		struct { uint64_t first, last; } used;   /* first <= last */
		uint32_t marks;
		struct { int64_t pid; struct atw_blob name; } task;      /* not known: no bytes */
		struct kmap_call call;
		struct { struct atw_blob key, value; } header;
		/* lines of this file; accesses that were lost */
		struct { uint64_t objects, accesses, lost; } end;
		struct atw_blob comment;         /* without the # */
	} u;
};

/* What must be known of the lines before. */
struct kmap_reader {
	uint64_t line;                   /* number of the last one, from 1 */
	enum kmap_version version;       /* KMAP_UNKNOWN before the first object */
	bool ours;                       /* "# atwalk-kmap 1" came first */
	bool declared;                   /* that, or what the compressed form begins with */
	bool sure;                       /* V3: it is not compressed, or is */
	bool started, ended, skip;
	bool in_object;
	bool passing;                    /* the object could not be read: nor its accesses */
	uint64_t faults;                 /* lines that could not be read */
	uint64_t objects, accesses, calls;
	uint64_t said_objects, said_accesses, lost;      /* by the end line */
};

/* "version 4", as people read it. */
const char *kmap_version_name(enum kmap_version v);
/* 0..100, as in atw_source_ops: is it one at all? */
int kmap_probe(struct atw_blob head);

void kmap_init(struct kmap_reader *k);
/*
 * Parse the next line in buf[*pos] and advance *pos behind it. ATW_END: no whole line is
 * left; call again with more data behind the rest. `last`: there is no more data. After
 * a failure the line is skipped and reading can go on, except after ATW_E_UNSUPPORTED:
 * the line is of another version than those before, so that its fields cannot be
 * trusted; the error begins with the number of the line. A buffer of KMAP_LOOK +
 * KMAP_LINE is always enough. Blank lines are not returned.
 */
int kmap_next(struct kmap_reader *k, struct atw_blob buf, bool last, size_t *pos,
	      struct kmap_record *ret, struct atw_err *err);
/* After the last line: is it whole? ATW_E_DAMAGED: it says what is missing. */
int kmap_finish(const struct kmap_reader *k, struct atw_err *err);

/* One line, without its newline, by itself. `flags`: KMAP_OURS, KMAP_DECLARED. */
int kmap_parse(struct atw_blob line, enum kmap_version version, unsigned flags,
	       struct kmap_record *ret, struct atw_err *err);
/* Is it the comment that the compressed form begins with? */
bool kmap_is_compressed_comment(const struct kmap_record *rec);
/* Which versions an object's line can be of: bits 1 << KMAP_V1 and so on. */
unsigned kmap_versions_of(struct atw_blob line);

/* A cache's name without its control group: "dentry(123:cg)" is dentry. */
struct atw_blob kmap_plain_cache(struct atw_blob cache);

/*
 * The line of a record in that version, with its newline. How many bytes, 0: that
 * version has no such line, or there is no room for it.
 */
size_t kmap_write(const struct kmap_record *rec, enum kmap_version version, char *buf,
		  size_t len);
/*
 * What of it that version cannot hold, as bits; kmap_loss_name() of each is what
 * people call it. Names change where they must: see atwalk-kmap(5).
 */
enum {
	KMAP_LOSES_TYPE = 1, KMAP_LOSES_CACHE = 2, KMAP_LOSES_NEW_TYPE = 4,
	KMAP_LOSES_PID = 8, KMAP_LOSES_FREES = 16, KMAP_LOSES_CALLER = 32,
	KMAP_LOSES_HEAT = 64, KMAP_LOSES_CALL = 128, KMAP_LOSES_HEADER = 256,
	KMAP_LOSES_COMMENT = 512, KMAP_LOSES_NAME = 1024, KMAP_LOSES_TASK = 2048,
	KMAP_LOSES_FROM = 4096, KMAP_LOSES_USED = 8192, KMAP_LOSES_SYMBOL = 16384,
	KMAP_LOSES_SAMPLE = 32768, KMAP_LOSES_MARK = 65536,
	KMAP_LOSES = 17,                 /* bits */
};
uint32_t kmap_loses(const struct kmap_record *rec, enum kmap_version version);
const char *kmap_loss_name(unsigned bit);
