/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each VMA gets the class its program headers, permissions and neighbours imply. */
#include "base/bytes.h"
#include "census/class.h"
#include "test.h"

/* ---- areas of a process, one after the other ---- */

static struct units units;
static struct classifier class;
static struct capture_task task;
static char name[256];
static struct capture_area v;
static struct census_area got;

/* A new process; its fields are in `task` and `has`. */
static void begin(uint32_t has, bool paper)
{
	static uint32_t number;

	classifier_begin(&class, &task, has, ++number, paper, 4096);
}

/* With a known program name. */
static void fresh(void)
{
	units_deinit(&units);
	task = (struct capture_task){ .name = blob_of("t"), .exe = blob_of("/bin/p") };
	begin(CAPTURE_T_EXE, false);
}

enum { R = 1, W = 2, X = 4, S = 8 };

/* "class", "class~" if it is a guess, "class/X" if it is the program's own. */
static const char *area_of(uint64_t start, uint64_t pages, uint64_t flags, const char *file,
			   uint64_t inode, uint64_t offset)
{
	static const char *const names[CENSUS_CLASSES] = {
		"text", "rodata", "relro", "data", "bss", "heap", "stack", "anon", "jit",
		"shm", "file", "special", "device", "reserved",
	};
	static char text[64];
	uint32_t has = CAPTURE_V_FLAGS | (inode ? CAPTURE_V_DEV | CAPTURE_V_INODE |
						  CAPTURE_V_OFFSET : 0);
	struct unit *u;

	v = (struct capture_area){
		.start = start, .last = start + pages * 4096 - 1, .size = pages * 4096,
		.flags = flags, .name = blob_of(file), .dev = { 8, 1 }, .inode = inode,
		.offset = offset,
	};
	snprintf(name, sizeof(name), "%s", file ? file : "");
	if (!units_of(&units, &v, has, &u))
		return "no memory";
	classify(&class, &v, has, u, &got);
	got.name = name;
	snprintf(text, sizeof(text), "%s%s%s", names[got.class], got.guess ? "~" : "",
		 got.own ? "/X" : "");
	return text;
}

static const char *anon(uint64_t start, uint64_t pages, uint64_t flags, const char *what)
{
	return area_of(start, pages, flags, what, 0, 0);
}

/* A file with program headers. */
static void headers(const char *file, uint64_t inode, const char *loads)
{
	const struct capture_file f = {
		.dev = {8, 1},
		.inode = inode,
		.name = blob_of(file),
		.loads = blob_of(loads),
	};

	units_add(&units, &f, CAPTURE_U_LOADS);
}

/* ---- by program headers ---- */

#define LOADS "0:0:1000:1000:4|1000:1000:3000:3000:5|4000:4000:2000:2000:4|" \
	      "6DB0:7DB0:1250:3300:6|6DB0:7DB0:250:250:C"

TEST(by_program_headers)
{
	fresh();
	headers("/bin/p", 1, LOADS);
	CHECK_STR(area_of(0x10000, 1, R, "/bin/p", 1, 0), "rodata/X");
	CHECK_STR(area_of(0x11000, 3, R | X, "/bin/p", 1, 0x1000), "text/X");
	CHECK_STR(area_of(0x14000, 2, R, "/bin/p", 1, 0x4000), "rodata/X");
	CHECK_STR(area_of(0x17000, 1, R, "/bin/p", 1, 0x6000), "relro/X");
	CHECK_STR(area_of(0x18000, 1, R | W, "/bin/p", 1, 0x7000), "data/X");
	CHECK_STR(anon(0x19000, 3, R | W, NULL), "bss/X");
	CHECK_EQ(got.unit->inode, 1);
	CHECK_EQ(got.pos, 0x8000);
	CHECK(class.exe && class.exe->u.program);
}

