// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sections, symbols and build ids of ELF files are found;
 * damage at any byte is survived.
 */
#include "test.h"
#include "unit/vmlinux_image.h"

#include "base/bytes.h"
#include "format/elfsyms.h"

/* ---- sections ---- */

TEST(sections_are_found_by_name)
{
	struct vmlinux_image v = { 0 };
	struct elfsec e;
	struct elfsec_section s;
	struct atw_blob b;
	struct atw_err err = { 0 };

	CHECK_EQ(elfsec_parse(vmlinux_sample(&v), &e, NULL), ATW_OK);
	CHECK_EQ(e.machine, 62);
	CHECK_EQ(e.type, 2);
	CHECK_EQ(elfsec_find(&e, ".BTF", &s), ATW_OK);
	CHECK_EQ(elfsec_bytes(&e, &s, &b, NULL), ATW_OK);
	CHECK_EQ(b.len, 16);
	CHECK(!memcmp(b.data, "not BTF, but our", 16));
	CHECK_EQ(elfsec_find(&e, ".BT", &s), ATW_E_MISSING);
	CHECK_EQ(elfsec_find(&e, "BTF", &s), ATW_E_MISSING);
	CHECK_EQ(elfsec_find(&e, ".bss", &s), ATW_OK);
	CHECK_EQ(elfsec_bytes(&e, &s, &b, &err), ATW_E_MISSING);
	CHECK_STR(err.text, "section .bss is listed, and its bytes are not in the file");
	CHECK_EQ(elfsec_at(&e, e.n).type, 0);
	CHECK_STR(elfsec_at(&e, UINT32_MAX).name, "");
	vmlinux_free(&v);
}

TEST(the_build_id_is_that_of_gnu)
{
	struct vmlinux_image v = { 0 };
	struct elfsec e;
	struct atw_blob id;

	CHECK_EQ(elfsec_parse(vmlinux_sample(&v), &e, NULL), ATW_OK);
	CHECK_EQ(elfsec_build_id(&e, &id), ATW_OK);
	CHECK_EQ(id.len, 8);
	CHECK(!memcmp(id.data, "\x01\x23\x45\x67\x89\xab\xcd\xef", 8));
	vmlinux_free(&v);
}

TEST(bytes_that_cannot_be_had)
{
	struct vmlinux_image v = { 0 };
	struct elfsec e;
	struct elfsec_section s;
	struct atw_blob b;
	struct atw_err err = { 0 };

	vmlinux_section(&v, "packed", 1, 0x800, "abcd", 4);
	v.section[vmlinux_section(&v, "outside", 1, 0, "abcd", 4)].size = 4096;
	v.section[vmlinux_section(&v, "wraps", 1, 0, "abcd", 4)].offset = UINT64_MAX - 1;
	CHECK_EQ(elfsec_parse(vmlinux_finish(&v), &e, NULL), ATW_OK);
	CHECK_EQ(elfsec_find(&e, "packed", &s), ATW_OK);
	CHECK_EQ(elfsec_bytes(&e, &s, &b, &err), ATW_E_UNSUPPORTED);
	CHECK_STR(err.text, "section packed is compressed");
	CHECK_EQ(elfsec_find(&e, "outside", &s), ATW_OK);
	CHECK_EQ(elfsec_bytes(&e, &s, &b, NULL), ATW_E_DAMAGED);
	CHECK_EQ(elfsec_find(&e, "wraps", &s), ATW_OK);
	CHECK_EQ(elfsec_bytes(&e, &s, &b, NULL), ATW_E_DAMAGED);
	CHECK_EQ(elfsec_build_id(&e, &b), ATW_E_MISSING);
	vmlinux_free(&v);
}

TEST(numbers_that_need_more_than_16_bits_stand_in_section_0)
{
	struct vmlinux_image v = { 0 };
	struct elfsec e;
	struct elfsec_section s;
	unsigned names, n;
	uint64_t at;

	vmlinux_sample(&v);
	memcpy(&at, v.file.data + 40, 8);
	n = v.n, names = v.n - 1;
	put_le(&v.file, 60, 2, 0);
	put_le(&v.file, 62, 2, 0xffff);
	put_le(&v.file, at + 32, 8, n);
	put_le(&v.file, at + 40, 4, names);
	CHECK_EQ(elfsec_parse(image_blob(&v.file), &e, NULL), ATW_OK);
	CHECK_EQ(e.n, n);
	CHECK_EQ(elfsec_find(&e, ".BTF", &s), ATW_OK);
	/* A count that no file has room for. */
	put_le(&v.file, at + 32, 8, UINT64_MAX);
	CHECK_EQ(elfsec_parse(image_blob(&v.file), &e, NULL), ATW_OK);
	CHECK_EQ(e.n, 0);
	put_le(&v.file, at + 32, 8, UINT32_MAX);
	CHECK_EQ(elfsec_parse(image_blob(&v.file), &e, NULL), ATW_E_DAMAGED);
	vmlinux_free(&v);
}

