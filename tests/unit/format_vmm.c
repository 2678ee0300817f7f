/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Command lines of QEMU, and where its machines place RAM: as `info mtree -f` has it. */
#include "format/vm_layout.h"
#include "format/vmm_maps.h"
#include "format/vmm_slots.h"
#include "test.h"

#define GIB UINT64_C(0x40000000)

/* Blanks separate words, because a literal cannot hold NULs in a legible way. */
static int parse(const char *line, struct vmm_words *ret, struct atw_err *err)
{
	static char text[1024];
	size_t len = strlen(line);

	memcpy(text, line, len + 1);
	for (size_t i = 0; i < len; i++)
		if (text[i] == ' ')
			text[i] = '\0';
	return vmm_words_parse((struct atw_blob){text, len + 1}, ret, err);
}

static bool is(struct atw_blob b, const char *s)
{
	return b.len == strlen(s) && (!b.len || !memcmp(b.data, s, b.len));
}

TEST(sizes)
{
	static const struct {
		const char *line;
		uint64_t ram;
	} cases[] = {
		{"qemu", UINT64_C(128) << 20},
		{"qemu -m 256", UINT64_C(256) << 20},
		{"qemu -m 256M", UINT64_C(256) << 20},
		{"qemu --m 6G", 6 * GIB},
		{"qemu -m size=4194304k,slots=16,maxmem=16g", 4 * GIB},
		{"qemu -m 1g,slots=2,maxmem=2g", GIB},
		{"qemu -m 1048577b", 1048576 + 8192},
		{"qemu -M q35,memory-backend=r -object memory-backend-memfd,id=r,size=3G",
		 3 * GIB},
		{"qemu -m 0x40", UINT64_C(64) << 20},
	};
	struct vmm_words w;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CHECK_EQ(parse(cases[i].line, &w, NULL), ATW_OK);
		CHECK_EQ(w.ram, cases[i].ram);
	}
	CHECK_EQ(parse("qemu -m 12x", &w, NULL), ATW_E_FORMAT);
	CHECK_EQ(parse("qemu -m 99999999999999E", &w, NULL), ATW_E_FORMAT);
	CHECK_EQ(vmm_words_parse((struct atw_blob){"", 0}, &w, NULL), ATW_E_FORMAT);
}

TEST(names)
{
	static const struct {
		const char *line, *name;
	} cases[] = {
		{"qemu -m 256", ""},
		{"qemu -name vm1", "vm1"},
		{"qemu -name guest=web,debug-threads=on", "web"},
		{"qemu -name debug-threads=on,guest=web", "web"},
		{"qemu -name web,process=qemu:web", "web"},
		{"qemu -id 104", "104"},
		{"qemu -id 104 -name db", "db"},
		{"qemu -name db -id 104", "db"},
		{"qemu -name", ""},
	};
	struct vmm_words w;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CHECK_EQ(parse(cases[i].line, &w, NULL), ATW_OK);
		CHECK(is(w.name, cases[i].name));
	}
}

