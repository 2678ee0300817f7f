// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Memory of guests of Firecracker, cloud-hypervisor, VMware and Xen, in files that are made
 * here by what is known of their formats.
 */
#include "test.h"
#include <sys/stat.h>

#include "base/cleanup.h"
#include "format/vmm_ranges.h"
#include "format/vmware.h"
#include "unit/image.h"

static int page_byte(struct atw_source *s, uint64_t pa)
{
	uint8_t buf[4096];

	return atw_read(s, ATW_PA(pa), buf, sizeof(buf), NULL) == sizeof(buf) ? buf[0] : -1;
}

static int open_as(const char *kind, const char *path, struct atw_source **s,
		   struct atw_err *err)
{
	char text[160];

	*s = NULL;
	snprintf(text, sizeof(text), "%s%s%s", kind, kind[0] ? ":" : "", path);
	return atw_source_open(text, NULL, 0, s, err);
}

TEST(firecracker_has_two_holes)
{
	struct vmm_range v[VMM_RANGES];
	const uint64_t g = UINT64_C(1) << 30;

	CHECK_EQ(firecracker_ranges(VMM_ARCH_X86_64, g, v), 1);
	CHECK_EQ(v[0].gpa, 0);
	CHECK_EQ(v[0].len, g);
	CHECK_EQ(firecracker_ranges(VMM_ARCH_X86_64, 4 * g, v), 2);
	CHECK_EQ(v[0].len, 3 * g);
	CHECK_EQ(v[1].gpa, 4 * g);
	CHECK_EQ(v[1].len, g);
	CHECK_EQ(firecracker_ranges(VMM_ARCH_X86_64, 300 * g, v), 3);
	CHECK_EQ(v[1].len, 252 * g);
	CHECK_EQ(v[2].gpa, 512 * g);
	CHECK_EQ(v[2].len, 45 * g);
	CHECK_EQ(firecracker_ranges(VMM_ARCH_ARM64, 4 * g, v), 1);
	CHECK_EQ(v[0].gpa, 2 * g);
	CHECK_EQ(v[0].len, 4 * g);
}

TEST(firecracker_memory_of_both_architectures)
{
	struct image im = {0};
	struct atw_source *s;
	struct atw_err err = {0};

	fill(&im, 0x1000, 0x1000, 'x');
	image_save(&im, im.len);
	CHECK_EQ(open_as("firecracker", im.path, &s, &err), ATW_OK);
	CHECK_EQ(page_byte(s, 0x1000), 'x');
	atw_source_close(s);
	put(&im, 0x200038, "ARM\x64", 4);
	image_save(&im, im.len);
	CHECK_EQ(open_as("firecracker", im.path, &s, &err), ATW_OK);
	CHECK_EQ(page_byte(s, 0x80001000), 'x');
	CHECK_EQ(page_byte(s, 0x1000), -1);
	atw_source_close(s);
	image_free(&im);
}

TEST(the_state_of_firecracker_points_to_the_memory)
{
	struct image im = {0};
	struct atw_source *s;
	struct atw_err err = {0};

	put_le(&im, 0, 8, UINT64_C(0x0710198486640000));
	put_le(&im, 8, 8, 3);
	CHECK_EQ(image_open(&im, im.len, &s, &err), ATW_E_UNSUPPORTED);
	CHECK(strstr(err.text, ": is the state of a Firecracker guest, without its memory"));
	CHECK(strstr(err.hint, "firecracker:PATH"));
	put_le(&im, 0, 8, UINT64_C(0x07101984aaaa0000));
	CHECK_EQ(image_open(&im, im.len, &s, &err), ATW_E_UNSUPPORTED);
	image_free(&im);
}

/* As it is written: a string of JSON in JSON. */
static const char cloud_json[] =
	"{\"snapshots\":{\"memory-manager\":{\"snapshots\":{},\"snapshot_data\":{\"state\":"
	"\"{\\\"memory_ranges\\\":{\\\"data\\\":[{\\\"gpa\\\":0,\\\"length\\\":8192},"
	"{\\\"gpa\\\":4294967296,\\\"length\\\":4096}]},\\\"guest_ram_mappings\\\":[{\\\"gpa\\\":9}]}\"}}}}";

