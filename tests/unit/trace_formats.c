/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of profilers and emulators, as these programs wrote them. */
#include "trace/formats.h"
#include "test.h"

static struct atw_err err;

static struct atw_blob line_of(const char *s)
{
	return (struct atw_blob){ s, strlen(s) };
}

/* A parser for a file that begins with this line. */
static int start(struct trace_parser *p, const char *format, const char *first,
		 const struct trace_options *opts)
{
	struct atw_blob l = line_of(first);

	err = (struct atw_err){ 0 };
	return trace_parser_init(p, trace_format_named(format), opts, &l, 1, &err);
}

/* One line in a format, which is also the one detected if `detected`. */
static int one_with(const char *format, const struct trace_options *opts, const char *s,
		    struct trace_ref *ret)
{
	struct trace_parser p;
	int r = start(&p, format, s, opts);

	*ret = (struct trace_ref){ 0 };
	return r < 0 ? r : trace_parse(&p, line_of(s), ret, &err);
}

static int one(const char *s, struct trace_ref *ret)
{
	struct atw_blob l = line_of(s);
	const struct trace_format *f = trace_format_detect(&l, 1);

	return f ? one_with(f->name, NULL, s, ret) : ATW_E_NONE;
}

static bool is(struct atw_blob b, const char *s)
{
	return b.len == strlen(s) && !memcmp(b.data, s, b.len);
}

/* ---- perf ---- */

#define HEAD (TRACE_HAS_TID | TRACE_HAS_TIME)

TEST(perf_default_fields)
{
	struct trace_ref r;

	CHECK_EQ(one("            true 21386 34969.610090:          1 page-faults:  ffffffff817554ea elf_load+0x28a ([kernel.kallsyms])", &r), ATW_OK);
	CHECK_EQ(r.has, HEAD | TRACE_HAS_IP);
	CHECK_EQ(r.tid, 21386);
	CHECK_EQ(r.time, 34969610090000);
	CHECK_EQ(r.count, 1);
	CHECK_EQ(r.ip, 0xffffffff817554ea);
	CHECK(is(r.task, "true"));
	CHECK(is(r.symbol, "elf_load+0x28a"));
}

TEST(perf_page_faults_with_addresses)
{
	struct trace_ref r;

	CHECK_EQ(one("            true 21386 34969.610259:          1 page-faults:     7ffc11e67939 [unknown] ([stack]) ffffffff81b75d98 _copy_to_user+0x28 ([kernel.kallsyms])               0", &r), ATW_OK);
	CHECK_EQ(r.has, HEAD | TRACE_HAS_ADDRESS | TRACE_HAS_IP);
	CHECK_EQ(r.address, 0x7ffc11e67939);
	CHECK_EQ(r.ip, 0xffffffff81b75d98);
	CHECK_EQ(one("            true 21386 34969.610281:          1 page-faults:     7f71d90fab70 _start+0x0 (/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2)     7f71d90fab70 _start+0x0 (/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2)        13456b70", &r), ATW_OK);
	CHECK_EQ(r.address, 0x7f71d90fab70);
	CHECK_EQ(r.ip, 0x7f71d90fab70);
	CHECK_EQ(r.physical, 0x13456b70);
}

TEST(perf_memory_samples)
{
	static const char text[] =
		"chromium-browse   46572 [002] 544966.882384:      10000 \tcpu_core/MEM_UOPS_RETIRED.LOAD_LATENCY/: 7ffdf1391b0c     10268100142 |OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK    N/A    5   7    0   7fad7c47425d [unknown] (/usr/lib64/libglib-2.0.so.0.8000.3)";
	struct trace_ref r;

	CHECK_EQ(one(text, &r), ATW_OK);
	CHECK_EQ(r.has, HEAD | TRACE_HAS_CPU | TRACE_HAS_ADDRESS | TRACE_HAS_SOURCE |
			TRACE_HAS_WEIGHT | TRACE_HAS_IP);
	CHECK_EQ(r.tid, 46572);
	CHECK_EQ(r.cpu, 2);
	CHECK_EQ(r.count, 10000);
	CHECK_EQ(r.address, 0x7ffdf1391b0c);
	CHECK_EQ(r.source, 0x10268100142);
	CHECK_EQ(r.weight, 5);
	CHECK_EQ(r.ip, 0x7fad7c47425d);
	CHECK_EQ(r.kind, TRACE_KIND_READ);
	CHECK(is(r.symbol, "[unknown]"));
}

