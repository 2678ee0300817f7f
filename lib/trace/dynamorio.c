// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dynamorio.c - lines of the view tool of drmemtrace and of DynamoRIO's memtrace samples.
 *
 * The view tool, before and since version 10:
 *
 *	   173370: T1774669 read         8 byte(s) @ 0x00007f8881e37c70 by PC 0x0000000000402680
 *	          86       62:      296231 ifetch       2 byte(s) @ 0x0000000000401026 0f 05   syscall
 *	          86       62:      296231 <marker: tid 296231 on core 10>
 *
 * memtrace_simple and memtrace_x86; the head of the file selects the form:
 *
 *	Format: <data address>: <data size>, <(r)ead/(w)rite/opcode>
 *	0x7fff8ee72388:  8, w
 *	Format: <instr address>,<(r)ead/(w)rite>,<data size>,<data address>
 *	0x00007f1f1d5e7a90,r,8,0x00007fff51b6a5e0
 */
#include "trace/parsers.h"
#include "trace/words.h"

static const char dynamorio_bytes[] = " byte(s) @ 0x";

bool dynamorio_detect(const struct atw_blob *line, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (words_find(line[i], dynamorio_bytes) ||
		    words_begins(line[i], "Format: <data address>") ||
		    words_begins(line[i], "Format: <instr address>") ||
		    (words_find(line[i], " <marker: ") && words_find(line[i], ": ")))
			return true;
	return false;
}

/* The last word before `end`; *end becomes its start. */
static struct atw_blob dynamorio_last(const char *start, const char **end)
{
	const char *to = *end, *from;

	while (to > start && words_blank(to[-1]))
		to--;
	for (from = to; from > start && !words_blank(from[-1]);)
		from--;
	*end = from;
	return (struct atw_blob){ from, (size_t)(to - from) };
}

static int dynamorio_tid(const struct trace_parser *p, struct atw_blob word, uint32_t *ret,
			 struct atw_err *err)
{
	const char *s = word.data;
	/* A traced window is before the thread: W0.T296231. */
	const char *t = word.len ? memrchr(s, 'T', word.len) : NULL;

	if (t) {
		word.len -= (size_t)(t + 1 - s);
		word.data = t + 1;
	}
	return words_to_u32(p, word, "the number of a thread", ret, err);
}

/* "<marker: tid 296231 on core 10>" */
static int dynamorio_marker(struct trace_parser *p, struct atw_blob line,
			    struct atw_err *err)
{
	const char *at = words_find(line, "<marker: tid "), *end;
	struct atw_blob tid, on, core, cpu;
	uint32_t t = 0, c = 0;
	int r;

	if (!at)
		return ATW_END;
	end = (const char *)line.data + line.len;
	at += strlen("<marker: tid ");
	tid = words_next(&at, end);
	on = words_next(&at, end);
	core = words_next(&at, end);
	cpu = words_next(&at, end);
	if (!words_is(on, "on") || !words_is(core, "core") || !cpu.len)
		return ATW_END;
	if (((const char *)cpu.data)[cpu.len - 1] == '>')
		cpu.len--;
	/* -1: unknown. */
	if (words_begins(cpu, "-")) {
		p->have_cpu = false;
		return ATW_END;
	}
	r = words_to_u32(p, tid, "the number of a thread", &t, err);
	if (r == ATW_OK)
		r = words_to_u32(p, cpu, "the number of a CPU", &c, err);
	if (r < 0)
		return r;
	p->tid = t;
	p->cpu = c;
	p->have_cpu = true;
	return ATW_END;
}

static enum trace_kind dynamorio_kind(struct atw_blob word)
{
	if (words_is(word, "read") || words_is(word, "r"))
		return TRACE_KIND_READ;
	if (words_is(word, "write") || words_is(word, "w"))
		return TRACE_KIND_WRITE;
	return words_is(word, "ifetch") ? TRACE_KIND_FETCH : TRACE_KIND_UNKNOWN;
}

/* `at` is where " byte(s) @ 0x" is. */
static int dynamorio_view(struct trace_parser *p, struct atw_blob line, const char *at,
			  struct trace_ref *ret, struct atw_err *err)
{
	const char *start = line.data, *end = start + line.len, *before = at;
	struct atw_blob size = dynamorio_last(start, &before);
	struct atw_blob kind = dynamorio_last(start, &before);
	struct atw_blob tid = dynamorio_last(start, &before);
	const char *pc, *next = at + strlen(dynamorio_bytes);
	int r = words_to_u32(p, size, "a size", &ret->size, err);

