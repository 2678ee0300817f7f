// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * BTF yields types, members, variables and sizes;
 * every cut and flipped bit is survived.
 */
#include "test.h"
#include "unit/btf_image.h"

#include "base/buf.h"
#include "base/bytes.h"
#include "format/btf.h"
#include "host/host_file.h"

enum { INT = 1, INNER, UNION, ALIAS, ARRAY, BITS, PTR, OUTER, PROTO, FUNC, LAST = FUNC };

static void sample(struct maker *m)
{
	type(m, BTF_INT, "int", 0, 4);
	word(m, 0x01000020);
	type(m, BTF_STRUCT, "inner", 2, 8);
	member(m, "a", INT, 0);
	member(m, "b", INT, 32);
	type(m, BTF_UNION, "", 2, 8);
	member(m, "u", INT, 0);
	member(m, "in", ALIAS, 0);
	type(m, BTF_TYPEDEF, "inner_t", 0, INNER);
	type(m, BTF_ARRAY, "", 0, 0);
	word(m, INNER);
	word(m, INT);
	word(m, 10);
	type(m, BTF_STRUCT, "bits", 2, 4);
	put_le(&m->types, m->types.len - 5, 1, 0x80 | BTF_STRUCT);   /* kind_flag */
	member(m, "whole", INT, 0);
	member(m, "field", INT, 3u << 24 | 13);
	type(m, BTF_PTR, "", 0, OUTER);
	type(m, BTF_STRUCT, "outer", 5, 128);
	member(m, "x", INT, 0);
	member(m, "", UNION, 64);
	member(m, "list", ARRAY, 128);
	member(m, "", BITS, 768);
	member(m, "next", PTR, 832);
	type(m, BTF_FUNC_PROTO, "", 1, INT);
	word(m, text(m, "arg"));
	word(m, PTR);
	type(m, BTF_FUNC, "outer", 1, PROTO);    /* a function may share a name */
}

/* ---- answers ---- */

TEST(finds_types_by_kind_and_name)
{
	struct maker m = { 0 };
	struct btf b;
	uint32_t id;

	sample(&m);
	CHECK_EQ(btf_init(&b, finish(&m), NULL), ATW_OK);
	CHECK_EQ(b.n, LAST + 1);
	CHECK_EQ(btf_find(&b, BTF_STRUCT, "outer", &id), ATW_OK);
	CHECK_EQ(id, OUTER);
	CHECK_EQ(btf_find(&b, BTF_FUNC, "outer", &id), ATW_OK);
	CHECK_EQ(id, FUNC);
	id = 77;
	CHECK_EQ(btf_find(&b, BTF_STRUCT, "inner_t", &id), ATW_E_MISSING);
	CHECK_EQ(btf_find(&b, BTF_STRUCT, "out", &id), ATW_E_MISSING);
	CHECK_EQ(id, 77);
	CHECK_STR(btf_name(&b, ALIAS), "inner_t");
	CHECK_STR(btf_name(&b, 0), "");
	CHECK_STR(btf_name(&b, LAST + 1), "");
	CHECK_EQ(btf_kind(&b, PTR), BTF_PTR);
	CHECK_EQ(btf_kind(&b, UINT32_MAX), BTF_VOID);
	CHECK_EQ(btf_next(&b, 1, 1u << BTF_UNION | 1u << BTF_FUNC), UNION);
	CHECK_EQ(btf_next(&b, UNION, 1u << BTF_UNION | 1u << BTF_FUNC), UNION);
	CHECK_EQ(btf_next(&b, UNION + 1, 1u << BTF_UNION | 1u << BTF_FUNC), FUNC);
	CHECK_EQ(btf_next(&b, FUNC + 1, 1u << BTF_FUNC), b.n);
	btf_deinit(&b);
	maker_free(&m);
}