/* What lies behind .bss is not of it, be it adjacent. */
TEST(bss_ends_where_the_headers_say)
{
	fresh();
	headers("/lib/l", 1, LOADS);
	area_of(0x18000, 1, R | W, "/lib/l", 1, 0x7000);
	CHECK_STR(anon(0x19000, 4, R | W, NULL), "anon");
	CHECK(!got.unit);
	fresh();
	headers("/lib/l", 1, LOADS);
	area_of(0x18000, 1, R | W, "/lib/l", 1, 0x7000);
	CHECK_STR(anon(0x19000, 2, R | W, NULL), "bss");
	/* The rest of it, with other rights. */
	CHECK_STR(anon(0x1b000, 1, R | W, NULL), "bss");
	CHECK_STR(anon(0x1c000, 1, R | W, NULL), "anon");
}

/* The page at a border is mapped twice: rights say which of both it is. */
TEST(the_page_at_a_border)
{
	fresh();
	headers("/lib/l", 1, "0:0:1800:1800:5|1800:2800:1000:1000:6");
	CHECK_STR(area_of(0x10000, 2, R | X, "/lib/l", 1, 0), "text");
	CHECK_STR(area_of(0x12000, 2, R | W, "/lib/l", 1, 0x1000), "data");
	CHECK_STR(anon(0x14000, 1, R | W, NULL), "anon");
}

/* Text that was made writable is still text. */
TEST(writable_text)
{
	fresh();
	headers("/lib/l", 1, LOADS);
	CHECK_STR(area_of(0x11000, 3, R | W | X, "/lib/l", 1, 0x1000), "text");
	CHECK_STR(area_of(0x11000, 3, R | W, "/lib/l", 1, 0x1000), "text");
}

TEST(headers_of_a_copy)
{
	struct capture_file f = { .dev = { 8, 1 }, .inode = 1, .name = blob_of("/a/l"),
				  .loads = blob_of(LOADS), .build = { { 1, 2 }, 2 } };

	fresh();
	CHECK(units_add(&units, &f, CAPTURE_U_LOADS | CAPTURE_U_BUILD));
	f.inode = 2;
	f.name = blob_of("/b/l");
	CHECK(units_add(&units, &f, CAPTURE_U_BUILD));
	CHECK_STR(area_of(0x17000, 1, R, "/b/l", 2, 0x6000), "relro");
	CHECK_STR(got.unit->name, "/a/l");
}

/* Hostile ones: nothing may wrap around or divide. */
TEST(headers_of_nonsense)
{
	static const char *const all[] = {
		"FFFFFFFFFFFFF000:0:FFFFFFFFFFFFFFFF:FFFFFFFFFFFFFFFF:7",
		"0:FFFFFFFFFFFFFFFF:FFFFFFFFFFFFFFFF:FFFFFFFFFFFFFFFF:6",
		"1:2:3:4:FFFFFFFFFFFFFFFF|0:0:0:0:0", "", "0:0:1:FFFFFFFFFFFFFFFF:2",
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		fresh();
		headers("/l.so", 1, all[i]);
		area_of(0, 1, R, "/l.so", 1, 0);
		area_of(0x1000, 1, R | W, "/l.so", 1, UINT64_MAX - 0xfff);
		anon(0x2000, 1, R | W, NULL);
		area_of(UINT64_MAX - 0x1fff, 1, R | X, "/l.so", 1, 0x1000);
		anon(UINT64_MAX - 0xfff, 1, R | W, NULL);
	}
}

/* ---- without ---- */

TEST(by_what_one_sees)
{
	fresh();
	begin(0, false);
	/* The program is not recorded: the lowest mapped file is used. */
	CHECK_STR(area_of(0xf000, 1, R | S, "/var/data", 2, 0), "file");
	CHECK_STR(area_of(0x10000, 1, R, "/lib/l.so.1", 1, 0), "rodata~/X");
	CHECK_STR(area_of(0x11000, 2, R | X, "/lib/l.so.1", 1, 0x1000), "text~/X");
	CHECK_STR(area_of(0x13000, 1, R, "/lib/l.so.1", 1, 0x3000), "rodata~/X");
	/* Linkers leave a page out in front of what is writable. */
	CHECK_STR(area_of(0x15000, 1, R, "/lib/l.so.1", 1, 0x4000), "relro~/X");
	CHECK_STR(area_of(0x16000, 1, R | W, "/lib/l.so.1", 1, 0x5000), "data~/X");
	CHECK_STR(anon(0x17000, 3, R | W, NULL), "bss~/X");
	CHECK_STR(anon(0x1a000, 3, R | W, NULL), "anon");
}