	if (r == ATW_OK)
		r = words_to_hex(p, words_next(&next, end), "an address", &ret->address, err);
	/* Cache flushes and prefetches are no references of the program. */
	ret->kind = dynamorio_kind(kind);
	if (r == ATW_OK && !ret->kind)
		return ATW_END;
	if (r == ATW_OK)
		r = dynamorio_tid(p, tid, &ret->tid, err);
	if (r < 0)
		return r;
	ret->has = TRACE_HAS_ADDRESS | TRACE_HAS_SIZE | TRACE_HAS_TID;
	if (p->have_cpu && p->tid == ret->tid) {
		ret->cpu = p->cpu;
		ret->has |= TRACE_HAS_CPU;
	}
	pc = words_find(line, " by PC 0x");
	if (ret->kind == TRACE_KIND_FETCH) {
		ret->ip = ret->address;
		ret->has |= TRACE_HAS_IP;
	} else if (pc) {
		next = pc + strlen(" by PC 0x");
		r = words_to_hex(p, words_next(&next, end), "an address", &ret->ip, err);
		ret->has |= TRACE_HAS_IP;
	}
	return r;
}

/* Up to the separator, without blanks; *p is advanced behind it. */
static struct atw_blob dynamorio_field(const char **p, const char *end, char separator)
{
	const char *from = *p, *to = *p < end ? memchr(*p, separator, (size_t)(end - *p)) : NULL;

	*p = to ? to + 1 : end;
	to = to ? to : end;
	return words_trim((struct atw_blob){ from, (size_t)(to - from) });
}

/* "0xADDRESS: SIZE, r": of an instruction, its opcode instead of r or w. */
static int dynamorio_simple(struct trace_parser *p, struct atw_blob line,
			    struct trace_ref *ret, struct atw_err *err)
{
	const char *at = line.data, *end = at + line.len;
	struct atw_blob address = dynamorio_field(&at, end, ':');
	struct atw_blob size = dynamorio_field(&at, end, ',');
	struct atw_blob kind = dynamorio_field(&at, end, ',');
	int r = words_to_hex(p, address, "an address", &ret->address, err);

	if (r == ATW_OK)
		r = words_to_u32(p, size, "a size", &ret->size, err);
	if (r == ATW_OK && !kind.len)
		r = words_bad(p, line, "an address, a size and a kind", err);
	if (r < 0)
		return r;
	ret->has = TRACE_HAS_ADDRESS | TRACE_HAS_SIZE;
	ret->kind = dynamorio_kind(kind);
	if (!ret->kind) {
		ret->kind = TRACE_KIND_FETCH;
		ret->ip = ret->address;
		ret->has |= TRACE_HAS_IP;
	}
	return ATW_OK;
}

/* "0xIP,r,SIZE,0xADDRESS" */
static int dynamorio_x86(struct trace_parser *p, struct atw_blob line,
			 struct trace_ref *ret, struct atw_err *err)
{
	const char *at = line.data, *end = at + line.len;
	struct atw_blob ip = dynamorio_field(&at, end, ',');
	struct atw_blob kind = dynamorio_field(&at, end, ',');
	struct atw_blob size = dynamorio_field(&at, end, ',');
	struct atw_blob address = dynamorio_field(&at, end, ',');
	int r = words_to_hex(p, ip, "an address", &ret->ip, err);

	ret->kind = dynamorio_kind(kind);
	if (r == ATW_OK && !ret->kind)
		r = words_bad(p, kind, "r or w", err);
	if (r == ATW_OK)
		r = words_to_u32(p, size, "a size", &ret->size, err);
	if (r == ATW_OK)
		r = words_to_hex(p, address, "an address", &ret->address, err);
	if (r == ATW_OK)
		ret->has = TRACE_HAS_ADDRESS | TRACE_HAS_SIZE | TRACE_HAS_IP;
	return r;
}

int dynamorio_parse(struct trace_parser *p, struct atw_blob line, struct trace_ref *ret,
		    struct atw_err *err)
{
	const char *at = words_find(line, dynamorio_bytes);

	if (at)
		return dynamorio_view(p, line, at, ret, err);
	if (words_find(line, "<marker: "))
		return dynamorio_marker(p, line, err);
	if (!words_begins(line, "0x"))
		return ATW_END;
	return words_find(line, ":") ? dynamorio_simple(p, line, ret, err)
				     : dynamorio_x86(p, line, ret, err);
}
