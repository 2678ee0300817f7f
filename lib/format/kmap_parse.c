/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kmap_parse.c - one line of atwalk-kmap(5). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/num.h"
#include "base/digits.h"
#include "format/kmap.h"

enum { FIRST = 7 };                      /* fields of an object in all versions */

static const char NULL_TEXT[] = "(null)";

/* A piece of the line, for people. */
struct quoted {
	char s[44];
};

static struct quoted quote(struct atw_blob b)
{
	struct quoted q;

	snprintf(q.s, sizeof(q.s), "%.*s%s", (int)(b.len < 40 ? b.len : 40),
		 b.len ? (const char *)b.data : "", b.len > 40 ? "..." : "");
	return q;
}

static bool blank(char c)
{
	return c == ' ' || c == '\t';
}

static struct atw_blob trim(struct atw_blob b)
{
	const char *s = b.data;

	while (b.len && blank(*s))
		s++, b.len--;
	while (b.len && blank(s[b.len - 1]))
		b.len--;
	return (struct atw_blob){ s, b.len };
}

static bool is(struct atw_blob b, const char *word)
{
	return b.len == strlen(word) && !memcmp(b.data, word, b.len);
}

/* Takes it away, if it stands in front. */
static bool begins(struct atw_blob *b, const char *word)
{
	size_t len = strlen(word);

	if (b->len < len || memcmp(b->data, word, len))
		return false;
	*b = (struct atw_blob){ (const char *)b->data + len, b->len - len };
	return true;
}

/* Up to the next comma, which is taken, too; false: there was none. */
static bool take(struct atw_blob *b, struct atw_blob *ret)
{
	const char *s = b->data, *comma = b->len ? memchr(s, ',', b->len) : NULL;
	size_t n = comma ? (size_t)(comma - s) : b->len;

	*ret = (struct atw_blob){ s, n };
	*b = (struct atw_blob){ s + n + (comma != NULL), b->len - n - (comma != NULL) };
	return comma;
}

/* The last field of it; false: there is no comma. */
static bool take_last(struct atw_blob *b, struct atw_blob *ret)
{
	const char *s = b->data, *comma = b->len ? memrchr(s, ',', b->len) : NULL;

	if (!comma)
		return false;
	*ret = (struct atw_blob){ comma + 1, b->len - (size_t)(comma - s) - 1 };
	b->len = (size_t)(comma - s);
	return true;
}

static size_t commas(struct atw_blob b)
{
	const char *s = b.data, *end = s + b.len;
	size_t n = 0;

	while (s < end && (s = memchr(s, ',', (size_t)(end - s))))
		s++, n++;
	return n;
}

/* ---- values ---- */

/* As %p prints it in one kernel or another. */
static int address(const char *what, struct atw_blob b, uint64_t *ret, struct atw_err *err)
{
	b = trim(b);
	if (is(b, NULL_TEXT)) {
		*ret = 0;
		return ATW_OK;
	}
	if (num_hex(b.data, b.len, ret))
		return ATW_OK;
	if (is(b, "(____ptrval____)")) {
		atw_err_set(err, ATW_E_FORMAT, "%s: the kernel hid it: '(____ptrval____)'", what);
		atw_err_hint(err, "boot that kernel with no_hash_pointers");
		return ATW_E_FORMAT;
	}
	return atw_err_set(err, ATW_E_FORMAT, "%s: '%s' is no address", what, quote(b).s);
}

static int count(const char *what, struct atw_blob b, uint64_t *ret, struct atw_err *err)
{
	b = trim(b);
	return num_dec(b.data, b.len, ret) ? ATW_OK :
	       atw_err_set(err, ATW_E_FORMAT, "%s: '%s' is no number", what, quote(b).s);
}

static int number(const char *what, struct atw_blob b, int64_t *ret, struct atw_err *err)
{
	bool minus;
	uint64_t v;

	b = trim(b);
	minus = begins(&b, "-");
	if (!num_dec(b.data, b.len, &v) || v > (uint64_t)INT64_MAX + minus)
		return atw_err_set(err, ATW_E_FORMAT, "%s: '%s%s' is no number", what,
				   minus ? "-" : "", quote(b).s);
	*ret = (int64_t)(minus ? -v : v);
	return ATW_OK;
}