TEST(perf_memory_samples_of_other_versions)
{
	struct trace_ref r;

	/* Before the names of the first sections were printed. */
	CHECK_EQ(one("  ls 14753 [011]  3678.072400:          1    tlb-access:         88000182 L1 miss|SNP N/A|TLB Walker hit|LCK No|BLK  N/A ffffa7c22b4b2a00 [unknown] ([kernel.kallsyms])", &r), ATW_OK);
	CHECK_EQ(r.has, HEAD | TRACE_HAS_CPU | TRACE_HAS_SOURCE | TRACE_HAS_IP);
	CHECK_EQ(r.source, 0x88000182);
	CHECK_EQ(r.ip, 0xffffa7c22b4b2a00);
	CHECK_EQ(one("  sve-test 6516696.714341:  444000288100144 |OP STORE SIMD|LVL L1 hit|SNP None|TLB Walker hit|LCK No|BLK  N/A|AFF PRED SG", &r), ATW_OK);
	CHECK_EQ(r.has, TRACE_HAS_TIME | TRACE_HAS_SOURCE);
	CHECK_EQ(r.source, 0x444000288100144);
	CHECK_EQ(r.kind, TRACE_KIND_WRITE);
}

TEST(perf_physical_and_page_size)
{
	static const char text[] =
		" mcf 1774/1775 [002] 546.882384999: 3 cpu/mem-stores/P:     7ffdf1391b0c      10268100144 |OP STORE|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A               5     7fad7c47425d add (/usr/bin/m c f)      23456b0c 2M 4K";
	struct trace_ref r;

	CHECK_EQ(one(text, &r), ATW_OK);
	CHECK_EQ(r.pid, 1774);
	CHECK_EQ(r.tid, 1775);
	CHECK_EQ(r.time, 546882384999);
	CHECK_EQ(r.address, 0x7ffdf1391b0c);
	CHECK_EQ(r.weight, 5);
	CHECK_EQ(r.ip, 0x7fad7c47425d);
	CHECK_EQ(r.physical, 0x23456b0c);
	CHECK_EQ(r.page_size, 2 << 20);
	CHECK_EQ(r.kind, TRACE_KIND_WRITE);
	CHECK(is(r.symbol, "add"));
	CHECK_EQ(one("    555f4eb2c1e0 __progname+0x0 (/usr/bin/true)      1e05080021 |OP N/A|LVL N/A or N/A|SNP N/A|TLB N/A|LCK N/A|BLK  N/A               0 ffffffff817554ea elf_load+0x28a ([kernel.kallsyms]) N/A", &r), ATW_OK);
	CHECK_EQ(r.has, TRACE_HAS_ADDRESS | TRACE_HAS_SOURCE | TRACE_HAS_WEIGHT | TRACE_HAS_IP);
	CHECK_EQ(r.address, 0x555f4eb2c1e0);
	CHECK_EQ(r.weight, 0);
	CHECK_EQ(r.ip, 0xffffffff817554ea);
}

TEST(perf_few_fields)
{
	struct trace_options o = { .fields = "comm,tid,addr,phys_addr" };
	struct trace_ref r;

	CHECK_EQ(one("    555f4eb2c1e0 ffffffff817554ea", &r), ATW_OK);
	CHECK_EQ(r.has, TRACE_HAS_ADDRESS | TRACE_HAS_IP);
	CHECK_EQ(r.address, 0x555f4eb2c1e0);
	CHECK_EQ(r.ip, 0xffffffff817554ea);
	CHECK_EQ(one("    555f4eb2c1e0 4K", &r), ATW_OK);
	CHECK_EQ(r.has, TRACE_HAS_ADDRESS | TRACE_HAS_PAGE_SIZE);
	CHECK_EQ(r.page_size, 4096);
	CHECK_EQ(one_with("perf", &o, "Web Content 4711     555f4eb2c1e0        23456b0c", &r), ATW_OK);
	CHECK_EQ(r.has, TRACE_HAS_TID | TRACE_HAS_ADDRESS | TRACE_HAS_PHYSICAL);
	CHECK_EQ(r.tid, 4711);
	CHECK_EQ(r.address, 0x555f4eb2c1e0);
	CHECK_EQ(r.physical, 0x23456b0c);
	CHECK(is(r.task, "Web Content"));
	o.fields = "pid,time,period,ip,weight,addr,code_page_size";
	CHECK_EQ(one_with("perf", &o, " 12 1.000001: 9     555f4eb2c1e0     35    7fad7c47425d 4K", &r), ATW_OK);
	CHECK_EQ(r.has, TRACE_HAS_PID | TRACE_HAS_TIME | TRACE_HAS_ADDRESS | TRACE_HAS_WEIGHT |
			TRACE_HAS_IP);
	CHECK_EQ(r.pid, 12);
	CHECK_EQ(r.count, 9);
	CHECK_EQ(r.weight, 35);
	CHECK_EQ(r.ip, 0x7fad7c47425d);
}