TEST(machines_and_backends)
{
	struct vmm_words w;

	CHECK_EQ(parse("qemu -nodefaults -M q35,accel=kvm,memory-backend=ram0 "
		       "-object "
		       "memory-backend-file,id=ram0,size=256M,mem-path=/a,,b=c,share=on "
		       "-machine max-ram-below-4g=1G -m 256M",
		       &w, NULL),
		 ATW_OK);
	CHECK(is(w.machine, "q35") && is(w.backend, "ram0"));
	CHECK_EQ(w.below_4g, GIB);
	CHECK_EQ(w.nbackends, 1);
	CHECK_EQ(vmm_words_backend(&w, w.backend)->size, UINT64_C(256) << 20);
	CHECK(!w.extra && w.secret == VMM_OPEN);
	/* As libvirt writes them */
	CHECK_EQ(parse("qemu -machine "
		       "pc-q35-7.2,usb=off,memory-backend=pc.ram,dump-guest-core=off "
		       "-object "
		       "{\"qom-type\":\"memory-backend-ram\",\"host-nodes\":[0,{\"a\":\"}"
		       "\"}],"
		       "\"id\":\"pc.ram\",\"size\":2147483648} -m size=2097152k "
		       "-object "
		       "{\"qom-type\":\"secret\",\"id\":\"key\",\"format\":\"raw\"} "
		       "-device {\"driver\":\"pc-dimm\",\"id\":\"d\"}",
		       &w, NULL),
		 ATW_OK);
	CHECK(is(w.machine, "pc-q35-7.2") && is(w.backend, "pc.ram"));
	CHECK_EQ(w.nbackends, 1);
	CHECK_EQ(vmm_words_backend(&w, w.backend)->size, 2 * GIB);
	CHECK(w.extra);
	CHECK_EQ(parse("qemu -machine type=virt -object sev-guest,id=s", &w, NULL),
		 ATW_OK);
	CHECK(is(w.machine, "virt") && w.secret == VMM_SEV);
	CHECK_EQ(parse("qemu -object sev-snp-guest,id=s", &w, NULL), ATW_OK);
	CHECK_EQ(w.secret, VMM_SEV_SNP);
	CHECK_EQ(parse("qemu -object {\"qom-type\":\"tdx-guest\",\"id\":\"t\"}", &w, NULL), ATW_OK);
	CHECK_EQ(w.secret, VMM_TDX);
	/* An option at the end lacks its value. */
	CHECK_EQ(parse("qemu -M", &w, NULL), ATW_OK);
	CHECK(!w.machine.len && !vmm_words_backend(&w, w.backend));
}

/* Only sockets at which QEMU does not wait for a first client, and only of QMP. */
TEST(monitors)
{
	static const struct {
		const char *line, *path;
	} cases[] = {
		{"qemu -qmp unix:/run/q,server=on,wait=off", "/run/q"},
		{"qemu -qmp unix:/run/q,server,nowait", "/run/q"},
		{"qemu -qmp unix:q,server,nowait", "q"},
		{"qemu -qmp unix:/run/q,server=on,wait=on", ""},
		{"qemu -qmp unix:/run/q,server", ""},
		{"qemu -qmp unix:/run/q", ""},
		{"qemu -qmp unix:/run/q,server=off,wait=off", ""},
		{"qemu -qmp unix:/run/a,,b,server,nowait", ""},
		{"qemu -qmp unix:,server,nowait", ""},
		{"qemu -qmp tcp:localhost:4444,server,nowait", ""},
		{"qemu -monitor unix:/run/h,server,nowait", ""},
		{"qemu -mon chardev=c,mode=control -chardev "
		 "socket,id=c,path=/run/c,server=on,wait=off", "/run/c"},
		{"qemu -chardev socket,path=/run/c,server=on,wait=off,id=c -mon c,mode=control",
		 "/run/c"},
		{"qemu -chardev socket,id=c,fd=31,server=on,wait=off -mon chardev=c,mode=control", ""},
		{"qemu -chardev socket,id=c,path=/run/c,server=on,wait=off -mon "
		 "chardev=c,mode=readline", ""},
		{"qemu -chardev socket,id=c,path=/run/c,server=on,wait=off -mon "
		 "chardev=c,mode=control,pretty=on", ""},
		{"qemu -chardev socket,id=c,path=/run/c,server=on,wait=off -mon "
		 "chardev=d,mode=control", ""},
	};
	static const char text[] = "qemu\0-qmp\0unix:/run/q,server,nowait\0-serial\0unix:/run/s\0";
	const struct atw_blob line = {text, sizeof(text) - 1};
	struct vmm_words w;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CHECK_EQ(parse(cases[i].line, &w, NULL), ATW_OK);
		CHECK_EQ(w.nmonitors, *cases[i].path != 0);
		CHECK(!w.nmonitors || is(w.monitors[0], cases[i].path));
	}
	CHECK_EQ(vmm_words_parse(line, &w, NULL), ATW_OK);
	CHECK(vmm_words_is_monitor(&w, line, "/run/q"));
	CHECK(!vmm_words_is_monitor(&w, line, "/run/s"));
	CHECK(vmm_words_is_monitor(&w, line, "/run/another"));
}