/* "(null)": nobody knows. */
static struct atw_blob name(struct atw_blob b)
{
	return is(b, NULL_TEXT) ? (struct atw_blob){ NULL, 0 } : b;
}

static bool known(struct atw_blob b)
{
	return b.data;
}

/* ---- objects ---- */

/* "KMEM_CACHE_ND": what tells a type from a task's name. */
static bool like_type(struct atw_blob b)
{
	const char *s = b.data;

	if (is(b, NULL_TEXT))
		return true;
	for (size_t i = 0; i < b.len; i++)
		if (!((s[i] >= 'A' && s[i] <= 'Z') || (s[i] >= '0' && s[i] <= '9' && i) ||
		      (s[i] == '_' && i)))
			return false;
	return b.len > 2;
}

/* One of Memorizer's for sure; no cache is called so. */
static bool is_type(struct atw_blob b)
{
	static const char *const types[] = {
		"STACK", "STACK_FRAME", "STACK_ARGS", "STACK_PAGE", "GEN_HEAP", "UFO_HEAP",
		"GLOBAL", "KMALLOC", "KMALLOC_ND", "KMEM_CACHE", "KMEM_CACHE_ND",
		"KMEM_CACHE_BULK", "VMALLOC", "ALLOC_PAGES", "ALLOC_PAGES_EXACT",
		"ALLOC_PAGES_GETFREEPAGES", "ALLOC_PAGES_FOLIO", "INDUCED_ALLOC", "BOOTMEM",
		"MEMBLOCK", "UFO_MEMBLOCK", "MEMORIZER", "USER", "BUG", "UFO_GLOBAL",
		"UFO_NONE", "NONE",
	};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (is(b, types[i]))
			return true;
	return false;
}

/* What is behind the first seven fields, cut as each version has it. */
struct rest {
	size_t fields;
	struct atw_blob type;            /* the first */
	struct atw_blob tail;            /* behind it */
	struct atw_blob last, middle;    /* of the tail, cut at its last comma */
	struct atw_blob cache, task;     /* likewise of the middle */
};

static struct rest cut(struct atw_blob b)
{
	struct rest r = { .fields = 1 + commas(b), .tail = b };

	take(&r.tail, &r.type);
	r.middle = r.tail;
	take_last(&r.middle, &r.last);
	r.task = r.middle;
	take_last(&r.task, &r.cache);
	return r;
}

static unsigned versions_of(const struct rest *r)
{
	bool four = r->fields > 3 && is_type(r->last);
	unsigned can = 0;

	if (r->fields == 1 || !like_type(r->type))
		return 1u << KMAP_V1;
	if (r->tail.len <= KMAP_COMM && !four)
		can |= 1u << KMAP_V2;
	if (r->fields > 2 && !four && (r->fields == 3 || r->middle.len <= KMAP_COMM))
		can |= 1u << KMAP_V3 | 1u << KMAP_COMPRESSED;
	if (r->fields > 3 && (r->fields == 4 || r->task.len <= KMAP_COMM) &&
	    (like_type(r->last) || !r->last.len || is(r->last, "-")))
		can |= 1u << KMAP_V4;
	/* A task's name may be longer than any kernel's: then fields alone decide. */
	if (!can)
		can = r->fields == 2 ? 1u << KMAP_V2 :
		      r->fields == 3 ? 1u << KMAP_V3 | 1u << KMAP_COMPRESSED : 1u << KMAP_V4;
	return can;
}

unsigned kmap_versions_of(struct atw_blob line)
{
	struct atw_blob field;
	struct rest r;

	for (unsigned i = 0; i < FIRST; i++)
		if (!take(&line, &field))
			return 0;
	r = cut(line);
	return versions_of(&r);
}

/* What is no such line in a file of that version is one of another. */
static int check_version(const struct rest *r, enum kmap_version v, bool declared,
			 struct atw_err *err)
{
	static const uint8_t least[KMAP_VERSIONS] = {
		[KMAP_V1] = 1, [KMAP_V2] = 2, [KMAP_V3] = 3, [KMAP_V4] = 4,
		[KMAP_COMPRESSED] = 3,
	};
	unsigned can = versions_of(r);