TEST(written_once)
{
	fresh();
	/* VM_ACCOUNT stays when rights are taken. */
	CHECK_STR(area_of(0x10000, 1, R | 0x100000, "/lib/l.so", 1, 0), "relro~");
	CHECK_STR(area_of(0x20000, 1, R, "/var/data", 2, 0), "file");
	CHECK_STR(area_of(0x30000, 1, R | W, "/var/data", 2, 0), "file");
	CHECK_STR(area_of(0x40000, 1, R | W | S, "/lib/l.so", 1, 0), "file~");
	CHECK_STR(area_of(0x50000, 1, R | W | X, "/lib/l.so", 1, 0), "data~");
	/* .bss follows data, and nothing else. */
	CHECK_STR(anon(0x31000, 1, R | W, NULL), "anon");
}

TEST(bss_is_not_shared_and_adjacent)
{
	fresh();
	area_of(0x10000, 1, R | W, "/lib/l.so", 1, 0);
	CHECK_STR(anon(0x12000, 1, R | W, NULL), "anon");
	area_of(0x20000, 1, R | W, "/lib/l.so", 1, 0);
	CHECK_STR(anon(0x21000, 1, R | W | S, NULL), "shm");
	area_of(0x30000, 1, R | W, "/lib/l.so", 1, 0);
	CHECK_STR(anon(0x31000, 1, R, NULL), "anon");
	area_of(0x40000, 1, R | W, "/lib/l.so", 1, 0);
	CHECK_STR(anon(0x41000, 1, R | W, "[anon:.bss]"), "bss");
	CHECK_EQ(got.unit->inode, 1);
}

/* ---- the program of a process ---- */

TEST(the_program)
{
	fresh();
	task.code = (struct capture_pair){ 0x21000, 0x22000 };
	begin(CAPTURE_T_CODE, false);
	CHECK_STR(area_of(0x10000, 1, R | X, "/lib/l.so", 1, 0), "text");
	CHECK_STR(area_of(0x21000, 1, R | X, "/bin/p", 2, 0), "text/X");
	CHECK_STR(area_of(0x22000, 1, R | W, "/bin/p", 2, 0x1000), "data/X");
	/* A name, if there is one; mounts may have changed it. */
	task.exe = blob_of("/elsewhere/bin/p");
	begin(CAPTURE_T_CODE | CAPTURE_T_EXE, false);
	CHECK_STR(area_of(0x10000, 1, R | X, "/lib/l.so", 1, 0), "text");
	CHECK_STR(area_of(0x20000, 2, R | X, "/bin/p", 2, 0), "text/X");
	task.exe = blob_of("/bin/q (deleted)");
	begin(CAPTURE_T_EXE, false);
	CHECK_STR(area_of(0x10000, 1, R | X, "/bin/q", 3, 0), "text");
	CHECK_STR(area_of(0x20000, 1, R | X, "/bin/q (deleted)", 4, 0), "text/X");
	CHECK(class.exe->u.deleted);
}

/* ---- heap and stacks ---- */

TEST(heap)
{
	fresh();
	task.brk = (struct capture_pair){ 0x50000, 0x53000 };
	begin(CAPTURE_T_BRK, false);
	CHECK_STR(anon(0x10000, 2, R | W, "[heap]"), "heap/X");
	CHECK_STR(anon(0x4f000, 1, R | W, NULL), "anon");
	CHECK_STR(anon(0x50000, 3, R | W, NULL), "heap/X");
	CHECK_STR(anon(0x53000, 1, R | W, NULL), "anon");
	CHECK_STR(anon(0x52000, 1, R, NULL), "anon");
	CHECK_STR(anon(0x60000, 1, R | W, "[anon:glibc: malloc arena]"), "heap");
	CHECK_STR(anon(0x61000, 1, R | W, "[anon: Go: heap]"), "heap");
	CHECK_STR(anon(0x62000, 1, R | W, "[anon:scudo:primary]"), "heap");
	CHECK_STR(anon(0x63000, 1, R | W, "[anon:buffers]"), "anon");
	CHECK_STR(anon(0x64000, 1, R | W, "[anon_shmem:ring]"), "shm");
}