TEST(nodes)
{
	struct vmm_words w;

	CHECK_EQ(parse("qemu -m 4G -object memory-backend-ram,size=3G,id=a "
		       "-object memory-backend-ram,size=1G,id=b "
		       "-numa node,nodeid=1,memdev=a -numa "
		       "node,nodeid=0,cpus=0-1,memdev=b "
		       "-numa dist,src=0,dst=1,val=20",
		       &w, NULL),
		 ATW_OK);
	CHECK_EQ(w.nnodes, 2);
	CHECK(is(w.nodes[0], "b") && is(w.nodes[1], "a"));
	CHECK_EQ(vmm_words_backend(&w, w.nodes[1])->size, 3 * GIB);
	CHECK(!vmm_words_are_ambiguous(&w));
	CHECK_EQ(parse("qemu -m 4G -object memory-backend-ram,size=2G,id=a "
		       "-object memory-backend-ram,size=2G,id=b "
		       "-numa node,memdev=a -numa node,memdev=b",
		       &w, NULL),
		 ATW_OK);
	CHECK(vmm_words_are_ambiguous(&w));
}

TEST(programs)
{
	CHECK_EQ(vmm_arch_of("/usr/bin/qemu-system-x86_64"), VMM_ARCH_X86_64);
	CHECK_EQ(vmm_arch_of("qemu-system-aarch64 (deleted)"), VMM_ARCH_ARM64);
	CHECK_EQ(vmm_arch_of("/x/qemu-system-riscv64"), VMM_ARCH_RISCV64);
	CHECK_EQ(vmm_arch_of("/usr/libexec/qemu-kvm"), VMM_ARCH_HOST);
	CHECK_EQ(vmm_arch_of("/usr/bin/qemu-system-s390x"), VMM_ARCH_OTHER);
	CHECK_EQ(vmm_arch_of("/usr/bin/qemu-x86_64"), VMM_ARCH_UNKNOWN);
	CHECK_EQ(vmm_arch_of("/bin/sleep"), VMM_ARCH_UNKNOWN);
}

static int layout(enum vmm_arch arch, const char *machine, uint64_t ram, uint64_t below,
		  struct vm_layout *ret)
{
	struct vmm_words w = {
		.machine = {machine, strlen(machine)},
		.ram = ram,
		.below_4g = below,
	};

	return vm_layout_of(arch, &w, ret, NULL);
}

TEST(layouts_of_x86)
{
	static const struct {
		const char *machine;
		uint64_t ram, below, low;
	} cases[] = {
		{"q35", GIB, 0, GIB},
		{"q35", 0xb0000000 - 0x2000, 0, 0xb0000000 - 0x2000},
		{"q35", 0xb0000000, 0, 0x80000000},
		{"pc-q35-7.2", 6 * GIB, 0, 0x80000000},
		{"q35", 6 * GIB, GIB, GIB},
		{"q35", 2 * GIB, GIB, GIB},
		{"", 0xe0000000 - 0x2000, 0, 0xe0000000 - 0x2000},
		{"pc", 0xe0000000, 0, 0xc0000000},
		{"pc-i440fx-7.2", 6 * GIB, 0, 0xc0000000},
		{"pc-i440fx-1.7", 6 * GIB, 0, 0xe0000000},
		{"pc", 3 * GIB, 2 * GIB, 2 * GIB},
		{"microvm", 4 * GIB, 0, 0xc0000000},
	};
	struct vm_layout l;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t low = cases[i].low, high = cases[i].ram - low;

		CHECK_EQ(layout(VMM_ARCH_X86_64, cases[i].machine, cases[i].ram,
				cases[i].below, &l),
			 ATW_OK);
		CHECK_EQ(l.v[0].gpa, 0);
		CHECK_EQ(l.v[0].len, low);
		CHECK_EQ(l.v[0].offset, 0);
		CHECK_EQ(l.n, high ? 2 : 1);
		if (high) {
			CHECK_EQ(l.v[1].gpa, 4 * GIB);
			CHECK_EQ(l.v[1].len, high);
			CHECK_EQ(l.v[1].offset, low);
		}
	}
	CHECK_EQ(layout(VMM_ARCH_X86_64, "q35", 1024 * GIB, 0, &l), ATW_E_UNSUPPORTED);
	CHECK_EQ(layout(VMM_ARCH_X86_64, "xenfv", GIB, 0, &l), ATW_E_UNSUPPORTED);
}