TEST(what_is_no_elf64_file)
{
	struct vmlinux_image v = { 0 };
	struct elfsec e;
	struct atw_err err = { 0 };
	struct atw_blob b = vmlinux_sample(&v);

	CHECK_EQ(elfsec_parse((struct atw_blob){ "\177EL", 3 }, &e, &err), ATW_E_FORMAT);
	put_le(&v.file, 4, 1, 1);
	CHECK_EQ(elfsec_parse(b, &e, &err), ATW_E_UNSUPPORTED);
	CHECK_STR(err.text, "ELF header: the file is of 32 bits");
	put_le(&v.file, 4, 1, 2);
	put_le(&v.file, 58, 2, 63);
	CHECK_EQ(elfsec_parse(b, &e, &err), ATW_E_DAMAGED);
	CHECK_STR(err.text, "ELF header: e_shentsize is 63, and a section header takes 64 bytes");
	/* No sections at all is no damage. */
	put_le(&v.file, 40, 8, 0);
	CHECK_EQ(elfsec_parse(b, &e, &err), ATW_OK);
	CHECK_EQ(e.n, 0);
	vmlinux_free(&v);
}

/* ---- symbols ---- */

static void set_size(const struct elfsyms *s, uint64_t address, uint64_t size)
{
	for (uint32_t i = 0; i < s->all; i++) {
		uint8_t *p = (uint8_t *)(uintptr_t)s->table.data + (size_t)i * 24;

		if (get_le64(p + 8) == address)
			memcpy(p + 16, &size, sizeof(size));
	}
}

static int find_elfsyms(const struct elfsyms *s, const char *name, uint64_t *ret)
{
	bool have;

	return elfsyms_find_many(s, &name, ret, &have, 1) ? ATW_OK : ATW_E_MISSING;
}

TEST(symbols_by_name)
{
	static const char *const names[] = {
		"_stext", "main.c", "helper", "undefined", "twice", "$x", ".L1", "constant", "weak",
	};
	struct vmlinux_image v = { 0 };
	struct elfsec e;
	struct elfsyms s;
	uint64_t at[9] = { 0 };
	bool have[9];

	CHECK_EQ(elfsec_parse(vmlinux_sample(&v), &e, NULL), ATW_OK);
	CHECK_EQ(elfsyms_init(&s, &e, NULL), ATW_OK);
	CHECK_EQ(s.n, 14);
	CHECK_EQ(elfsyms_find_many(&s, names, at, have, 9), 5);
	CHECK(have[0] && !have[1] && have[2] && !have[3] && have[4] && !have[5] &&
	      !have[6] && have[7] && have[8]);
	CHECK_EQ(at[0], 0xffffffff81001000);
	CHECK_EQ(at[2], 0xffffffff81000020);
	CHECK_EQ(at[4], 0xffffffff81002000);     /* the one that others see */
	CHECK_EQ(at[7], 0x1000000);
	CHECK_EQ(find_elfsyms(&s, "", &at[0]), ATW_E_MISSING);
	elfsyms_deinit(&s);
	vmlinux_free(&v);
}

