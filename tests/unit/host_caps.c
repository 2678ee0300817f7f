/* SPDX-License-Identifier: GPL-2.0-or-later */
/* source_live_caps.c - capabilities of files: the attribute, and lists for setcap(8). */
#include "test.h"

#include <string.h>

#include "host/caps.h"

static const unsigned char second[] = {
	0x01, 0, 0, 2,  0x04, 0, 0x20, 0,  0xff, 0, 0, 0,  0xc0, 0, 0, 0,  0, 0, 0, 0,
};

TEST(revision_2)
{
	struct caps have = { 0 };

	CHECK(caps_parse(second, sizeof(second), &have));
	CHECK_EQ(have.permitted, 1ull << 2 | 1ull << 21 | 1ull << 38 | 1ull << 39);
	CHECK_EQ(have.inheritable, 0xff);
}

TEST(revision_3_has_a_user_namespace_behind)
{
	unsigned char data[24] = { 0 };
	struct caps have = { 0 };

	memcpy(data, second, sizeof(second));
	data[3] = 3;
	data[20] = 0xe8;
	CHECK(caps_parse(data, sizeof(data), &have));
	CHECK_EQ(have.permitted, 1ull << 2 | 1ull << 21 | 1ull << 38 | 1ull << 39);
}

TEST(revision_1_has_32)
{
	static const unsigned char data[] = { 0, 0, 0, 1, 0, 0, 8, 0, 0xff, 0xff, 0xff, 0xff };
	struct caps have = { 0 };

	CHECK(caps_parse(data, sizeof(data), &have));
	CHECK_EQ(have.permitted, 1ull << 19);
}

TEST(what_is_no_such_attribute)
{
	unsigned char data[24] = { 0 };
	struct caps have = { 77, 78 };

	memcpy(data, second, sizeof(second));
	for (size_t n = 0; n <= sizeof(data); n++)
		if (n != sizeof(second))
			CHECK(!caps_parse(data, n, &have));
	data[3] = 4;
	CHECK(!caps_parse(data, sizeof(data), &have));
	data[3] = 0;
	CHECK(!caps_parse(data, sizeof(second), &have));
	CHECK_EQ(have.permitted, 77);
	CHECK_EQ(have.inheritable, 78);
}

static bool join(const char *caps, uint64_t permitted, uint64_t inheritable, char *buf, size_t len)
{
	const struct caps have = { permitted, inheritable };

	return caps_join(caps, &have, buf, len);
}

TEST(what_the_file_has_is_kept)
{
	char text[128];

	CHECK(join("cap_bpf,cap_perfmon", 0, 0, text, sizeof(text)));
	CHECK_STR(text, "cap_bpf,cap_perfmon+ep");
	CHECK(join("cap_dac_read_search", 1ull << 39 | 1ull << 38 | 1ull << 2, 0, text,
		   sizeof(text)));
	CHECK_STR(text, "cap_dac_read_search,cap_perfmon,cap_bpf+ep");
	CHECK(join("cap_bpf,cap_perfmon", 1ull << 39 | 1ull << 38, 0, text, sizeof(text)));
	CHECK_STR(text, "cap_bpf,cap_perfmon+ep");
	/* The end of one name is not another. */
	CHECK(join("cap_sys_admin", 1ull << 12 | 1ull << 41, 0, text, sizeof(text)));
	CHECK_STR(text, "cap_sys_admin,cap_net_admin,41+ep");
	CHECK(join("cap_audit_read", 1ull << 5 | 1ull << 40, 0, text, sizeof(text)));
	CHECK_STR(text, "cap_audit_read,cap_kill,cap_checkpoint_restore+ep");
}

/* With +ep every user would have them, and not only processes that inherit them. */
TEST(what_is_inherited_stays_so)
{
	char text[128];

	CHECK(join("cap_sys_ptrace", 0, 1ull << 39 | 1ull << 38, text, sizeof(text)));
	CHECK_STR(text, "'cap_sys_ptrace+ep cap_perfmon,cap_bpf+ei'");
	/* Permitted, or asked for, says more. */
	CHECK(join("cap_sys_ptrace", 1ull << 5, 1ull << 5 | 1ull << 19 | 1ull << 39, text,
		   sizeof(text)));
	CHECK_STR(text, "'cap_sys_ptrace,cap_kill+ep cap_bpf+ei'");
	CHECK(join("cap_sys_ptrace", 1ull << 5, 1ull << 5 | 1ull << 19, text, sizeof(text)));
	CHECK_STR(text, "cap_sys_ptrace,cap_kill+ep");
}

TEST(a_list_that_does_not_fit_is_none)
{
	char text[23];

	CHECK(join("cap_bpf,cap_perfmon", 0, 0, text, sizeof(text)));
	CHECK(!join("cap_bpf,cap_perfmon", 0, 0, text, sizeof(text) - 1));
	CHECK(!join("cap_bpf,cap_perfmon", 1, 0, text, sizeof(text)));
	CHECK(!join("cap_bpf,cap_perfmon", 0, 1, text, sizeof(text)));
	CHECK(!join("cap_bpf,cap_perfmon", UINT64_MAX, 0, text, sizeof(text)));
	CHECK(!join("cap_bpf,cap_perfmon", 0, UINT64_MAX, text, sizeof(text)));
}