TEST(layouts_of_others)
{
	struct vm_layout l;

	CHECK_EQ(layout(VMM_ARCH_ARM64, "virt-10.0", 384 << 20, 0, &l), ATW_OK);
	CHECK_EQ(l.n, 1);
	CHECK_EQ(l.v[0].gpa, GIB);
	CHECK_EQ(l.v[0].len, 384 << 20);
	CHECK_EQ(layout(VMM_ARCH_ARM64, "sbsa-ref", GIB, 0, &l), ATW_OK);
	CHECK_EQ(l.v[0].gpa, UINT64_C(0x10000000000));
	CHECK_EQ(layout(VMM_ARCH_RISCV64, "virt", 8 * GIB, 0, &l), ATW_OK);
	CHECK_EQ(l.n, 1);
	CHECK_EQ(l.v[0].gpa, 2 * GIB);
	CHECK_EQ(l.v[0].len, 8 * GIB);
	/* aarch64 has no default. */
	CHECK_EQ(layout(VMM_ARCH_ARM64, "", GIB, 0, &l), ATW_E_UNSUPPORTED);
	CHECK_EQ(layout(VMM_ARCH_ARM64, "virtual", GIB, 0, &l), ATW_E_UNSUPPORTED);
	CHECK_EQ(layout(VMM_ARCH_ARM64, "virt", UINT64_MAX, 0, &l), ATW_E_FORMAT);
}

static size_t find(const char *maps, bool smaps, uint64_t size, struct procmaps_area *v,
		   size_t max)
{
	return vmm_maps_find((struct atw_blob){maps, strlen(maps)}, smaps, size, v, max);
}

/* A mapping is followed by one without rights; JIT buffers and heaps are no RAM. */
TEST(mappings)
{
	static const char maps[] =
		"10000000-20000000 rwxp 00000000 00:00 0 \n"
		"20000000-30000000 rw-p 00000000 00:00 0 [heap]\n"
		"7f0000000000-7f0010000000 rw-p 00000000 00:00 0 \n"
		"7f0010000000-7f0010001000 ---p 00000000 00:00 0 \n"
		"7f0020000000-7f0028000000 rw-s 00000000 00:01 5 "
		"/memfd:memory-backend-memfd (deleted)\n"
		"7f0028000000-7f0030000000 rw-s 08000000 00:01 5 "
		"/memfd:memory-backend-memfd (deleted)\n"
		"7f0040000000-7f0050000000 rw-s 00000000 00:01 6 /dev/zero (deleted)\n"
		"7f0060000000-7f0070000000 r--p 00000000 00:01 7 /a\n"
		"7f0080000000-7f0088000000 rw-s 00000000 00:01 8 /b\n"
		"7f0088000000-7f0090000000 rw-s 00000000 00:01 9 /c\n";
	struct procmaps_area v[8];

	CHECK_EQ(find(maps, false, 0x10000000, v, 8), 3);
	CHECK_EQ(v[0].start, 0x7f0040000000);
	CHECK_EQ(v[1].start, 0x7f0020000000);
	CHECK_EQ(v[1].end, 0x7f0030000000);
	CHECK_EQ(v[1].inode, 5);
	CHECK_EQ(v[2].start, 0x7f0000000000);
	/* The first ones, and how many there are */
	CHECK_EQ(find(maps, false, 0x10000000, v, 1), 3);
	CHECK_EQ(v[0].start, 0x7f0040000000);
	CHECK_EQ(find(maps, false, 0x10000000, NULL, 0), 3);
	CHECK_EQ(find(maps, false, 0x20000000, v, 8), 0);
	CHECK_EQ(find("", false, 0x20000000, v, 8), 0);
	CHECK_EQ(vmm_maps_largest((struct atw_blob){maps, strlen(maps)}, v, 8), 6);
	CHECK_EQ(v[0].start, 0x7f0000000000);
	CHECK_EQ(v[1].start, 0x7f0040000000);
	CHECK_EQ(v[2].start, 0x7f0020000000);
	CHECK_EQ(v[5].start, 0x7f0088000000);
	CHECK_EQ(vmm_maps_largest((struct atw_blob){maps, strlen(maps)}, v, 1), 1);
	CHECK_EQ(v[0].start, 0x7f0000000000);
	CHECK_EQ(vmm_maps_largest((struct atw_blob){maps, 40}, v, 8), 0);
}