TEST(finds_several_at_once)
{
	struct btf_wanted w[] = {
		{ BTF_STRUCT, "outer", 0 }, { BTF_FUNC, "outer", 0 }, { BTF_STRUCT, "none", 7 },
		{ BTF_STRUCT, "inner", 0 },
	};
	struct maker m = { 0 };
	struct btf b, again;
	struct atw_blob blob;
	struct atw_err err = { 0 };
	uint32_t at = 0;

	sample(&m);
	blob = finish(&m);
	CHECK_EQ(btf_init(&b, blob, NULL), ATW_OK);
	btf_find_all(&b, w, 4);
	CHECK_EQ(w[0].id, OUTER);
	CHECK_EQ(w[1].id, FUNC);
	CHECK_EQ(w[2].id, 0);
	CHECK_EQ(w[3].id, INNER);
	CHECK_EQ(btf_offset_in(&b, &w[0], "list", &at, NULL), ATW_OK);
	CHECK_EQ(at, 16);
	CHECK_EQ(btf_offset_in(&b, &w[2], "list", &at, &err), ATW_E_MISSING);
	CHECK(strstr(err.text, "no none.list"));
	/* Numbered once, looked at twice. */
	CHECK_EQ(btf_init_numbered(&again, blob, (struct atw_blob){ b.at, b.n * 4 }, NULL), ATW_OK);
	CHECK_EQ(again.n, b.n);
	btf_find_all(&again, w, 4);
	CHECK_EQ(w[0].id, OUTER);
	btf_deinit(&again);
	CHECK_STR(btf_name(&b, OUTER), "outer");
	btf_deinit(&b);
	maker_free(&m);
}

TEST(finds_members_in_members_without_a_name)
{
	struct maker m = { 0 };
	struct btf b;
	struct btf_member got;
	uint32_t off = 0;

	sample(&m);
	CHECK_EQ(btf_init(&b, finish(&m), NULL), ATW_OK);
	CHECK_EQ(btf_offset(&b, "outer", "x", &off, NULL), ATW_OK);
	CHECK_EQ(off, 0);
	CHECK_EQ(btf_offset(&b, "outer", "u", &off, NULL), ATW_OK);
	CHECK_EQ(off, 8);
	CHECK_EQ(btf_offset(&b, "outer", "in.b", &off, NULL), ATW_OK);
	CHECK_EQ(off, 12);
	CHECK_EQ(btf_offset(&b, "outer", "next", &off, NULL), ATW_OK);
	CHECK_EQ(off, 104);
	CHECK_EQ(btf_member(&b, OUTER, "field", &got), ATW_OK);
	CHECK_EQ(got.bit, 768 + 13);
	CHECK_EQ(got.width, 3);
	CHECK_EQ(got.type, INT);
	/* The typedef of a struct has its members; a pointer to it has none. */
	CHECK_EQ(btf_member(&b, ALIAS, "b", &got), ATW_OK);
	CHECK_EQ(got.bit, 32);
	CHECK_EQ(btf_member(&b, OUTER, "list.b", &got), ATW_OK);
	CHECK_EQ(got.bit, 128 + 32);
	CHECK_EQ(btf_member(&b, OUTER, "list.c", &got), ATW_E_MISSING);
	CHECK_EQ(btf_member(&b, PTR, "x", &got), ATW_E_MISSING);
	CHECK_EQ(btf_member(&b, OUTER, "next.x", &got), ATW_E_MISSING);
	CHECK_EQ(btf_member(&b, OUTER, "lis", &got), ATW_E_MISSING);
	CHECK_EQ(btf_member(&b, OUTER, "listx", &got), ATW_E_MISSING);
	CHECK_EQ(btf_member(&b, OUTER, "", &got), ATW_E_MISSING);
	CHECK_EQ(btf_member(&b, OUTER, "in.", &got), ATW_E_MISSING);
	CHECK_EQ(btf_member(&b, OUTER, ".x", &got), ATW_E_MISSING);
	CHECK_EQ(btf_member(&b, 0, "x", &got), ATW_E_MISSING);
	btf_deinit(&b);
	maker_free(&m);
}

TEST(says_what_is_missing)
{
	struct maker m = { 0 };
	struct atw_err err = { 0 };
	struct btf b;
	uint32_t off = 5;

	sample(&m);
	CHECK_EQ(btf_init(&b, finish(&m), NULL), ATW_OK);
	CHECK_EQ(btf_offset(&b, "outer", "pid", &off, &err), ATW_E_MISSING);
	CHECK_STR(err.text, "the kernel's types have no outer.pid");
	CHECK_EQ(btf_offset(&b, "outer", "field", &off, &err), ATW_E_DAMAGED);
	CHECK_STR(err.text, "outer.field does not lie at a byte");
	CHECK_EQ(off, 5);
	btf_deinit(&b);
	maker_free(&m);
}