/* The address of an instruction can be short, and have digits of decimal numbers alone. */
TEST(perf_short_addresses)
{
	struct trace_ref r;

	CHECK_EQ(one(" cc1 7/8 1.000001: page-faults:     7f1234567890           405123", &r), ATW_OK);
	CHECK_EQ(r.has, HEAD | TRACE_HAS_PID | TRACE_HAS_ADDRESS | TRACE_HAS_IP);
	CHECK_EQ(r.ip, 0x405123);
	CHECK_EQ(one(" cc1 7/8 1.000001: page-faults:     7f1234567890           405123         23456890", &r), ATW_OK);
	CHECK_EQ(r.ip, 0x405123);
	CHECK_EQ(r.physical, 0x23456890);
	CHECK_EQ(one(" cc1 7/8 1.000001: page-faults:     7f1234567890 [unknown] ([stack])           405123 f+0x3 (/cc1)", &r), ATW_OK);
	CHECK_EQ(r.address, 0x7f1234567890);
	CHECK_EQ(r.ip, 0x405123);
	CHECK_EQ(one(" cc1 7/8 1.000001: mem-loads:     7f1234567890      10268100142 |OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A               35           405123", &r), ATW_OK);
	CHECK_EQ(r.weight, 35);
	CHECK_EQ(r.ip, 0x405123);
	CHECK_EQ(one(" cc1 7/8 1.000001: mem-loads:     7f1234567890      10268100142 |OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A           405123", &r), ATW_OK);
	CHECK(!(r.has & TRACE_HAS_WEIGHT));
	CHECK_EQ(r.ip, 0x405123);
	/* A symbol follows the instruction, so that there is a weight. */
	CHECK_EQ(one(" cc1 7/8 1.000001: mem-loads:     7f1234567890           405123           405123 add (/cc1)", &r), ATW_OK);
	CHECK_EQ(r.weight, 405123);
	CHECK_EQ(r.ip, 0x405123);
}

TEST(perf_addresses_of_instructions)
{
	const struct trace_options o = { .address = "ip" };
	struct trace_ref r;

	CHECK_EQ(one_with("perf", &o, " a 7 1.000001: 9 cycles:u:   555f4eb2c1e0 main+0x8 (/bin/a)", &r), ATW_OK);
	CHECK_EQ(r.has, HEAD | TRACE_HAS_IP | TRACE_HAS_ADDRESS);
	CHECK_EQ(r.address, 0x555f4eb2c1e0);
	CHECK_EQ(r.kind, TRACE_KIND_FETCH);
}

TEST(perf_lines_without_references)
{
	static const char *const lines[] = {
		"", "# captured on: Mon", "\t    7f71d90fab70 main+0x1 (/bin/a)",
		" perf 1 [000] 0.000000: PERF_RECORD_MMAP2 7/7: [0x1000(0x2000) @ 0 fe:00 1 2]: r-xp a",
	};
	struct trace_ref r;

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		CHECK_EQ(one_with("perf", NULL, lines[i], &r), ATW_END);
}

TEST(perf_bad_lines)
{
	struct trace_ref r;

	CHECK_EQ(one(" a 7 1.000001: 1 f:  123456789abcdef012 4567890123 s (x)", &r), ATW_E_FORMAT);
	CHECK_STR(err.text, "line 1: '123456789abcdef012' is not an address");
	CHECK_EQ(one(" a 4294967296 1.000001: 1 f:  1000 s (x)", &r), ATW_E_FORMAT);
	CHECK_STR(err.text, "line 1: '4294967296' is not the number of a thread");
	CHECK_EQ(one(" a 7 18446744073.000001: 1 f:  1000 s (x)", &r), ATW_E_FORMAT);
	CHECK_STR(err.text, "line 1: '18446744073.000001' is not a time in seconds");
	CHECK_EQ(one(" a 7 1.000001: 18446744073709551616 f:  1000 s (x)", &r), ATW_E_FORMAT);
	CHECK_STR(err.text, "line 1: '18446744073709551616' is not a period");
}