TEST(mappings_that_forks_do_not_get)
{
	static const char smaps[] = "7f0000000000-7f0000100000 rw-p 00000000 00:00 0 \n"
				    "Size:               1024 kB\n"
				    "VmFlags: rd wr mr mw me ac hg \n"
				    "7f0000200000-7f0000300000 rw-p 00000000 00:00 0 \n"
				    "Size:               1024 kB\n"
				    "VmFlags: rd wr mr mw me dc ac hg mg \n"
				    "7f0000400000-7f0000500000 rw-p 00000000 00:00 0 \n";
	struct procmaps_area v[4];

	CHECK_EQ(find(smaps, false, 0x100000, v, 4), 3);
	CHECK_EQ(find(smaps, true, 0x100000, v, 4), 1);
	CHECK_EQ(v[0].start, 0x7f0000200000);
}

TEST(mappings_that_are_filled_in_late)
{
	static const char smaps[] = "7f0000000000-7f0000100000 rw-p 00000000 00:00 0 \n"
				    "Size:               1024 kB\n"
				    "VmFlags: rd wr mr mw me um dc hg \n"
				    "7f0000200000-7f0000300000 rw-p 00000000 00:00 0 \n"
				    "VmFlags: rd wr mr mw me dc uw \n"
				    "7f0000400000-7f0000500000 rw-s 00000000 00:00 5 /um um\n"
				    "7f0000600000-7f0000700000 rw-p 00000000 00:00 0 \n"
				    "VmFlags: rd um \n";
	const struct atw_blob text = { smaps, sizeof(smaps) - 1 };
	struct procmaps_area a;
	size_t pos = 0;

	CHECK(vmm_maps_next_late(text, &pos, &a));
	CHECK_EQ(a.start, 0x7f0000000000);
	CHECK(vmm_maps_next_late(text, &pos, &a));
	CHECK_EQ(a.start, 0x7f0000600000);
	CHECK(!vmm_maps_next_late(text, &pos, &a));
	CHECK(!vmm_maps_next_late((struct atw_blob){ smaps, 0 }, &(size_t){ 0 }, &a));
}

