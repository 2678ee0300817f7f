/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The version of a QEMU is what `qemu --version` prints, also where it is not asked. */
#include "host/qemu_program.h"

#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

static void script(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	CHECK(f);
	if (!f)
		return;
	fprintf(f, "#!/bin/sh\n%s\n", text);
	fclose(f);
	CHECK_EQ(chmod(path, 0700), 0);
}

TEST(asks_what_is_no_elf_program)
{
	char dir[] = "/tmp/atwalk-test-XXXXXX", path[64];
	unsigned major = 0, minor = 0;
	struct atw_err err = { 0 };

	CHECK(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/qemu-system-x86_64", dir);
	script(path, "echo 'QEMU emulator version 8.1.2 (Debian 1:8.1.2)'");
	CHECK_EQ(qemu_program_version(path, &major, &minor, &err), ATW_OK);
	CHECK_EQ(major, 8);
	CHECK_EQ(minor, 1);
	script(path, "echo something else");
	CHECK_EQ(qemu_program_version(path, &major, &minor, &err), ATW_E_IO);
	CHECK(strstr(err.text, "cannot determine the version of QEMU"));
	unlink(path);
	CHECK_EQ(qemu_program_version(path, &major, &minor, &err), ATW_E_MISSING);
	CHECK(strstr(err.text, "it is not an executable file"));
	CHECK_EQ(qemu_program_version(dir, &major, &minor, &err), ATW_E_MISSING);
	rmdir(dir);
}

TEST(asks_a_program_without_the_text)
{
	unsigned major, minor;

	CHECK_EQ(qemu_program_version("/bin/true", &major, &minor, NULL), ATW_E_IO);
	CHECK_EQ(qemu_program_version("no-such-program", &major, &minor, NULL), ATW_E_MISSING);
}

/* The oracle is the program itself. */
TEST(says_what_the_program_says)
{
	static const char *const programs[] = {
		"qemu-system-x86_64", "qemu-system-aarch64", "qemu-system-riscv64", "qemu-x86_64",
	};
	unsigned n = 0;

	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
		char command[64], line[256] = "";
		unsigned major = 0, minor = 0, want_major, want_minor;
		FILE *f;

		snprintf(command, sizeof(command), "%s --version 2>&1", programs[i]);
		f = popen(command, "r");
		if (!f || !fgets(line, sizeof(line), f) || !strstr(line, " version ")) {
			if (f)
				pclose(f);
			continue;
		}
		pclose(f);
		CHECK_EQ(sscanf(strstr(line, " version "), " version %u.%u", &want_major,
				&want_minor), 2);
		CHECK_EQ(qemu_program_version(programs[i], &major, &minor, NULL), ATW_OK);
		CHECK_EQ(major, want_major);
		CHECK_EQ(minor, want_minor);
		n++;
	}
	if (!n)
		SKIP("no QEMU is installed");
}