TEST(symbols_by_address)
{
	static const struct { uint64_t at; const char *name; char type; uint64_t size; } want[] = {
		{ 0xffffffff81000000, "_text", 'T', 0x20 },
		{ 0xffffffff8100001f, "_text", 'T', 0x20 },
		{ 0xffffffff81000020, "helper", 't', 0x10 },
		{ 0xffffffff81001fff, "_stext", 'T', 0x1000 },
		{ 0xffffffff81002000, "twice", 'T', 0x10 },
		{ 0xffffffff81002010, "weak", 'W', 65536 },
		{ 0xffffffff8200ffff, "banner", 'R', 0 },
		{ 0xffffffff82800001, "init_uts_ns", 'D', 0x400 },
		{ 0xffffffff83000001, "clear_seq", 'B', 0 },
		{ 0x1000001, "constant", 'A', 65536 },
	};
	struct vmlinux_image v = { 0 };
	struct elfsec e;
	struct elfsyms s;
	struct elfsyms_symbol got;

	CHECK_EQ(elfsec_parse(vmlinux_sample(&v), &e, NULL), ATW_OK);
	CHECK_EQ(elfsyms_init(&s, &e, NULL), ATW_OK);
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		CHECK_EQ(elfsyms_near(&s, want[i].at, &got), ATW_OK);
		CHECK_STR(got.name, want[i].name);
		CHECK_EQ(got.type, want[i].type);
		if (want[i].size)
			CHECK_EQ(got.size, want[i].size);
	}
	/* What the table says is better than where the next one begins. */
	set_size(&s, 0xffffffff81002010, 47);
	CHECK_EQ(elfsyms_near(&s, 0xffffffff81002010 + 65535, &got), ATW_OK);
	CHECK_STR(got.name, "weak");
	CHECK_EQ(got.size, 47);
	set_size(&s, 0xffffffff81002000, 3);
	CHECK_EQ(elfsyms_near(&s, 0xffffffff81002000, &got), ATW_OK);
	CHECK_EQ(got.size, 3);
	set_size(&s, 0xffffffff81000020, 0x11);       /* but not beyond that */
	CHECK_EQ(elfsyms_near(&s, 0xffffffff81000020, &got), ATW_OK);
	CHECK_EQ(got.size, 0x10);
	CHECK_EQ(elfsyms_near(&s, 0, &got), ATW_E_MISSING);
	CHECK_EQ(elfsyms_near(&s, 0xffffffff81002010 + 65536, &got), ATW_E_MISSING);
	CHECK_EQ(elfsyms_near(&s, 0x8000000000000000, &got), ATW_E_MISSING);
	elfsyms_deinit(&s);
	vmlinux_free(&v);
}

TEST(no_symbols)
{
	struct vmlinux_image v = { 0 };
	struct elfsec e;
	struct elfsyms s;
	struct atw_err err = { 0 };

	vmlinux_section(&v, ".text", 1, 6, NULL, 8);
	CHECK_EQ(elfsec_parse(vmlinux_finish(&v), &e, NULL), ATW_OK);
	CHECK_EQ(elfsyms_init(&s, &e, &err), ATW_E_MISSING);
	CHECK_STR(err.text, "has no symbols (no .symtab)");
	vmlinux_free(&v);
	v = (struct vmlinux_image){ 0 };
	vmlinux_symbol(&v, "file.c", 0, 0xfff1, 4);
	CHECK_EQ(elfsec_parse(vmlinux_finish(&v), &e, NULL), ATW_OK);
	CHECK_EQ(elfsyms_init(&s, &e, &err), ATW_E_MISSING);
	CHECK_STR(err.text, "has no symbols (.symtab is empty)");
	vmlinux_free(&v);
}

/* ---- damage ---- */

/* Whatever it is: an answer or a sentence, and no byte outside of it. */
static bool survives(const uint8_t *data, size_t len)
{
	/* A copy of its own, so that the sanitizers see its end. */
	uint8_t *copy = malloc(len + !len);
	struct atw_err err = { 0 };
	struct elfsec_section s;
	struct elfsyms_symbol sym;
	struct elfsyms syms;
	struct elfsec e;
	struct atw_blob b;
	uint64_t at;
	int r;

	memcpy(copy, data, len);
	r = elfsec_parse((struct atw_blob){ copy, len }, &e, &err);
	if (r == ATW_OK) {
		for (uint32_t i = 0; i < e.n && i < 100; i++) {
			s = elfsec_at(&e, i);
			if (strlen(s.name) > len)
				r = 1;
			elfsec_bytes(&e, &s, &b, NULL);
		}
		elfsec_build_id(&e, &b);
		if (elfsyms_init(&syms, &e, &err) == ATW_OK) {
			find_elfsyms(&syms, "_stext", &at);
			elfsyms_near(&syms, 0xffffffff81000100, &sym);
			elfsyms_near(&syms, UINT64_MAX, &sym);
			elfsyms_deinit(&syms);
		}
	}
	free(copy);
	return r <= 0 && (r == ATW_OK || err.text[0]);
}

TEST(damage_at_every_byte)
{
	static const uint8_t with[] = { 0x00, 0xff, 0x80, 0x7f, 0x01 };
	struct vmlinux_image v = { 0 };

	vmlinux_sample(&v);
	for (size_t i = 0; i < v.file.len; i++) {
		uint8_t was = v.file.data[i];

		for (size_t w = 0; w < sizeof(with); w++) {
			v.file.data[i] = with[w];
			if (!survives(v.file.data, v.file.len))
				TEST_FAIL("byte 0x%zx set to 0x%x", i, with[w]);
		}
		v.file.data[i] = was;
	}
	vmlinux_free(&v);
}

TEST(cut_off_at_every_byte)
{
	struct vmlinux_image v = { 0 };

	vmlinux_sample(&v);
	for (size_t len = 0; len <= v.file.len; len++)
		if (!survives(v.file.data, len))
			TEST_FAIL("cut off at 0x%zx", len);
	vmlinux_free(&v);
}