TEST(finds_variables_by_their_section)
{
	struct maker m = { 0 };
	uint32_t one, two, at = 7;
	struct btf b;

	type(&m, BTF_INT, "int", 0, 4);
	word(&m, 32);
	one = type(&m, BTF_VAR, "one", 0, 1);
	word(&m, 1);
	two = type(&m, BTF_VAR, "two", 0, 1);
	word(&m, 1);
	type(&m, BTF_VAR, "loose", 0, 1);
	word(&m, 1);
	type(&m, BTF_DATASEC, ".data..percpu", 3, 4096);
	for (unsigned i = 0; i < 3; i++) {
		word(&m, (uint32_t[]){ one, two, 99999 }[i]);
		word(&m, (uint32_t[]){ 64, 0x340, 0x500 }[i]);
		word(&m, 4);
	}
	CHECK_EQ(btf_init(&b, finish(&m), NULL), ATW_OK);
	CHECK_EQ(btf_variable(&b, "two", &at), ATW_OK);
	CHECK_EQ(at, 0x340);
	CHECK_EQ(btf_variable(&b, "one", &at), ATW_OK);
	CHECK_EQ(at, 64);
	CHECK_EQ(btf_variable(&b, "loose", &at), ATW_E_MISSING);
	CHECK_EQ(btf_variable(&b, "", &at), ATW_E_MISSING);
	CHECK_EQ(at, 64);
	btf_deinit(&b);
	maker_free(&m);
}

TEST(knows_sizes)
{
	struct maker m = { 0 };
	struct btf b;
	uint64_t size = 1;

	sample(&m);
	CHECK_EQ(btf_init(&b, finish(&m), NULL), ATW_OK);
	CHECK_EQ(btf_size(&b, OUTER, &size), ATW_OK);
	CHECK_EQ(size, 128);
	CHECK_EQ(btf_size(&b, ALIAS, &size), ATW_OK);
	CHECK_EQ(size, 8);
	CHECK_EQ(btf_size(&b, ARRAY, &size), ATW_OK);
	CHECK_EQ(size, 80);
	CHECK_EQ(btf_size(&b, PTR, &size), ATW_OK);
	CHECK_EQ(size, 8);
	CHECK_EQ(btf_size(&b, FUNC, &size), ATW_E_MISSING);
	CHECK_EQ(btf_size(&b, 0, &size), ATW_E_MISSING);
	CHECK_EQ(size, 8);
	btf_deinit(&b);
	maker_free(&m);
}

/* ---- damage ---- */

TEST(types_that_contain_themselves_end)
{
	struct maker m = { 0 };
	struct btf b;
	struct btf_member got;
	uint64_t size;

	type(&m, BTF_TYPEDEF, "a", 0, 2);
	type(&m, BTF_TYPEDEF, "b", 0, 1);
	type(&m, BTF_STRUCT, "self", 1, 8);
	member(&m, "", 3, 0);
	type(&m, BTF_ARRAY, "", 0, 0);           /* 4: of itself */
	word(&m, 4);
	word(&m, 4);
	word(&m, 1);
	type(&m, BTF_ARRAY, "", 0, 0);           /* 5: 2^96 bytes */
	word(&m, 6);
	word(&m, 6);
	word(&m, UINT32_MAX);
	type(&m, BTF_ARRAY, "", 0, 0);
	word(&m, 7);
	word(&m, 7);
	word(&m, UINT32_MAX);
	type(&m, BTF_STRUCT, "large", 0, UINT32_MAX);
	/* 8 to 37: two members without a name, both of the next type. */
	for (uint32_t id = 8; id < 38; id++) {
		type(&m, BTF_STRUCT, id == 8 ? "twice" : "", 2, 8);
		member(&m, "", id + 1, 0);
		member(&m, "", id + 1, 0);
	}
	type(&m, BTF_STRUCT, "", 0, 8);
	CHECK_EQ(btf_init(&b, finish(&m), NULL), ATW_OK);
	CHECK_EQ(btf_size(&b, 1, &size), ATW_E_DAMAGED);
	CHECK_EQ(btf_member(&b, 1, "x", &got), ATW_E_DAMAGED);
	CHECK_EQ(btf_member(&b, 3, "x", &got), ATW_E_DAMAGED);
	CHECK_EQ(btf_size(&b, 4, &size), ATW_E_DAMAGED);
	CHECK_EQ(btf_size(&b, 5, &size), ATW_E_DAMAGED);
	CHECK_EQ(btf_member(&b, 8, "x", &got), ATW_E_DAMAGED);
	btf_deinit(&b);
	maker_free(&m);
}

static int init_with(struct maker *m, size_t at, unsigned n, uint64_t v,
		     struct atw_err *err)
{
	struct btf b = { 0 };
	int r;

	finish(m);
	put_le(&m->blob, at, n, v);
	r = btf_init(&b, image_blob(&m->blob), err);
	btf_deinit(&b);
	return r;
}

