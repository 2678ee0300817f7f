/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kmap.h - which code touched which kernel object, as text: atwalk-kmap(5), the
 * output of Memorizer in all the forms it was published in, and what sampling and
 * recordings that were cut off add to it. Pure.
 *
 * A line without a blank in front is an object, by the number of its fields:
 *	V1  8: alloc_ip,pid,va,size,alloc_time,free_time,free_ip,task
 *	V2  9: ... free_ip,type,task
 *	V3 10: ... free_ip,type,task,cache         (uSCOPE's .cmap, and compressed)
 *	V4 11: ... free_ip,type,task,cache,new_type
 * and one or three fields are an edge of the call graph (V3). A line with blanks in
 * front is an access to the object before it:
 *	V1 ip,pid,writes,reads   V2, V3 ip,writes,reads   V4 ip,writes,reads,pid
 *	compressed ip,writes,reads,frees           V3, V4 from:ip[,caller:ip],writes,reads
 * Commas in a task's name stay in it: fields are counted from both ends.
 */
#ifndef FORMAT_KMAP_H
#define FORMAT_KMAP_H

#include <atwalk/base.h>

enum kmap_version {
	KMAP_UNKNOWN, KMAP_V1, KMAP_V2, KMAP_V3, KMAP_V4,
	KMAP_COMPRESSED,         /* V3, one object for each place that allocates */
};

enum {
	KMAP_LINE = 4096,        /* bytes of a line, with its newline */
	KMAP_NAMES = 1024,
};

/* What Memorizer writes where an address should be. */
enum {
	KMAP_FREE_NEVER = 0,             /* free_ip: not freed, or nobody saw it */
	KMAP_FREE_LOST = 0xDEADBEEF,     /* another object came over it: a free was missed */
	KMAP_FREE_NESTED = 0xFEDBEEF,    /* it holds an object of another allocator */
	KMAP_ALLOC_EARLY = 0xFEEDBEEF,   /* alloc_ip: touched before it was handed out */
};

enum {
	KMAP_HAS_TYPE = 1, KMAP_HAS_CACHE = 2, KMAP_HAS_NEW_TYPE = 4,
	/* of an access */
	KMAP_HAS_PID = 8, KMAP_HAS_FREES = 16, KMAP_HAS_CALLER = 32, KMAP_IS_FROM = 64,
	KMAP_HAS_LINE = 128,
};

/* Names are bytes, not ended; they lie in the reader until its next line. */
struct kmap_object {
	uint64_t alloc_ip, va, size;
	uint64_t alloc_time, free_time;  /* jiffies in V1, else a counter of events; free 0: none */
	uint64_t free_ip;
	int64_t pid;
	uint32_t has;
	struct atw_blob type, task, cache, new_type;
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

enum kmap_kind {
	KMAP_OBJECT, KMAP_ACCESS, KMAP_LINE_HEAT, KMAP_CALL, KMAP_COMMENT, KMAP_BLANK,
	KMAP_HEADER,                     /* "# atwalk-kmap KEY VALUE" */
	KMAP_END,                        /* "# atwalk-kmap end objects N accesses M lost L" */
};

struct kmap_record {
	enum kmap_kind kind;
	union {
		struct kmap_object object;
		struct kmap_access access;
		struct kmap_call call;
		struct { struct atw_blob key, value; } header;
		struct { uint64_t objects, accesses, lost; } end;
		struct atw_blob comment;
	} u;
};

#endif
