/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * References to a few lines, compared with a model that looks at every pair of references.
 * The first byte is the size of lines, then 6 bytes a reference.
 */
#include "trace/lines.h"
#include "fuzz.h"

enum { REFS = 48, STEP = 6, THREADS = 8 };

static bool meets(const struct trace_ref *r, uint64_t first, uint64_t last)
{
	return r->address <= last && r->address + (r->size ? r->size : 1) - 1 >= first;
}

static bool writes(const struct trace_ref *r)
{
	return r->kind == TRACE_KIND_WRITE || r->kind == TRACE_KIND_BOTH;
}

/* Does another thread touch the byte, and is it written? */
static bool contested(const struct trace_ref *r, size_t n, uint64_t at)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n; k++)
			if (meets(&r[i], at, at) && meets(&r[k], at, at) &&
			    r[i].tid != r[k].tid && writes(&r[i]))
				return true;
	return false;
}

/* References to first..last of all threads but the one that has most. */
static uint64_t others(const struct trace_ref *r, size_t n, uint64_t first, uint64_t last)
{
	uint64_t all = 0, most = 0;

	for (uint32_t t = 0; t < THREADS; t++) {
		uint64_t refs = 0;

		for (size_t i = 0; i < n; i++)
			refs += r[i].tid == t && meets(&r[i], first, last);
		all += refs;
		most = refs > most ? refs : most;
	}
	return all - most;
}

/* By definition, of references that all have threads. */
static enum lines_verdict model(const struct trace_ref *r, size_t n, uint64_t first,
				uint64_t last)
{
	bool written = false, unknown = false, any = false;
	uint64_t shared = 0, other = others(r, n, first, last);

	for (size_t i = 0; i < n; i++) {
		written |= meets(&r[i], first, last) && writes(&r[i]);
		unknown |= meets(&r[i], first, last) && r[i].kind == TRACE_KIND_UNKNOWN;
	}
	for (uint64_t word = first; word <= last; word += LINES_MARK) {
		uint64_t most = 0;

		for (uint64_t at = word; at < word + LINES_MARK; at++) {
			uint64_t here = contested(r, n, at) ? others(r, n, at, at) : 0;

			any |= here;
			most = here > most ? here : most;
		}
		shared += most;
	}
	if (any && 10 * shared >= other)
		return LINES_TRUE_SHARED;
	if (!other)
		return LINES_PRIVATE;
	if (unknown)
		return LINES_UNDECIDED;
	return written ? LINES_FALSE_SHARED : LINES_READ_SHARED;
}

static void compare(struct lines *l, const struct trace_ref *r, size_t n)
{
	struct lines_line line;
	struct lines_part part;
	uint64_t refs, last;

	for (size_t i = 0; lines_get(l, i, &line); i++) {
		uint64_t parts = 0;
		enum lines_verdict want;

		last = line.address + lines_size(l) - 1;
		want = model(r, n, line.address, last);
		refs = 0;
		for (size_t k = 0; k < n; k++)
			refs += meets(&r[k], line.address, last);
		FUZZ_CHECK(refs == line.counts.refs, "references are missing");
		FUZZ_CHECK(want == line.verdict ||
				   (line.verdict == LINES_HOT_COLD &&
				    (want == LINES_PRIVATE || want == LINES_READ_SHARED)),
			   "another verdict");
		for (size_t k = 0; lines_part(l, k, &part); k++) {
			FUZZ_CHECK(part.size && part.offset + part.size <= lines_size(l),
				   "a member outside of its line");
			parts += part.counts.refs;
		}
		FUZZ_CHECK(parts == refs, "members do not add up");
		FUZZ_CHECK(strlen(line.touched) == lines_size(l) / LINES_MARK, "marks");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct trace_ref ref[REFS];
	struct lines *l;
	size_t n = 0;

	if (!len ||
	    lines_open(&(struct lines_opts){.line = UINT32_C(16) << data[0] % 5}, &l, NULL) < 0)
		return 0;
	for (size_t at = 1; at + STEP <= len && n < REFS; at += STEP) {
		const uint8_t *b = data + at;

		ref[n] = (struct trace_ref){
			.has = TRACE_HAS_ADDRESS | TRACE_HAS_SIZE | TRACE_HAS_TID | TRACE_HAS_IP,
			.kind = b[0] % 5,
			.address = 0x7000 + (b[1] | (uint64_t)b[2] << 8) % 8192,
			.size = b[3],
			.tid = b[4] % THREADS,
			.ip = b[5] % 4,
			.count = 1,
		};
		if (lines_add(l, &ref[n++], NULL) < 0)
			break;
	}
	if (lines_sort(l, NULL) == ATW_OK)
		compare(l, ref, n);
	lines_close(l);
	return 0;
}