TEST(refuses_what_cannot_be)
{
	struct maker m = { 0 };
	struct atw_err err = { 0 };

	sample(&m);
	CHECK_EQ(init_with(&m, 0, 2, 0x1234, &err), ATW_E_FORMAT);
	CHECK_STR(err.text, "is not BTF");
	CHECK_EQ(init_with(&m, 0, 2, 0x9feb, &err), ATW_E_UNSUPPORTED);
	CHECK_STR(err.text, "is big-endian BTF");
	CHECK_EQ(init_with(&m, 2, 1, 2, &err), ATW_E_UNSUPPORTED);
	CHECK_STR(err.text, "is BTF of version 2, and only 1 is known");
	CHECK_EQ(init_with(&m, 4, 4, 20, &err), ATW_E_DAMAGED);
	CHECK_EQ(init_with(&m, 4, 4, UINT32_MAX, &err), ATW_E_DAMAGED);
	CHECK_EQ(init_with(&m, 8, 4, UINT32_MAX, &err), ATW_E_DAMAGED);
	CHECK_EQ(init_with(&m, 12, 4, UINT32_MAX, &err), ATW_E_DAMAGED);
	CHECK_EQ(init_with(&m, 20, 4, UINT32_MAX, &err), ATW_E_DAMAGED);
	CHECK_EQ(init_with(&m, 20, 4, m.strings.len - 1, &err), ATW_E_DAMAGED);
	CHECK_STR(err.text, "BTF strings do not end with a NUL");
	CHECK_EQ(init_with(&m, 20, 4, 0, &err), ATW_E_DAMAGED);
	CHECK_EQ(init_with(&m, 16, 4, m.types.len + 1, &err), ATW_E_DAMAGED);
	CHECK_EQ(init_with(&m, 12, 4, m.types.len - 4, &err), ATW_E_DAMAGED);
	CHECK(strstr(err.text, "BTF type 10 at "));
	/* The kind of type 1, in the fourth byte of its second word. */
	CHECK_EQ(init_with(&m, 24 + 7, 1, 31, &err), ATW_E_UNSUPPORTED);
	CHECK_STR(err.text, "BTF type 1 is of kind 31, which is not known");
	CHECK_EQ(init_with(&m, 24 + 7, 1, 0, &err), ATW_E_UNSUPPORTED);
	CHECK_EQ(init_with(&m, 24 + 7, 1, BTF_INT, &err), ATW_OK);
	maker_free(&m);
}

/* Ask everything there is to ask; only the sanitizers can complain. */
static void ask(struct atw_blob blob)
{
	struct btf b;
	struct btf_member got;
	uint64_t size;
	uint32_t off;

	btf_length(blob);
	if (btf_init(&b, blob, NULL) < 0)
		return;
	for (uint32_t id = 0; id <= b.n; id++) {
		btf_name(&b, id);
		btf_size(&b, id, &size);
		btf_member(&b, id, "in.b", &got);
	}
	btf_offset(&b, "outer", "field", &off, NULL);
	btf_deinit(&b);
}

/* In a block of its own size, so that a byte too far is seen. */
static void ask_copy(const uint8_t *data, size_t len, size_t flip, uint8_t by)
{
	uint8_t *p = malloc(len ? len : 1);

	if (!p)
		abort();
	memcpy(p, data, len);
	if (flip < len)
		p[flip] ^= by;
	ask((struct atw_blob){ p, len });
	free(p);
}

TEST(survives_every_cut_and_every_flipped_bit)
{
	struct maker m = { 0 };
	struct atw_blob blob;

	sample(&m);
	blob = finish(&m);
	for (size_t len = 0; len <= blob.len; len++)
		ask_copy(blob.data, len, SIZE_MAX, 0);
	for (size_t at = 0; at < blob.len; at++) {
		for (unsigned bit = 0; bit < 8; bit++)
			ask_copy(blob.data, blob.len, at, (uint8_t)(1u << bit));
		ask_copy(blob.data, blob.len, at, 0xff);
	}
	maker_free(&m);
}

TEST(a_blob_says_how_long_it_is)
{
	struct maker m = { 0 };
	struct atw_blob blob;

	sample(&m);
	blob = finish(&m);
	CHECK_EQ(btf_length(blob), blob.len);
	CHECK_EQ(btf_length((struct atw_blob){ blob.data, 24 }), blob.len);
	CHECK_EQ(btf_length((struct atw_blob){ blob.data, 23 }), 0);
	CHECK_EQ(btf_length((struct atw_blob){ (const char *)blob.data + 1, 30 }), 0);
	/* What follows it, in memory, is no part of it. */
	put(&m.blob, m.blob.len, "more", 4);
	ask(image_blob(&m.blob));
	maker_free(&m);
}