TEST(cloud_hypervisor_lists_its_ranges)
{
	char dir[] = "/tmp/atwalk-test-XXXXXX", path[64], memory[64];
	struct vmm_range v[VMM_RANGES];
	struct image im = {0};
	struct atw_source *s;
	struct atw_err err = {0};
	size_t n = 0;
	FILE *f;

	CHECK_EQ(cloud_hypervisor_ranges((struct atw_blob){cloud_json, strlen(cloud_json)}, v,
					 &n, &err), ATW_OK);
	CHECK_EQ(n, 2);
	CHECK_EQ(v[0].gpa, 0);
	CHECK_EQ(v[0].len, 8192);
	CHECK_EQ(v[1].gpa, UINT64_C(1) << 32);
	CHECK_EQ(v[1].len, 4096);
	for (size_t len = 0; len < strlen(cloud_json) - 45; len++)
		if (cloud_hypervisor_ranges((struct atw_blob){cloud_json, len}, v, &n, NULL) == ATW_OK)
			CHECK_EQ(n, 2);
	CHECK(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/state.json", dir);
	snprintf(memory, sizeof(memory), "%s/memory-ranges", dir);
	CHECK_EQ(open_as("cloud-hypervisor", path, &s, &err), ATW_E_MISSING);
	f = fopen(path, "w");
	CHECK(f && fputs(cloud_json, f) > 0 && !fclose(f));
	CHECK_EQ(open_as("", path, &s, &err), ATW_E_MISSING);
	CHECK(strstr(err.text, "memory-ranges: No such file"));
	fill(&im, 0, 4096, 'a');
	fill(&im, 4096, 4096, 'b');
	fill(&im, 8192, 4096, 'c');
	snprintf(im.path, sizeof(im.path), "%s", memory);
	image_save(&im, im.len);
	for (int i = 0; i < 2; i++) {
		CHECK_EQ(open_as(i ? "cloud-hypervisor" : "", i ? memory : path, &s, &err), ATW_OK);
		CHECK_STR(s->ops->name, "cloud-hypervisor");
		CHECK_EQ(page_byte(s, 0), 'a');
		CHECK_EQ(page_byte(s, 0x1000), 'b');
		CHECK_EQ(page_byte(s, 0x2000), -1);
		CHECK_EQ(page_byte(s, UINT64_C(1) << 32), 'c');
		atw_source_close(s);
	}
	image_free(&im);
	unlink(path);
	rmdir(dir);
}

/* ---- VMware ---- */

static void tag(struct image *im, unsigned size, const char *name, int i, int k)
{
	unsigned n = (i >= 0) + (k >= 0);

	put_le(im, im->len, 1, n << 6 | size);
	put_le(im, im->len, 1, strlen(name));
	put(im, im->len, name, strlen(name));
	if (i >= 0)
		put_le(im, im->len, 4, (uint64_t)i);
	if (k >= 0)
		put_le(im, im->len, 4, (uint64_t)k);
}

static void region(struct image *im, int i, uint32_t page, uint32_t at, uint32_t pages)
{
	tag(im, 4, "regionPPN", i, -1);
	put_le(im, im->len, 4, page);
	tag(im, 4, "regionPageNum", i, -1);
	put_le(im, im->len, 4, at);
	tag(im, 4, "regionSize", i, -1);
	put_le(im, im->len, 4, pages);
}

/* Two regions: pages 0 and 1, and one at 4 GiB; CR3 of CPU 1. */
static void vmss(struct image *im, bool memory)
{
	put_le(im, 0, 4, 0xbed2bed2);
	put_le(im, 4, 4, 8);
	put_le(im, 8, 4, 2);
	put(im, 12, "memory", 6);
	put(im, 12 + 80, "cpu", 3);
	put(im, 12 + 160, NULL, 1);
	put_le(im, 12 + 64, 8, im->len);
	region(im, 0, 0, 0, 2);
	region(im, 1, 0x100000, 2, 1);
	tag(im, 4, "regionsCount", -1, -1);
	put_le(im, im->len, 4, 2);
	if (memory) {
		tag(im, 63, "Memory", 0, 0);
		put_le(im, im->len, 8, 3 * 4096);
		put_le(im, im->len, 8, 3 * 4096);
		put_le(im, im->len, 2, 5);
		put(im, im->len, "pad..", 5);
		fill(im, im->len, 4096, 'a');
		fill(im, im->len, 4096, 'b');
		fill(im, im->len, 4096, 'c');
	}
	put_le(im, im->len, 2, 0);
	put_le(im, 12 + 80 + 64, 8, im->len);
	tag(im, 8, "CR64", 1, 3);
	put_le(im, im->len, 8, 0x1aa000);
	put_le(im, im->len, 2, 0);
}

static void vmware_is_right(struct atw_source *s)
{
	uint64_t n = 0;

	CHECK_STR(s->ops->name, "vmware");
	CHECK_EQ(page_byte(s, 0), 'a');
	CHECK_EQ(page_byte(s, 0x1000), 'b');
	CHECK_EQ(page_byte(s, 0x2000), -1);
	CHECK_EQ(page_byte(s, UINT64_C(1) << 32), 'c');
	CHECK_EQ(atw_fact_u64(s, "cpu1.cr3", &n), ATW_OK);
	CHECK_EQ(n, 0x1aa000);
	CHECK_EQ(atw_fact_u64(s, "cpu0.cr3", &n), ATW_E_MISSING);
	CHECK_EQ(atw_fact_u64(s, "cpus", &n), ATW_OK);
	CHECK_EQ(n, 2);
}

TEST(vmware_with_its_memory_inside)
{
	struct image im = {0};
	struct atw_source *s;

	vmss(&im, true);
	CHECK_EQ(image_open(&im, im.len, &s, NULL), ATW_OK);
	vmware_is_right(s);
	atw_source_close(s);
	image_free(&im);
}

TEST(vmware_with_its_memory_beside)
{
	char dir[] = "/tmp/atwalk-test-XXXXXX";
	struct image im = {0}, mem = {0};
	struct atw_source *s;
	struct atw_err err = {0};

	CHECK(mkdtemp(dir));
	vmss(&im, false);
	snprintf(im.path, sizeof(im.path), "%s/vm.x.vmsn", dir);
	snprintf(mem.path, sizeof(mem.path), "%s/vm.x.vmem", dir);
	CHECK_EQ(image_open(&im, im.len, &s, &err), ATW_E_MISSING);
	CHECK(strstr(err.text, "vm.x.vmem: No such file"));
	fill(&mem, 0, 4096, 'a');
	fill(&mem, 4096, 4096, 'b');
	fill(&mem, 8192, 4096, 'c');
	image_save(&mem, mem.len);
	CHECK_EQ(open_as("", im.path, &s, &err), ATW_OK);
	vmware_is_right(s);
	atw_source_close(s);
	CHECK_EQ(open_as("vmware", mem.path, &s, &err), ATW_OK);
	vmware_is_right(s);
	atw_source_close(s);
	image_free(&im);
	image_free(&mem);
	rmdir(dir);
}

TEST(vmware_may_be_cut_anywhere)
{
	static struct vmware_state state;
	struct image im = {0};
	struct atw_err err;

	vmss(&im, false);
	for (size_t len = 0; len + 1 < im.len; len++) {
		int r = vmware_parse((struct atw_blob){im.data, len}, &state, &err);

		CHECK(r == ATW_E_DAMAGED || r == ATW_E_FORMAT);
	}
	CHECK_EQ(vmware_parse(image_blob(&im), &state, &err), ATW_OK);
	CHECK_EQ(state.nregions, 2);
	image_free(&im);
}

/* Thousands of them would be read thousands of times. */
TEST(vmware_groups_have_values_of_their_own)
{
	enum { GROUPS = 4, VALUES = 12 + GROUPS * 80, REGIONS = 10 };
	static struct vmware_state state;
	struct image im = {0};
	struct atw_err err = {0};

	put_le(&im, 0, 4, 0xbed2bed2);
	put_le(&im, 4, 4, 8);
	put_le(&im, 8, 4, GROUPS);
	for (size_t i = 0; i < GROUPS; i++) {
		put(&im, 12 + i * 80, "memory", 6);
		put_le(&im, 12 + i * 80 + 64, 8, VALUES);
	}
	put(&im, VALUES - 1, "", 1);
	for (unsigned i = 0; i < REGIONS; i++)
		region(&im, (int)i, i, i, 1);
	put_le(&im, im.len, 2, 0);
	CHECK_EQ(vmware_parse(image_blob(&im), &state, &err), ATW_E_DAMAGED);
	CHECK(strstr(err.text, "is in several groups"));
	image_free(&im);
}

/* ---- Xen ---- */

static void section(struct image *im, size_t at, unsigned name, unsigned type, uint64_t off,
		    uint64_t size)
{
	put_le(im, at, 4, name);
	put_le(im, at + 4, 4, type);
	put_le(im, at + 24, 8, off);
	put_le(im, at + 32, 8, size);
	put(im, at + 63, NULL, 1);
}

static void xen_core(struct image *im, const char *numbers)
{
	static const uint64_t pfn[] = {5, UINT64_MAX, 0x100000};
	char names[40] = "";
	size_t len = 1;

	elf64(im, 62, 0);
	fill(im, 0x1000, 4096, 'a');
	fill(im, 0x2000, 4096, 'n');
	fill(im, 0x3000, 4096, 'c');
	put(im, 0x4000, pfn, sizeof(pfn));
	memcpy(names + len, ".xen_pages", 11);
	len += 11;
	strcpy(names + len, numbers);
	len += strlen(numbers) + 1;
	memcpy(names + len, ".shstrtab", 10);
	len += 10;
	put(im, 0x4100, names, len);
	put_le(im, 40, 8, 0x4200);
	put_le(im, 58, 2, 64);
	put_le(im, 60, 2, 4);
	put_le(im, 62, 2, 3);
	section(im, 0x4200, 0, 0, 0, 0);
	section(im, 0x4240, 1, 1, 0x1000, 0x3000);
	section(im, 0x4280, 12, 1, 0x4000, sizeof(pfn));
	section(im, 0x42c0, 12 + (unsigned)strlen(numbers) + 1, 3, 0x4100, len);
}

/* A page has a number, and a number a page. */
TEST(a_core_of_xen_has_as_many_numbers_as_pages)
{
	static const uint64_t bytes[][2] = {
		{ 0x3000, 16 }, { 0x2000, 24 }, { 0x3001, 24 }, { 0x3000, 23 }, { 0, 0 },
		{ UINT64_MAX, 24 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(bytes); i++) {
		struct image im = {0};
		struct atw_source *s;
		struct atw_err err = {0};

		xen_core(&im, ".xen_pfn");
		put_le(&im, 0x4240 + 32, 8, bytes[i][0]);
		put_le(&im, 0x4280 + 32, 8, bytes[i][1]);
		CHECK_EQ(image_open(&im, im.len, &s, &err), ATW_E_DAMAGED);
		CHECK(strstr(err.text, " bytes of page numbers (.xen_pfn) for 0x"));
		image_free(&im);
	}
}

TEST(a_core_of_xen_numbers_its_pages)
{
	struct image im = {0};
	struct atw_source *s;
	struct atw_err err = {0};
	char line[64];

	xen_core(&im, ".xen_pfn");
	CHECK_EQ(image_open(&im, im.len, &s, &err), ATW_OK);
	CHECK_STR(s->ops->name, "xen");
	CHECK_EQ(page_byte(s, 0x5000), 'a');
	CHECK_EQ(page_byte(s, 0x6000), -1);
	CHECK_EQ(page_byte(s, UINT64_C(1) << 32), 'c');
	s->ops->describe(s, line, sizeof(line));
	CHECK_STR(line, "Xen core, 2 pages");
	atw_source_close(s);
	image_free(&im);
	xen_core(&im, ".xen_p2m");
	CHECK_EQ(image_open(&im, im.len, &s, &err), ATW_E_UNSUPPORTED);
	CHECK(strstr(err.text, "is of a paravirtual guest of Xen"));
	image_free(&im);
}
