/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * poke DUMP.elf PLACE [BYTES] - damages the kernel's memory in a copy of a dump.
 *
 * Says the address of PLACE, or writes BYTES over what is there. DUMP.elf is an
 * ELF core and is written to; what to write to is found by the library's own
 * means, so damage what those need last.
 *
 *	PLACE    BASE and any number of these, from left to right:
 *	         +N -N            so many bytes on or back (hexadecimal)
 *	         .STRUCT.MEMBER   to a member that lib/linux/needs.def lists
 *	         *                where the pointer that lies there leads
 *	         @                the same with the low byte off (maple trees)
 *	BASE     a hexadecimal number, a symbol, task:PID, page:FRAME
 *	BYTES    hexadecimal; =PLACE: that address as a pointer; NxHH: N times HH
 *
 * Exit 0; 1: PLACE is not in the dump; 2: usage.
 */
#include <ctype.h>
#include <elf.h>
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atwalk/base.h>
#include "extract/extract.h"
#include "format/vmcoreinfo.h"
#include "linux/linux.h"
#include "linux/page.h"
#include "paging/paging.h"
#include "linux/process.h"
#include "record/record.h"
#include "source/source.h"
#include "walk/walk.h"

#include "linux/kernel.h"
#include "linux/memmap.h"

static struct atw_kernel *kernel;
static struct kmem *kmem;
static struct atw_err why;

static uint64_t hex(const char **at)
{
	char *end;
	uint64_t v = strtoull(*at, &end, 16);

	if (end == *at)
		errx(2, "'%s': no hexadecimal number", *at);
	*at = end;
	return v;
}

/* ---- places ---- */

static uint64_t pointer_at(uint64_t va)
{
	uint64_t to;

	if (kmem_u64(kmem, va, &to, &why) < 0)
		errx(1, "%s", why.text);
	return to;
}

static bool has_name(const char *names, const char *name, size_t len)
{
	while (*names) {
		size_t n = strcspn(names, "|");

		if (n == len && !memcmp(names, name, len))
			return true;
		names += n + (names[n] == '|');
	}
	return false;
}

static uint64_t member(const char **at)
{
	const struct needs *n = kernel_needs(kernel);
	size_t len = strcspn(*at, "+-*@");

	for (size_t i = 0; i < N_MEMBERS; i++)
		if (has_name(needs_at(n, i).names, *at, len) && n->member[i] != NEED_NONE) {
			*at += len;
			return n->member[i];
		}
	errx(2, "'%.*s': not in needs.def, or not in this kernel", (int)len, *at);
}

static uint64_t base(const char **at)
{
	const char *p = *at;
	size_t len = strcspn(p, "+-.*@");
	struct memmap_where w = { 0 };
	struct lnx_task task;
	char name[256];
	uint64_t va;

	if (!strncmp(p, "task:", 5)) {
		if (lnx_task_by_pid(kernel, (uint32_t)strtoul(p + 5, NULL, 10), &task, &why) < 0)
			errx(1, "%s", why.text);
		va = task.at;
	} else if (!strncmp(p, "page:", 5)) {
		if (memmap_where_init(kernel, &w, &why) < 0)
			errx(1, "%s", why.text);
		va = memmap_address(kmem, &w, strtoull(p + 5, NULL, 16));
		memmap_where_deinit(&w);
	} else if (strspn(p, "0123456789abcdefABCDEF") == len && len) {
		va = hex(&p);
	} else {
		snprintf(name, sizeof(name), "%.*s", (int)len, p);
		if (kernel_symbol(kernel, name, &va, &why) < 0)
			errx(1, "%s", why.text);
	}
	*at += len;
	return va;
}

static uint64_t place(const char *at)
{
	uint64_t va = base(&at);

	while (*at) {
		char c = *at++;

		if (c == '+')
			va += hex(&at);
		else if (c == '-')
			va -= hex(&at);
		else if (c == '.')
			va += member(&at);
		else if (c == '*')
			va = pointer_at(va);
		else if (c == '@')
			va = pointer_at(va) & ~UINT64_C(0xff);
		else
			errx(2, "'%s': not a place", at - 1);
	}
	return va;
}

/* ---- bytes ---- */

static size_t bytes(const char *text, uint8_t *ret, size_t max)
{
	size_t n = 0, times = 0;
	unsigned byte;

	if (*text == '=') {
		uint64_t va = place(text + 1);

		for (; n < 8; n++)
			ret[n] = (uint8_t)(va >> 8 * n);
		return n;
	}
	if (sscanf(text, "%zux%2x", &times, &byte) == 2 && times <= max) {
		memset(ret, (int)byte, times);
		return times;
	}
	for (; text[0] && n < max; text += 2, n++) {
		if (!isxdigit((unsigned char)text[0]) || sscanf(text, "%2x", &byte) != 1 || !text[1])
			errx(2, "'%s': not bytes", text);
		ret[n] = (uint8_t)byte;
	}
	return n;
}

/* ---- the file ---- */

static uint8_t *file;
static size_t file_len;

static void map_file(const char *path)
{
	struct stat st;
	int fd = open(path, O_RDWR);

	if (fd < 0 || fstat(fd, &st) < 0)
		err(2, "%s", path);
	file_len = (size_t)st.st_size;
	file = mmap(NULL, file_len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (file == MAP_FAILED)
		err(2, "%s", path);
	close(fd);
	if (file_len < sizeof(Elf64_Ehdr) || memcmp(file, ELFMAG, SELFMAG) ||
	    file[EI_CLASS] != ELFCLASS64)
		errx(2, "%s: not a 64-bit ELF core", path);
}

static uint8_t *byte_at(uint64_t pa)
{
	const Elf64_Ehdr *eh = (const void *)file;
	const Elf64_Phdr *ph = (const void *)(file + eh->e_phoff);

	for (unsigned i = 0; i < eh->e_phnum; i++)
		if (ph[i].p_type == PT_LOAD && pa >= ph[i].p_paddr &&
		    pa - ph[i].p_paddr < ph[i].p_filesz)
			return file + ph[i].p_offset + (pa - ph[i].p_paddr);
	errx(1, "physical address 0x%" PRIx64 " is not in the dump", pa);
}

int main(int argc, char **argv)
{
	struct atw_kernel_opts o = { 0 };
	static uint8_t what[1 << 20];
	struct atw_source *s;
	uint64_t va;
	size_t n;
	atw_pa pa;

	if (argc < 3 || argc > 4)
		errx(2, "usage: poke DUMP.elf PLACE [BYTES]");
	if (atw_source_open(argv[1], NULL, 0, &s, &why) < 0 ||
	    atw_kernel_open(s, &o, &kernel, &why) < 0 ||
	    kernel_kmem(kernel, &kmem, &why) < 0)
		errx(1, "%s: %s", argv[1], why.text);
	va = place(argv[2]);
	if (argc == 3) {
		printf("%" PRIx64 "\n", va);
	} else {
		n = bytes(argv[3], what, sizeof(what));
		map_file(argv[1]);
		for (size_t i = 0; i < n; i++) {
			if (kmem_physical(kmem, va + i, &pa, &why) < 0)
				errx(1, "%s", why.text);
			*byte_at(pa.u) = what[i];
		}
	}
	atw_kernel_close(kernel);
	atw_source_close(s);
	return 0;
}