	/* A comma in the name of V4's task, and of V3's, look alike. */
	if (r->fields < least[v] ||
	    (!declared && !(can >> v & 1) && !(v == KMAP_V4 && like_type(r->type))))
		return atw_err_set(err, ATW_E_UNSUPPORTED, "an object of %zu fields, which is "
				   "not of %s like those before", FIRST + r->fields,
				   kmap_version_name(v));
	return ATW_OK;
}

static int object(struct atw_blob b, enum kmap_version v, bool declared,
		  struct kmap_object *ret, struct atw_err *err)
{
	struct kmap_object o = { 0 };
	struct atw_blob f[FIRST];
	struct rest rest;
	int r;

	for (unsigned i = 0; i < FIRST; i++)
		if (!take(&b, &f[i]))
			return atw_err_set(err, ATW_E_FORMAT, "%u fields: an object has 8 or more",
					   i + 1);
	rest = cut(b);
	r = check_version(&rest, v, declared, err);
	if (r != ATW_OK)
		return r;
	r = address("alloc_ip", f[0], &o.alloc_ip, v == KMAP_COMPRESSED ? NULL : err);
	if (r != ATW_OK && v == KMAP_COMPRESSED && trim(f[0]).len) {
		o.name = trim(f[0]);
		o.alloc_ip = 0;
		o.has |= KMAP_HAS_NAME;
		r = ATW_OK;
	} else if (r != ATW_OK) {
		return address("alloc_ip", f[0], &o.alloc_ip, err);
	}
	if ((r = number("pid", f[1], &o.pid, err)) ||
	    (r = address("va", f[2], &o.va, err)) ||
	    (r = count("size", f[3], &o.size, err)) ||
	    (r = count("alloc_time", f[4], &o.alloc_time, err)) ||
	    (r = count("free_time", f[5], &o.free_time, err)) ||
	    (r = address("free_ip", f[6], &o.free_ip, err)))
		return r;
	if (v == KMAP_V1) {
		o.task = name(b);
		*ret = o;
		return ATW_OK;
	}
	o.type = name(rest.type);
	if (v == KMAP_V2) {
		o.task = name(rest.tail);
	} else if (v == KMAP_V4) {
		o.new_type = name(rest.last);
		o.cache = name(rest.cache);
		o.task = name(rest.task);
	} else {
		o.cache = name(rest.last);
		o.task = name(rest.middle);
	}
	o.has |= (known(o.type) ? KMAP_HAS_TYPE : 0) | (known(o.cache) ? KMAP_HAS_CACHE : 0) |
		 (known(o.new_type) ? KMAP_HAS_NEW_TYPE : 0);
	*ret = o;
	return ATW_OK;
}

/* ---- accesses ---- */

/* "ip,n,n" and, if there is one, a fourth number, as nearly all of them are written. */
static bool usual(const char *s, const char *end, enum kmap_version v, struct kmap_access *ret)
{
	uint64_t high, low, n[3] = { 0 };
	unsigned want = v == KMAP_V2 || v == KMAP_V3 ? 2 : 3, i;
	bool minus = false;

	while (s < end && blank(*s))
		s++;
	if (end - s < 18 || !scan_hex8(s, &high) || !scan_hex8(s + 8, &low))
		return false;
	s += 16;
	for (i = 0; i < want; i++) {
		if (end - s < 2 || *s++ != ',')
			return false;
		if (i == (v == KMAP_V1 ? 0 : 2) && *s == '-' && v != KMAP_COMPRESSED)
			minus = s++;
		if (!scan_dec(&s, end, &n[i]))
			return false;
	}
	if (s != end)
		return false;
	*ret = (struct kmap_access){ .ip = high << 32 | low, .writes = n[0], .reads = n[1] };
	i = v == KMAP_V1 ? 0 : 2;
	if (v == KMAP_V1) {
		ret->writes = n[1];
		ret->reads = n[2];
	}
	if (v == KMAP_COMPRESSED) {
		ret->frees = n[2];
		ret->has = KMAP_HAS_FREES;
	} else if (want == 3) {
		/* The other way has the limits. */
		if (n[i] > INT64_MAX)
			return false;
		ret->pid = minus ? -(int64_t)n[i] : (int64_t)n[i];
		ret->has = KMAP_HAS_PID;
	}
	return true;
}