/* A module's types go on where the kernel's end, and so do its strings. */
TEST(split_types_stand_on_the_kernels)
{
	struct maker whole = { 0 }, part = { 0 };
	struct btf kernel = { 0 }, module = { 0 };
	struct btf_member got;
	struct atw_blob blob;
	uint32_t id, offset, strings;

	sample(&whole);
	CHECK_EQ(btf_init(&kernel, finish(&whole), NULL), ATW_OK);
	/* Offsets of its strings count from the end of the kernel's. */
	strings = (uint32_t)kernel.strings.len;
	put(&part.strings, 0, "own", 4);
	word(&part, strings);
	word(&part, (uint32_t)BTF_STRUCT << 24 | 2);
	word(&part, 16);
	word(&part, strings);                    /* a member called as it is */
	word(&part, INT);
	word(&part, 0);
	word(&part, strings + 4);
	word(&part, INNER);
	word(&part, 64);
	put(&part.strings, 4, "in", 3);
	blob = finish(&part);
	CHECK_EQ(btf_init(&module, blob, NULL), ATW_E_UNSUPPORTED);
	CHECK_EQ(btf_init_split(&module, &kernel, blob, NULL), ATW_OK);
	CHECK_EQ(module.first, LAST + 1);
	CHECK_EQ(module.n, LAST + 2);
	CHECK_EQ(btf_find(&module, BTF_STRUCT, "own", &id), ATW_OK);
	CHECK_EQ(id, LAST + 1);
	CHECK_EQ(btf_find(&module, BTF_STRUCT, "inner", &id), ATW_OK);
	CHECK_EQ(id, INNER);
	CHECK_EQ(btf_member(&module, LAST + 1, "in.b", &got), ATW_OK);
	CHECK_EQ(got.bit, 96);
	CHECK_EQ(btf_offset(&module, "own", "own", &offset, NULL), ATW_OK);
	CHECK_EQ(offset, 0);
	btf_deinit(&module);
	btf_deinit(&kernel);
	maker_free(&part);
	maker_free(&whole);
}

/* ---- this kernel's own ---- */

TEST(reads_the_running_kernel)
{
	struct buf all = { 0 };
	struct btf b;
	struct btf_member got;
	uint32_t task, id, mm, pid, tgid;
	uint64_t size, list;

	if (host_file_all("/sys/kernel/btf/vmlinux", 64u << 20, &all, NULL) < 0)
		SKIP("this kernel shows no /sys/kernel/btf/vmlinux");
	CHECK_EQ(btf_length((struct atw_blob){ all.data, all.len }), all.len);
	CHECK_EQ(btf_init(&b, (struct atw_blob){ all.data, all.len }, NULL), ATW_OK);
	CHECK(b.n > 10000);
	CHECK_EQ(btf_find(&b, BTF_STRUCT, "task_struct", &task), ATW_OK);
	CHECK_EQ(btf_size(&b, task, &size), ATW_OK);
	CHECK_EQ(btf_offset(&b, "task_struct", "pid", &pid, NULL), ATW_OK);
	CHECK_EQ(btf_offset(&b, "task_struct", "tgid", &tgid, NULL), ATW_OK);
	CHECK_EQ(tgid, pid + 4);
	CHECK_EQ(btf_offset(&b, "task_struct", "mm", &mm, NULL), ATW_OK);
	CHECK(mm && mm < size && mm % 8 == 0);
	CHECK_EQ(btf_find(&b, BTF_STRUCT, "list_head", &id), ATW_OK);
	CHECK_EQ(btf_size(&b, id, &list), ATW_OK);
	CHECK_EQ(list, 2 * sizeof(void *));
	CHECK_EQ(btf_member(&b, task, "tasks.prev", &got), ATW_OK);
	CHECK_EQ(btf_offset(&b, "task_struct", "tasks", &id, NULL), ATW_OK);
	CHECK_EQ(got.bit, 8 * (id + sizeof(void *)));
	/* In a struct without a name, which holds all but the last member. */
	CHECK_EQ(btf_offset(&b, "mm_struct", "pgd", &id, NULL), ATW_OK);
	CHECK(id && id % 8 == 0);
	CHECK_EQ(btf_find(&b, BTF_FUNC, "schedule", &id), ATW_OK);
	CHECK_EQ(btf_kind(&b, id), BTF_FUNC);
	btf_deinit(&b);
	buf_deinit(&all);
}