TEST(stacks)
{
	fresh();
	task.stack = 0x7fff3f00;
	task.threads = 2;
	begin(CAPTURE_T_STACK | CAPTURE_T_THREADS, false);
	CHECK_STR(anon(0x10000, 1, R | W, "[stack]"), "stack");
	CHECK_STR(anon(0x11000, 1, R | W, "[stack:17]"), "stack");
	CHECK_STR(anon(0x12000, 1, R | W, "[anon:stack_and_tls:17]"), "stack");
	CHECK_STR(anon(0x13000, 1, R | W | 0x100, NULL), "stack");
	/* A guard page in front, and there are threads. */
	CHECK_STR(anon(0x20000, 1, 0, NULL), "reserved");
	CHECK_STR(anon(0x21000, 8, R | W, NULL), "stack~");
	CHECK_STR(anon(0x40000, 16, 0, NULL), "reserved");
	CHECK_STR(anon(0x50000, 8, R | W, NULL), "stack~");
	/* What glibc keeps for an arena is more than a guard. */
	CHECK_STR(anon(0x60000, 17, 0, NULL), "reserved");
	CHECK_STR(anon(0x71000, 8, R | W, NULL), "anon");
	CHECK_STR(anon(0x80000, 1, 0, NULL), "reserved");
	CHECK_STR(anon(0x82000, 8, R | W, NULL), "anon");
	CHECK_STR(anon(0x7fff0000, 4, R | W, NULL), "stack");
	task.threads = 1;
	begin(CAPTURE_T_THREADS, false);
	anon(0x20000, 1, 0, NULL);
	CHECK_STR(anon(0x21000, 8, R | W, NULL), "anon");
}

/* ---- what is no file on a disk ---- */

TEST(objects)
{
	fresh();
	CHECK_STR(area_of(0x10000, 1, R | W | S, "/memfd:a (deleted)", 1, 0), "shm");
	/* Code once any mapping of it is executable, in all its mappings. */
	CHECK_STR(area_of(0x11000, 1, R | X | S, "/memfd:a (deleted)", 1, 0), "jit");
	CHECK_STR(area_of(0x12000, 1, R | W | S, "/memfd:a (deleted)", 1, 0), "jit");
	CHECK_STR(area_of(0x13000, 1, R | W | S, "/memfd:v8-jit (deleted)", 2, 0), "jit");
	CHECK_STR(area_of(0x14000, 1, R | W | S, "/SYSV0000002a (deleted)", 1, 0), "shm");
	CHECK_STR(area_of(0x15000, 1, R | W | S, "/dev/zero (deleted)", 1, 0), "shm");
	CHECK_STR(area_of(0x16000, 1, R | W, "/dev/zero", 9, 0), "anon");
	CHECK_STR(area_of(0x17000, 1, R | W | S, "/dev/shm/ring", 1, 0), "shm");
	CHECK_STR(area_of(0x18000, 512, R | W, "/anon_hugepage (deleted)", 3, 0), "anon");
	CHECK_STR(area_of(0x300000, 512, R | W | S, "/anon_hugepage (deleted)", 3, 0), "shm");
	CHECK_STR(area_of(0x600000, 1, R | W | S, "/dev/dri/card0", 4, 0), "device~");
	CHECK_STR(area_of(0x601000, 1, R | W | S, "anon_inode:[io_uring]", 5, 0), "special");
	CHECK_STR(anon(0x602000, 1, R | X, "[vdso]"), "special");
	CHECK_STR(anon(0x603000, 1, R | 0x4400, "[vvar]"), "special");
	/* VM_PFNMAP, VM_IO */
	CHECK_STR(anon(0x604000, 1, R | W | 0x400, NULL), "device");
	CHECK_STR(area_of(0x605000, 1, R | S | 0x4000, "/sys/x/resource0", 6, 0), "device");
	CHECK_STR(anon(0x606000, 1, R | W | X, NULL), "jit~");
	CHECK_STR(anon(0x607000, 1, R | X, "[anon:dalvik-jit-code-cache]"), "jit");
	CHECK_STR(anon(0x608000, 1, R | X, "[anon:other]"), "jit~");
	CHECK_STR(anon(0x609000, 1, 0, NULL), "reserved");
	CHECK_STR(area_of(0x60a000, 1, 0, "/lib/l.so", 7, 0), "reserved");
	CHECK_EQ(got.unit->inode, 7);
}