TEST(typed_layouts)
{
	static const struct {
		const char *text, *why;
	} wrong[] = {
		{"", "'' is not GPA:HVA:LEN, as in 0:7f0000000000:4G"},
		{"0:7f0000000000", "'0:7f0000000000' is not GPA:HVA:LEN, as in 0:7f0000000000:4G"},
		{"0:7f0000000000:1G,", "'' is not GPA:HVA:LEN, as in 0:7f0000000000:4G"},
		{"0::1G", "'0::1G' is not GPA:HVA:LEN, as in 0:7f0000000000:4G"},
		{"0:7f0000000000:1G:1", "'0:7f0000000000:1G:1' is not GPA:HVA:LEN, as in 0:7f0000000000:4G"},
		{"-1:7f0000000000:1G", "'-1:7f0000000000:1G' is not GPA:HVA:LEN, as in 0:7f0000000000:4G"},
		{"0:10000000000000000:1G", "'0:10000000000000000:1G' is not GPA:HVA:LEN, as in 0:7f0000000000:4G"},
		{"0:7f0000000000:99999999E", "'0:7f0000000000:99999999E' is not GPA:HVA:LEN, as in 0:7f0000000000:4G"},
		{"0:7f0000000000:0", "'0:7f0000000000:0' does not consist of whole pages of 4096 bytes"},
		{"0:7f0000000800:1G", "'0:7f0000000800:1G' does not consist of whole pages of 4096 bytes"},
		{"1:7f0000000000:1G", "'1:7f0000000000:1G' does not consist of whole pages of 4096 bytes"},
		{"0:7f0000000000:4095", "'0:7f0000000000:4095' does not consist of whole pages of 4096 bytes"},
		{"0:fffffffffffff000:8K", "'0:fffffffffffff000:8K' ends behind the last address"},
		{"fffffffffffff000:1000:8K", "'fffffffffffff000:1000:8K' ends behind the last address"},
		{"1000:1000:8K,0:9000:8K", "two pieces have the address 0x1000 of the guest"},
		{"0:1000:4K,0:1000:4K", "two pieces have the address 0x0 of the guest"},
	};
	struct vmm_slot *v = NULL;
	struct atw_err err = {0};
	char many[VMM_SLOTS * 16 + 32];
	size_t n = 0, len = 0;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		CHECK_EQ(vmm_slots_parse(wrong[i].text, &v, &n, &err), ATW_E_USAGE);
		CHECK_EQ(err.param, ATW_PARAM_LAYOUT);
		CHECK_STR(err.text, wrong[i].why);
	}
	CHECK(!v && !n);
	CHECK_EQ(vmm_slots_parse("100000000:0x7f0080000000:1G,0x0:7f0000000000:0x80000000", &v, &n, NULL),
		 ATW_OK);
	CHECK_EQ(n, 2);
	CHECK_EQ(v[0].gpa, 0);
	CHECK_EQ(v[0].address, UINT64_C(0x7f0000000000));
	CHECK_EQ(v[0].len, UINT64_C(0x80000000));
	CHECK_EQ(v[1].gpa, UINT64_C(0x100000000));
	CHECK_EQ(v[1].len, GIB);
	free(v);
	for (int i = 0; i <= VMM_SLOTS; i++)
		len += (size_t)snprintf(many + len, sizeof(many) - len, "%s%x:1000:4K", i ? "," : "",
					i * 4096);
	CHECK_EQ(vmm_slots_parse(many, &v, &n, &err), ATW_E_LIMIT);
	CHECK_STR(err.text, "more than 512 pieces");
	*strrchr(many, ',') = '\0';
	CHECK_EQ(vmm_slots_parse(many, &v, &n, &err), ATW_OK);
	CHECK_EQ(n, VMM_SLOTS);
	free(v);
}

/* Of two mappings that touch, of which the second may be read only in part. */
TEST(layouts_in_a_process)
{
	static const char maps[] = "1000-3000 rw-p 00000000 00:00 0 \n"
				   "3000-5000 r--s 00000000 00:01 7 /a\n"
				   "5000-6000 ---p 00000000 00:00 0 \n"
				   "7000-8000 rw-p 00000000 00:00 0 \n";
	static const struct {
		uint64_t address, len, missing;
	} cases[] = {
		{0x1000, 0x2000, 0}, {0x1000, 0x4000, 0}, {0x2000, 0x2000, 0}, {0x4000, 0x1000, 0},
		{0x7000, 0x1000, 0}, {0x1000, 0x5000, 0x5000}, {0x5000, 0x1000, 0x5000},
		{0x6000, 0x1000, 0x6000}, {0x7000, 0x2000, 0x8000}, {0, 0x2000, 0x0},
		{0x4000, UINT64_C(0xffffffffffff0000), 0x5000},
	};
	struct vmm_slot v[] = {{.gpa = 0, .address = 0x1000, .len = 0x1000}, {.gpa = 0x10000}};
	struct atw_err err = {0};
	char want[64];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool good = !cases[i].missing && cases[i].address;

		v[1].address = cases[i].address;
		v[1].len = cases[i].len;
		CHECK_EQ(vmm_slots_check(v, 2, (struct atw_blob){maps, strlen(maps)}, &err),
			 good ? ATW_OK : ATW_E_MISSING);
		snprintf(want, sizeof(want), "the process has no readable memory at 0x%" PRIx64 ",",
			 cases[i].missing);
		CHECK(good || !strncmp(err.text, want, strlen(want)));
	}
	CHECK_EQ(vmm_slots_check(v, 0, (struct atw_blob){maps, strlen(maps)}, &err), ATW_OK);
	CHECK_EQ(vmm_slots_check(v, 1, (struct atw_blob){"", 0}, &err), ATW_E_MISSING);
}