TEST(perf_fields_are_checked)
{
	struct trace_options o = { .fields = "comm,tid,ip" };
	struct trace_parser p;

	CHECK_EQ(start(&p, "perf", "", &o), ATW_E_MISSING);
	CHECK_STR(err.text, "the fields have no addr");
	o.fields = "addr,color";
	CHECK_EQ(start(&p, "perf", "", &o), ATW_E_USAGE);
	CHECK_STR(err.text, "unknown field 'color' of perf script");
	CHECK_EQ(start(&p, "csv", "addr", &o), ATW_E_USAGE);
	o = (struct trace_options){ .address = "phys" };
	CHECK_EQ(start(&p, "perf", "", &o), ATW_E_USAGE);
	CHECK_EQ(start(&p, "lackey", "", &o), ATW_E_USAGE);
}

/* ---- lackey ---- */

TEST(lackey)
{
	static const struct {
		const char *line;
		int r;
		enum trace_kind kind;
		uint64_t address;
		uint32_t size;
	} want[] = {
		{ "==21648== Lackey, an example Valgrind tool", ATW_END, 0, 0, 0 },
		{ "==21648== Command: /bin/true", ATW_END, 0, 0, 0 },
		{ "I  0401ab70,3", ATW_OK, TRACE_KIND_FETCH, 0x401ab70, 3 },
		{ " S 1fff000708,8", ATW_OK, TRACE_KIND_WRITE, 0x1fff000708, 8 },
		{ " L 0401b770,512", ATW_OK, TRACE_KIND_READ, 0x401b770, 512 },
		{ " M 1fff000700,4\r", ATW_OK, TRACE_KIND_BOTH, 0x1fff000700, 4 },
		{ "output of the program", ATW_END, 0, 0, 0 },
		{ " S 1fff000708", ATW_E_FORMAT, 0, 0, 0 },
		{ " S xyz,8", ATW_E_FORMAT, 0, 0, 0 },
		{ " S 11fff000711fff0007,8", ATW_E_FORMAT, 0, 0, 0 },
		{ " S 1fff000708,-8", ATW_E_FORMAT, 0, 0, 0 },
		{ "==99999999999== Lackey, an example", ATW_E_FORMAT, 0, 0, 0 },
	};
	struct atw_blob first = line_of(want[0].line);
	struct trace_parser p;
	struct trace_ref r;

	CHECK_STR(trace_format_detect(&first, 1)->name, "lackey");
	CHECK_EQ(start(&p, "lackey", "", NULL), ATW_OK);
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		err = (struct atw_err){ 0 };
		CHECK_EQ(trace_parse(&p, line_of(want[i].line), &r, &err), want[i].r);
		CHECK_EQ(err.status, want[i].r < 0 ? want[i].r : 0);
		if (want[i].r != ATW_OK)
			continue;
		CHECK_EQ(r.kind, want[i].kind);
		CHECK_EQ(r.address, want[i].address);
		CHECK_EQ(r.size, want[i].size);
		CHECK_EQ(r.pid, 21648);
		CHECK_EQ(!!(r.has & TRACE_HAS_IP), r.kind == TRACE_KIND_FETCH);
	}
	CHECK_EQ(p.line, 12);
}

/* ---- DynamoRIO ---- */