static int fields_wrong(size_t n, enum kmap_version v, int status, struct atw_err *err)
{
	return atw_err_set(err, status, "an access of %zu field%s, which is not of %s like those "
			   "before", n, n == 1 ? "" : "s", kmap_version_name(v));
}

static int plain(struct atw_blob b, enum kmap_version v, struct kmap_access *a,
		 struct atw_err *err)
{
	size_t n = 1 + commas(b), want = v == KMAP_V2 || v == KMAP_V3 ? 3 : 4;
	struct atw_blob f[4];
	int r;

	if (n != want)
		return fields_wrong(n, v, n == 3 || n == 4 ? ATW_E_UNSUPPORTED : ATW_E_FORMAT,
				    err);
	for (size_t i = 0; i < n; i++)
		take(&b, &f[i]);
	r = address("ip", f[0], &a->ip, err);
	if (r == ATW_OK && v == KMAP_V1)
		r = number("pid", f[1], &a->pid, err);
	if (r == ATW_OK)
		r = count("writes", f[v == KMAP_V1 ? 2 : 1], &a->writes, err);
	if (r == ATW_OK)
		r = count("reads", f[v == KMAP_V1 ? 3 : 2], &a->reads, err);
	if (r == ATW_OK && v == KMAP_V4)
		r = number("pid", f[3], &a->pid, err);
	if (r == ATW_OK && v == KMAP_COMPRESSED)
		r = count("frees", f[3], &a->frees, err);
	a->has = v == KMAP_V1 || v == KMAP_V4 ? KMAP_HAS_PID :
		 v == KMAP_COMPRESSED ? KMAP_HAS_FREES : 0;
	return r;
}

/* "from:ip[,caller:ip],writes,reads" */
static int from(struct atw_blob b, enum kmap_version v, struct kmap_access *a,
		struct atw_err *err)
{
	struct atw_blob f;
	int r;

	if (v == KMAP_V1 || v == KMAP_V2)
		return atw_err_set(err, ATW_E_UNSUPPORTED, "an access with 'from:', which is not "
				   "of %s like those before", kmap_version_name(v));
	a->has = KMAP_IS_FROM;
	take(&b, &f);
	r = address("from", f, &a->ip, err);
	if (r == ATW_OK && begins(&b, "caller:")) {
		a->has |= KMAP_HAS_CALLER;
		take(&b, &f);
		r = address("caller", f, &a->caller, err);
	}
	if (r == ATW_OK && commas(b) != 1)
		r = atw_err_set(err, ATW_E_FORMAT, "'%s': no writes and reads behind 'from:'",
				quote(b).s);
	if (r != ATW_OK)
		return r;
	take(&b, &f);
	r = count("writes", f, &a->writes, err);
	return r == ATW_OK ? count("reads", b, &a->reads, err) : r;
}

static int access_line(struct atw_blob b, enum kmap_version v, struct kmap_access *ret,
		       struct atw_err *err)
{
	struct kmap_access a = { 0 };
	int r;

	b = trim(b);
	r = begins(&b, "from:") ? from(b, v, &a, err) : plain(b, v, &a, err);
	if (r == ATW_OK)
		*ret = a;
	return r;
}

/* ---- the others ---- */

/* "from to count", or with commas. */
static int call(struct atw_blob b, struct kmap_call *ret, struct atw_err *err)
{
	char by = commas(b) == 2 ? ',' : ' ';
	struct atw_blob f[3];
	struct kmap_call c;
	int r;

	b = trim(b);
	for (unsigned i = 0; i < 3; i++) {
		const char *s = b.data, *e = b.len ? memchr(s, by, b.len) : NULL;
		size_t n = e ? (size_t)(e - s) : b.len;

		if (!e != (i == 2))
			return atw_err_set(err, ATW_E_FORMAT, "'%s' is neither an object nor a call, "
					   "and an access has a blank in front", quote(b).s);
		f[i] = (struct atw_blob){ s, n };
		b = trim((struct atw_blob){ s + n + (e != NULL), b.len - n - (e != NULL) });
	}
	if ((r = address("from", f[0], &c.from, err)) || (r = address("to", f[1], &c.to, err)) ||
	    (r = count("calls", f[2], &c.count, err)))
		return r;
	*ret = c;
	return ATW_OK;
}