TEST(a_program_in_memory)
{
	fresh();
	task.exe = blob_of("/memfd:p (deleted)");
	begin(CAPTURE_T_EXE, false);
	CHECK_STR(area_of(0x10000, 1, R, "/memfd:p (deleted)", 1, 0), "rodata/X");
	CHECK_STR(area_of(0x11000, 1, R | X, "/memfd:p (deleted)", 1, 0x1000), "text/X");
	CHECK_STR(area_of(0x12000, 1, R | W, "/memfd:p (deleted)", 1, 0x2000), "data/X");
	CHECK_STR(area_of(0x20000, 1, R | W | S, "/memfd:q (deleted)", 2, 0), "shm");
	headers("/memfd:q (deleted)", 2, LOADS);
	CHECK_STR(area_of(0x31000, 3, R | X, "/memfd:q (deleted)", 2, 0x1000), "text");
}

TEST(unknown_rights)
{
	struct capture_area a = { .start = 0x1000, .last = 0x1fff, .name = { NULL, 0 } };

	fresh();
	classify(&class, &a, 0, NULL, &got);
	CHECK(got.class == CENSUS_ANON && got.guess && got.read && !got.write);
	/* What an entry would begin as, in the bits of the paper's processor. */
	a.prot = CAPTURE_PRESENT | CAPTURE_USER | CAPTURE_WRITE;
	classify(&class, &a, CAPTURE_V_PROT, NULL, &got);
	CHECK(got.read && got.write && !got.exec && !got.guess);
	a.prot = CAPTURE_PRESENT;
	a.shared = 1;
	classify(&class, &a, CAPTURE_V_PROT | CAPTURE_V_SHARED, NULL, &got);
	CHECK(got.class == CENSUS_RESERVED && got.shared);
}

/* ---- the paper's ---- */

static const char *paper(uint64_t start, uint64_t pages, uint64_t flags, const char *file)
{
	static const struct census_process process = { .paper = true };
	static char text[80];
	char letters[7];
	const char *was = anon(start, pages, flags, file);

	got.process = &process;
	snprintf(text, sizeof(text), "%s %s", census_flags_text(census_flags(&got), letters), was);
	return text;
}

/* Flags and letters as in its Figures 4, 7 and 9. */
TEST(the_papers_flags)
{
	fresh();
	begin(0, true);
	CHECK_STR(paper(0x0fe94000, 285, 0x75, "/lib/libc-2"), "..r.x. text");
	CHECK_STR(paper(0x0ffb1000, 3, 0x70, "/lib/libc-2"), "...... reserved");
	CHECK_STR(paper(0x0ffb4000, 20, 0x77, "/lib/libc-2"), "..rwx. data");
	CHECK_STR(paper(0x0ffc8000, 5, 0x77, NULL), "..rwxB bss~");
	CHECK_STR(got.unit->name, "/lib/libc-2");
	CHECK_EQ(got.pos, 0x134000);
	CHECK_STR(paper(0x10000000, 15, 0x1875, "/bin/myinit"), ".Xr.x. text/X");
	CHECK_STR(paper(0x1001e000, 1, 0x1877, "/bin/myinit"), ".Xrwx. data/X");
	CHECK_STR(paper(0x1001f000, 7, 0x20001077, NULL), ".XrwxB heap~/X");
	CHECK_STR(paper(0x30000000, 23, 0x875, "/lib/ld-2"), "..r.x. text");
	CHECK_STR(paper(0x30026000, 1, 0x877, "/lib/ld-2"), "..rwx. data");
	CHECK_STR(paper(0x30027000, 1, 0x77, NULL), "..rwxB bss~");
	CHECK_STR(paper(0x40000000, 1, 0x77, NULL), "..rwxB anon");
	CHECK_STR(paper(0x7fffc000, 4, 0x177, NULL), "S.rwx. stack");
	CHECK_STR(class.exe->u.name, "/bin/myinit");
	units_deinit(&units);
}