TEST(dynamorio_view)
{
	struct trace_parser p;
	struct trace_ref r;

	CHECK_EQ(one("   173370: T1774669 read         8 byte(s) @ 0x00007f8881e37c70 by PC 0x0000000000402680", &r), ATW_OK);
	CHECK_EQ(r.has, TRACE_HAS_ADDRESS | TRACE_HAS_SIZE | TRACE_HAS_TID | TRACE_HAS_IP);
	CHECK_EQ(r.address, 0x7f8881e37c70);
	CHECK_EQ(r.ip, 0x402680);
	CHECK_EQ(r.size, 8);
	CHECK_EQ(r.tid, 1774669);
	CHECK_EQ(r.kind, TRACE_KIND_READ);
	CHECK_EQ(start(&p, "dynamorio", "", NULL), ATW_OK);
	CHECK_EQ(trace_parse(&p, line_of("          86          62:      296231 <marker: tid 296231 on core 10>"), &r, &err), ATW_END);
	CHECK_EQ(trace_parse(&p, line_of("          87          63:      296231 ifetch       2 byte(s) @ 0x0000000000401026 0f 05                syscall  -> %rcx %r11"), &r, &err), ATW_OK);
	CHECK_EQ(r.kind, TRACE_KIND_FETCH);
	CHECK_EQ(r.ip, 0x401026);
	CHECK_EQ(r.tid, 296231);
	CHECK(r.has & TRACE_HAS_CPU);
	CHECK_EQ(r.cpu, 10);
	CHECK_EQ(trace_parse(&p, line_of("          94          68:      296231                                             00"), &r, &err), ATW_END);
	CHECK_EQ(trace_parse(&p, line_of("   5   6: W1.T42 write        4 byte(s) @ 0x00007f8881e37c70 by PC 0x0000000000402680"), &r, &err), ATW_OK);
	CHECK_EQ(r.tid, 42);
	CHECK_EQ(r.kind, TRACE_KIND_WRITE);
	CHECK(!(r.has & TRACE_HAS_CPU));
	CHECK_EQ(trace_parse(&p, line_of("   5   6:     42 pref-r-L1    4 byte(s) @ 0x00007f8881e37c70 by PC 0x0000000000402680"), &r, &err), ATW_END);
	CHECK_EQ(trace_parse(&p, line_of("   5   6:     42 write     oops byte(s) @ 0x00007f8881e37c70"), &r, &err), ATW_E_FORMAT);
	CHECK_STR(err.text, "line 6: 'oops' is not a size");
}

TEST(dynamorio_memtrace)
{
	static const char simple[] = "Format: <data address>: <data size>, <(r)ead/(w)rite/opcode>";
	static const char x86[] = "Format: <instr address>,<(r)ead/(w)rite>,<data size>,<data address>";
	struct trace_parser p;
	struct trace_ref r;
	struct atw_blob l = line_of(simple);

	CHECK_STR(trace_format_detect(&l, 1)->name, "dynamorio");
	CHECK_EQ(start(&p, "dynamorio", simple, NULL), ATW_OK);
	CHECK_EQ(trace_parse(&p, l, &r, &err), ATW_END);
	CHECK_EQ(trace_parse(&p, line_of("0x7fff8ee72388:  8, w"), &r, &err), ATW_OK);
	CHECK_EQ(r.kind, TRACE_KIND_WRITE);
	CHECK_EQ(r.address, 0x7fff8ee72388);
	CHECK_EQ(trace_parse(&p, line_of("0x401000:  5, call"), &r, &err), ATW_OK);
	CHECK_EQ(r.kind, TRACE_KIND_FETCH);
	CHECK_EQ(r.ip, 0x401000);
	CHECK_EQ(trace_parse(&p, line_of("0x401000:  5"), &r, &err), ATW_E_FORMAT);
	l = line_of(x86);
	CHECK_STR(trace_format_detect(&l, 1)->name, "dynamorio");
	CHECK_EQ(trace_parse(&p, line_of("0x00007f1f1d5e7a90,r,8,0x00007fff51b6a5e0"), &r, &err), ATW_OK);
	CHECK_EQ(r.kind, TRACE_KIND_READ);
	CHECK_EQ(r.ip, 0x7f1f1d5e7a90);
	CHECK_EQ(r.address, 0x7fff51b6a5e0);
	CHECK_EQ(trace_parse(&p, line_of("0x00007f1f1d5e7a90,q,8,0x00007fff51b6a5e0"), &r, &err), ATW_E_FORMAT);
	CHECK_STR(err.text, "line 6: 'q' is not r or w");
}

/* ---- rows with a head ---- */

static int rows(struct trace_parser *p, const char *head, const char *row,
		const struct trace_options *opts)
{
	const struct atw_blob l[] = { line_of(head), line_of(row) };
	const struct trace_format *f = trace_format_detect(l, 2);
	struct trace_ref ref;
	int r;

	err = (struct atw_err){ 0 };
	if (!f || strcmp(f->name, "csv"))
		return ATW_E_NONE;
	r = trace_parser_init(p, f, opts, l, 2, &err);
	return r < 0 ? r : trace_parse(p, l[0], &ref, &err);
}