static struct atw_blob word(struct atw_blob *b)
{
	const char *s = b->data, *e = b->len ? memchr(s, ' ', b->len) : NULL;
	size_t n = e ? (size_t)(e - s) : b->len;

	*b = trim((struct atw_blob){ s + n, b->len - n });
	return (struct atw_blob){ s, n };
}

static int end_line(struct atw_blob b, struct kmap_record *ret, struct atw_err *err)
{
	static const char *const keys[] = { "objects", "accesses", "lost" };
	const struct atw_blob all = b;
	uint64_t v[3];

	for (unsigned i = 0; i < 3; i++) {
		struct atw_blob key = word(&b), value = word(&b);

		if (!is(key, keys[i]) || !num_dec(value.data, value.len, &v[i]))
			return atw_err_set(err, ATW_E_FORMAT, "an end line has 'objects N accesses N "
					   "lost N', and not '%s'", quote(all).s);
	}
	if (b.len)
		return atw_err_set(err, ATW_E_FORMAT, "'%s' behind what an end line has",
				   quote(b).s);
	ret->kind = KMAP_END;
	ret->u.end.objects = v[0];
	ret->u.end.accesses = v[1];
	ret->u.end.lost = v[2];
	return ATW_OK;
}

/* Behind "# line ". */
static int heat(struct atw_blob b, struct kmap_record *ret, struct atw_err *err)
{
	struct kmap_access a = { .has = KMAP_HAS_LINE };
	struct atw_blob f[2];
	int r;

	if (!take(&b, &f[0]) || !take(&b, &f[1]))
		return atw_err_set(err, ATW_E_FORMAT, "a line's heat has 3 fields");
	if ((r = count("line", f[0], &a.line, err)) ||
	    (r = count("writes", f[1], &a.writes, err)) ||
	    (r = count("reads", b, &a.reads, err)))
		return r;
	ret->kind = KMAP_LINE_HEAT;
	ret->u.access = a;
	return ATW_OK;
}

static int comment(struct atw_blob b, bool ours, struct kmap_record *ret,
		   struct atw_err *err)
{
	struct atw_blob rest = b, key;

	if (ours && begins(&rest, " line "))
		return heat(rest, ret, err);
	if (ours && begins(&rest, " atwalk-kmap ")) {
		rest = trim(rest);
		key = word(&rest);
		if (is(key, "end"))
			return end_line(rest, ret, err);
		ret->kind = KMAP_HEADER;
		if (!rest.len && key.len && scan_digit[*(const uint8_t *)key.data] < 10) {
			rest = key;
			key = (struct atw_blob){ "version", 7 };
		}
		ret->u.header.key = key;
		ret->u.header.value = rest;
		return ATW_OK;
	}
	ret->kind = KMAP_COMMENT;
	ret->u.comment = b;
	return ATW_OK;
}

int kmap_parse(struct atw_blob line, enum kmap_version v, unsigned flags,
	       struct kmap_record *ret, struct atw_err *err)
{
	const char *s = line.data, *end = s + line.len, *zero;
	bool ours = flags & KMAP_OURS;
	int r;

	if (line.len && blank(*s) && usual(s, end, v, &ret->u.access)) {
		ret->kind = KMAP_ACCESS;
		return ATW_OK;
	}
	if (line.len && (zero = memchr(s, 0, line.len)))
		return atw_err_set(err, ATW_E_FORMAT, "byte %zu is 0: no text",
				   (size_t)(zero - s) + 1);
	if (!trim(line).len) {
		ret->kind = KMAP_BLANK;
		return ATW_OK;
	}
	if (*s == '#')
		return comment((struct atw_blob){ s + 1, line.len - 1 }, ours, ret, err);
	/* The first field of an object may be a "(null)" with blanks in front. */
	if (commas(line) >= FIRST) {
		ret->kind = KMAP_OBJECT;
		r = object(line, v, flags & KMAP_DECLARED, &ret->u.object, err);
	} else if (blank(*s)) {
		ret->kind = KMAP_ACCESS;
		r = access_line(line, v, &ret->u.access, err);
	} else {
		ret->kind = KMAP_CALL;
		r = call(line, &ret->u.call, err);
	}
	return r;
}
