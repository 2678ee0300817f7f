// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * qmp.c - QEMU: docs/interop/qmp-spec; softmmu/memory.c, mtree_print_flatview(); monitor/misc.c,
 * hmp_gpa2hva().
 */
#include "format/qmp.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/num.h"
#include "format/json.h"

enum qmp_kind qmp_line(struct atw_blob line, struct atw_blob *value)
{
	static const struct {
		const char *key;
		enum qmp_kind kind;
	} kinds[] = {
		{"QMP", QMP_GREETING}, {"event", QMP_EVENT}, {"return", QMP_RETURN},
		{"error", QMP_ERROR},
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!json_member(line, kinds[i].key, value))
			continue;
		if (kinds[i].kind == QMP_ERROR && !json_member(*value, "desc", value))
			*value = (struct atw_blob){"", 0};
		return kinds[i].kind;
	}
	return QMP_NONE;
}

/* The character that an escape stands for; *pos is behind the backslash, and then behind it. */
static char qmp_escape(struct atw_blob s, size_t *pos)
{
	static const char from[] = "nrtbf", to[] = "\n\r\t\b\f";
	char c = ((const char *)s.data)[(*pos)++];
	const char *at = memchr(from, c, sizeof(from) - 1);
	uint64_t code;

	if (at)
		return to[at - from];
	if (c != 'u')
		return c;
	if (s.len - *pos < 4 || !num_hex((const char *)s.data + *pos, 4, &code))
		return '?';
	*pos += 4;
	return code && code < 0x80 ? (char)code : '?';
}

void qmp_text(struct atw_blob string, struct buf *ret)
{
	const char *s = string.data;

	for (size_t pos = 0; pos < string.len;) {
		char c = s[pos++];

		if (c == '\\' && pos < string.len)
			c = qmp_escape(string, &pos);
		buf_char(ret, c & 0x80 || !c ? '?' : c);
	}
}

/* ---- info mtree -f ---- */

static bool qmp_next_line(struct atw_blob text, size_t *pos, struct atw_blob *ret)
{
	const char *s = (const char *)text.data + *pos, *e;
	size_t left = text.len - *pos;

	if (!left)
		return false;
	e = memchr(s, '\n', left);
	ret->data = s;
	ret->len = e ? (size_t)(e - s) : left;
	*pos += ret->len + (e != NULL);
	if (ret->len && s[ret->len - 1] == '\r')
		ret->len--;
	return true;
}

/*
 * "FlatView #1", lines ' AS "NAME", root: REGION' of those that share it, " Root memory region:
 * system", the sections, and an empty line.
 */
bool qmp_find_memory(struct atw_blob text, struct atw_blob *ret)
{
	bool wanted = false, inside = false;
	struct atw_blob line;
	size_t pos = 0, start = 0;

	while (qmp_next_line(text, &pos, &line)) {
		if (blob_begins(line, "FlatView #")) {
			wanted = inside = false;
		} else if (blob_begins(line, " AS \"memory\",")) {
			wanted = true;
		} else if (blob_begins(line, " Root memory region:") && wanted) {
			start = pos;
			inside = true;
		} else if (!line.len && inside) {
			break;
		}
	}
	if (!inside)
		return false;
	*ret = (struct atw_blob){(const char *)text.data + start, pos - start};
	return true;
}

/* Takes a number of 16 hexadecimal digits off the start. */
static bool qmp_take_hex(struct atw_blob *s, uint64_t *ret)
{
	if (s->len < 16 || !num_hex(s->data, 16, ret))
		return false;
	*s = (struct atw_blob){(const char *)s->data + 16, s->len - 16};
	return true;
}

static bool qmp_take(struct atw_blob *s, const char *word)
{
	size_t n = strlen(word);

	if (!blob_begins(*s, word))
		return false;
	*s = (struct atw_blob){(const char *)s->data + n, s->len - n};
	return true;
}

/* "(prio 0, rom): "; false: it is neither RAM nor ROM. */
static bool qmp_take_kind(struct atw_blob *s, bool *read_only)
{
	static const struct {
		const char *word;
		bool read_only;
	} kinds[] = {
		{", ram): ", false}, {", nv-ram): ", false}, {", rom): ", true},
		{", nv-rom): ", true},
	};
	const char *comma;

	if (!qmp_take(s, "(prio "))
		return false;
	comma = s->len ? memchr(s->data, ',', s->len) : NULL;
	if (!comma)
		return false;
	s->len -= (size_t)(comma - (const char *)s->data);
	s->data = comma;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (qmp_take(s, kinds[i].word)) {
			*read_only = kinds[i].read_only;
			return true;
		}
	return false;
}

/* "pc.ram @0000000000100000 KVM": without an offset it is 0, and an accelerator may follow. */
static void qmp_split_block(struct atw_blob s, struct qmp_section *ret)
{
	static const char kvm[] = " KVM";
	const char *text = s.data;

	if (s.len > sizeof(kvm) - 1 && !memcmp(text + s.len - (sizeof(kvm) - 1), kvm, sizeof(kvm) - 1))
		s.len -= sizeof(kvm) - 1;
	ret->offset = 0;
	if (s.len > 18 && !memcmp(text + s.len - 18, " @", 2) &&
	    num_hex(text + s.len - 16, 16, &ret->offset))
		s.len -= 18;
	ret->block = s;
}

int qmp_next_section(struct atw_blob sections, size_t *pos, struct qmp_section *ret)
{
	struct qmp_section q = {.gpa = 0};
	struct atw_blob line;
	uint64_t last;

	while (qmp_next_line(sections, pos, &line)) {
		if (!qmp_take(&line, "  ") || !qmp_take_hex(&line, &q.gpa) ||
		    !qmp_take(&line, "-") || !qmp_take_hex(&line, &last) ||
		    !qmp_take(&line, " ") || !qmp_take_kind(&line, &q.read_only) ||
		    last < q.gpa || last - q.gpa == UINT64_MAX)
			continue;
		q.len = last - q.gpa + 1;
		qmp_split_block(line, &q);
		*ret = q;
		return ATW_OK;
	}
	return ATW_END;
}

/* ---- other commands ---- */

bool qmp_has_backend(struct atw_blob memdevs, struct atw_blob name)
{
	struct json_cursor c = json_open(memdevs);
	struct atw_blob key, one, id;

	while (json_next(&c, &key, &one))
		if (json_member(one, "id", &id) && id.len == name.len &&
		    (!id.len || !memcmp(id.data, name.data, id.len)))
			return id.len;
	return false;
}

bool qmp_host_address(struct atw_blob text, uint64_t gpa, uint64_t *ret)
{
	static const char is[] = ") is 0x";
	struct atw_blob line;
	const char *at;
	char want[64];
	size_t pos = 0;

	snprintf(want, sizeof(want), "Host virtual address for 0x%llx (", (unsigned long long)gpa);
	if (!qmp_next_line(text, &pos, &line) || !blob_begins(line, want))
		return false;
	/* The name of the block may have anything in it. */
	at = memrchr(line.data, ')', line.len);
	pos = at ? (size_t)(at - (const char *)line.data) : line.len;
	line = (struct atw_blob){(const char *)line.data + pos, line.len - pos};
	return qmp_take(&line, is) && num_hex(line.data, line.len, ret);
}