TEST(csv_columns)
{
	static const char row[] = "12,13,\"0x7f0000001234\",load,8,2,\"a \"\"b\"\"\",1.5,n/a,2M,main";
	struct trace_parser p;
	struct trace_ref r;

	CHECK_EQ(rows(&p, "PID,TID,Virtual Address,Access,Size,CPU,comm,time,weight,page-size,Symbol", row, NULL), ATW_END);
	CHECK_EQ(trace_parse(&p, line_of(row), &r, &err), ATW_OK);
	CHECK_EQ(r.has, TRACE_HAS_PID | TRACE_HAS_TID | TRACE_HAS_ADDRESS | TRACE_HAS_SIZE |
			TRACE_HAS_CPU | TRACE_HAS_TIME | TRACE_HAS_PAGE_SIZE);
	CHECK_EQ(r.address, 0x7f0000001234);
	CHECK_EQ(r.kind, TRACE_KIND_READ);
	CHECK_EQ(r.time, 1500000000);
	CHECK_EQ(r.page_size, 2 << 20);
	CHECK(is(r.symbol, "main"));
	CHECK_EQ(trace_parse(&p, line_of(""), &r, &err), ATW_END);
	CHECK_EQ(trace_parse(&p, line_of("12,13"), &r, &err), ATW_E_FORMAT);
	CHECK_STR(err.text, "line 4 has 2 of 11 fields");
	CHECK_EQ(trace_parse(&p, line_of("12,13,0x1,r,8,2,x,1.5,many,2M,f"), &r, &err), ATW_E_FORMAT);
	CHECK_STR(err.text, "line 5: 'many' is not a weight");
}

TEST(csv_bases)
{
	struct trace_parser p;
	struct trace_ref r;

	CHECK_EQ(rows(&p, "addr\tpid", "140737353977856\t7", NULL), ATW_END);
	CHECK_EQ(trace_parse(&p, line_of("140737353977856\t7"), &r, &err), ATW_OK);
	CHECK_EQ(r.address, 140737353977856);
	CHECK_EQ(trace_parse(&p, line_of("0x10\t7"), &r, &err), ATW_OK);
	CHECK_EQ(r.address, 0x10);
	CHECK_EQ(trace_parse(&p, line_of("7fff\t7"), &r, &err), ATW_E_FORMAT);
	CHECK_STR(err.text, "line 4: '7fff' is not an address: decimal or with 0x");
	CHECK_EQ(rows(&p, "addr;pid", "7ffff000;7", NULL), ATW_END);
	CHECK_EQ(trace_parse(&p, line_of("1000;7"), &r, &err), ATW_OK);
	CHECK_EQ(r.address, 0x1000);
	CHECK_EQ(trace_parse(&p, line_of("10000000000000000;7"), &r, &err), ATW_E_FORMAT);
	CHECK_STR(err.text, "line 3: '10000000000000000' is not a hexadecimal address");
}

TEST(csv_a_named_column)
{
	struct trace_options o = { .address = "where" };
	struct trace_parser p;
	struct trace_ref r;

	CHECK_EQ(rows(&p, "addr,Where,count", "0x1000,0x2000,3", &o), ATW_END);
	CHECK_EQ(trace_parse(&p, line_of("0x1000,0x2000,3"), &r, &err), ATW_OK);
	CHECK_EQ(r.has, TRACE_HAS_ADDRESS);
	CHECK_EQ(r.address, 0x2000);
	CHECK_EQ(r.count, 3);
	CHECK_EQ(trace_parse(&p, line_of("0x1000,0x2000,0"), &r, &err), ATW_END);
	o.address = "there";
	CHECK_EQ(rows(&p, "addr,where", "1,2", &o), ATW_E_USAGE);
	CHECK_STR(err.text, "the head has no column 'there'");
	CHECK_EQ(rows(&p, "pid,where", "1,2", NULL), ATW_E_MISSING);
	CHECK_STR(err.text, "the head has no column with a common name of addresses, such as address or addr");
}

/* ---- all of them ---- */

TEST(long_lines)
{
	struct trace_parser p;
	struct trace_ref r;
	static char text[TRACE_LINE_MAX + 2];

	memset(text, 'a', sizeof(text) - 1);
	CHECK_EQ(start(&p, "perf", "", NULL), ATW_OK);
	CHECK_EQ(trace_parse(&p, line_of(text), &r, &err), ATW_E_LIMIT);
	CHECK_STR(err.text, "line 1 has 16385 bytes, more than 16384");
	text[TRACE_LINE_MAX] = '\0';
	CHECK_EQ(trace_parse(&p, line_of(text), &r, &err), ATW_E_FORMAT);
	CHECK(strlen(err.text) < 120);
}

TEST(unknown_formats)
{
	struct atw_blob l = line_of("Dear reader, this is a letter");

	CHECK(!trace_format_detect(&l, 1));
	CHECK(!trace_format_detect(&l, 0));
	CHECK(!trace_format_named("pin"));
}
