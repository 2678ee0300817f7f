// SPDX-License-Identifier: GPL-2.0-or-later
/* --kernel FILE is recognised, matched with the kernel, and placed where that runs. */
#include "memory.h"
#include "test.h"
#include "unit/vmlinux_image.h"

#include "linux/vmfile.h"

/* ---- what it is ---- */

/* The sentence, without the file's name in front of it. */
static const char *refused(const void *data, size_t len, int want)
{
	static struct atw_err err;
	struct image im = { 0 };
	struct vmfile *f = NULL;
	const char *path;
	int r;

	put(&im, 0, len ? data : "", len + !len);
	path = image_save(&im, len);
	err = (struct atw_err){ 0 };
	r = vmfile_open(path, &f, &err);
	if (r != want || f || strncmp(err.text, path, strlen(path)))
		snprintf(err.text, sizeof(err.text), "%d, not %d", r, want);
	else
		memmove(err.text, err.text + strlen(path) + 2,
			strlen(err.text + strlen(path) + 2) + 1);
	image_free(&im);
	return err.text;
}

TEST(what_is_refused)
{
	static const char stub[] = "ffffffffffffffff B The real System.map is in the "
				   "linux-image-<version>-dbg package\n";
	uint8_t boot[4096] = "MZ";

	CHECK_STR(refused("hello, world\n", 13, ATW_E_FORMAT),
		  "is neither vmlinux (ELF), System.map nor BTF");
	CHECK_STR(refused("", 0, ATW_E_FORMAT), "is empty");
	CHECK_STR(refused(stub, sizeof(stub) - 1, ATW_E_MISSING),
		  "is a stub without symbols: \"The real System.map is in the linux-image-<version>-dbg package\"");
	memcpy(boot + 0x202, "HdrS", 4);
	CHECK(strstr(refused(boot, sizeof(boot), ATW_E_UNSUPPORTED), "a kernel image to boot from"));
	CHECK(strstr(refused("\x1f\x8b\x08\x00 ....", 9, ATW_E_UNSUPPORTED), "or compressed"));
	CHECK_STR(refused("0000000000000000 T _stext\n0000000000000000 T _text\n", 51, ATW_E_PERM),
		  "has no addresses: every one of its 2 symbols is at 0");
}

TEST(elf_files_that_are_no_kernel)
{
	struct vmlinux_image v = { 0 }, empty = { 0 };

	vmlinux_sample(&v);
	put_le(&v.file, 16, 2, 1);
	CHECK_STR(refused(v.file.data, v.file.len, ATW_E_FORMAT),
		  "is an object file or a module, not a kernel's vmlinux");
	put_le(&v.file, 16, 2, 4);
	CHECK_STR(refused(v.file.data, v.file.len, ATW_E_FORMAT),
		  "is a core dump, not a kernel's vmlinux");
	vmlinux_free(&v);
	vmlinux_section(&empty, ".text", 1, 6, NULL, 8);
	vmlinux_finish(&empty);
	CHECK_STR(refused(empty.file.data, empty.file.len, ATW_E_MISSING),
		  "is an ELF file without symbols, BTF or DWARF: nothing in it adds to the dump");
	vmlinux_free(&empty);
}

/* ---- of this kernel, moved by KASLR ---- */

#define MOVED "SYMBOL(_stext)=ffffffff91001000\nSYMBOL(init_uts_ns)=ffffffff92800000\n" \
	      "SYMBOL(node_online_map)=ffffffff92800400\n"

static int no_fact(struct atw_source *s, const char *key, struct atw_blob *ret)
{
	(void)s;
	(void)key;
	(void)ret;
	return ATW_E_MISSING;
}

static const struct atw_source_ops ops = {
	.name = "test", .help = "a test's", .close = mem_close,
	.read = mem_read, .extent = mem_extent, .fact = no_fact,
};

static struct memory memory = { .s.ops = &ops };

/* A kernel of which nothing but VMCOREINFO is known. */
static void kernel(struct atw_kernel *k, const char *path, const char *vi)
{
	*k = (struct atw_kernel){ .mem = &memory.s, .file = (char *)path };
	k->own.mem = &memory.s;
	k->own.paging = *atw_paging_find("x86_64-4");
	k->vi = (struct atw_vmcoreinfo){ vi, strlen(vi) };
	k->have_vi = *vi;
	atw_vmcoreinfo_u64(&k->vi, "SYMBOL(_stext)", &k->stext);
	snprintf(k->release, sizeof(k->release), "6.12.3");
}

static int open_sample(struct atw_kernel *k, struct image *im, const char *release,
		       const char *vi, struct atw_err *err)
{
	kernel(k, image_save(im, im->len), vi);
	snprintf(k->release, sizeof(k->release), "%s", release);
	return kernel_file_open(k, err);
}

TEST(moved_by_the_distance_of_stext)
{
	struct vmlinux_image v = { 0 };
	struct atw_kernel k;
	struct lnx_symbol s;
	uint64_t at;

	vmlinux_sample(&v);
	CHECK_EQ(open_sample(&k, &v.file, "6.12.3", "OSRELEASE=6.12.3\n" MOVED, NULL), ATW_OK);
	CHECK(k.vmfile->placed && k.vmfile->matched);
	CHECK_EQ(k.vmfile->shift, 0x10000000);
	CHECK_EQ(vmfile_symbol(k.vmfile, "helper", &at), ATW_OK);
	CHECK_EQ(at, 0xffffffff91000020);
	CHECK_EQ(vmfile_symbol(k.vmfile, "clear_seq", &at), ATW_OK);
	CHECK_EQ(at, 0xffffffff93000000);
	/* A CPU's data and constants are no addresses that move. */
	CHECK_EQ(vmfile_symbol(k.vmfile, "runqueues", &at), ATW_OK);
	CHECK_EQ(at, 0x1f000);
	CHECK_EQ(vmfile_symbol(k.vmfile, "constant", &at), ATW_OK);
	CHECK_EQ(at, 0x1000000);
	CHECK_EQ(vmfile_near(k.vmfile, 0xffffffff92800010, &s), ATW_OK);
	CHECK_STR(s.name, "init_uts_ns");
	CHECK_EQ(s.address, 0xffffffff92800000);
	CHECK_EQ(s.size, 0x400);
	CHECK_EQ(s.type, 'D');
	CHECK_EQ(vmfile_near(k.vmfile, 0xffffffff81000020, &s), ATW_E_MISSING);
	CHECK_EQ(vmfile_near(k.vmfile, 0x1f000, &s), ATW_E_MISSING);
	vmfile_close(k.vmfile);
	vmlinux_free(&v);
}

TEST(by_kerneloffset_where_stext_is_not_told)
{
	static const char map[] = "ffffffff81000000 T _text\nffffffff82000000 D data\n";
	struct image im = { 0 };
	struct atw_kernel k;
	uint64_t at;

	put(&im, 0, map, sizeof(map) - 1);
	CHECK_EQ(open_sample(&k, &im, "6.12.3", "OSRELEASE=6.12.3\nKERNELOFFSET=1c000000\n", NULL),
		 ATW_OK);
	CHECK(!k.vmfile->matched);
	CHECK_EQ(vmfile_symbol(k.vmfile, "data", &at), ATW_OK);
	CHECK_EQ(at, 0xffffffff9e000000);
	vmfile_close(k.vmfile);
	image_free(&im);
}

/* Without VMCOREINFO only a kernel that was not relocated can be matched. */
TEST(without_vmcoreinfo)
{
	struct vmlinux_image v = { 0 };
	struct atw_kernel k;
	uint64_t at;

	vmlinux_sample(&v);
	CHECK_EQ(open_sample(&k, &v.file, "", "", NULL), ATW_OK);
	CHECK(!k.vmfile->placed && k.vmfile->symbols);
	CHECK_EQ(vmfile_symbol(k.vmfile, "helper", &at), ATW_E_MISSING);
	vmfile_close(k.vmfile);
	mem_put64(&memory, 0x3000ff8, 0x3001063);
	mem_put64(&memory, 0x3001ff0, 0x3002063);
	mem_put64(&memory, 0x3002040, 0x40001e1);
	kernel(&k, v.file.path, "");
	k.own.low = (struct mmu_root){ ATW_PA(0x3000000), true };
	CHECK_EQ(kernel_file_open(&k, NULL), ATW_OK);
	CHECK(k.vmfile->placed);
	CHECK_EQ(vmfile_symbol(k.vmfile, "helper", &at), ATW_OK);
	CHECK_EQ(at, 0xffffffff81000020);
	vmfile_close(k.vmfile);
	vmlinux_free(&v);
	mem_close(&memory.s);
}

/* The address of the first task yields the offset of all other symbols. */
TEST(found_by_its_first_task)
{
	static const char map[] = "ffffffff81000000 T _text\nffffffff81010000 T _stext\n"
				  "ffffffff82000000 D init_task\n";
	struct image im = { 0 };
	struct atw_err err = { 0 };
	struct atw_kernel k;
	uint64_t at;

	put(&im, 0, map, sizeof(map) - 1);
	kernel(&k, image_save(&im, im.len), "");
	k.from = ATW_ROOT_TASK;
	k.stext = 0xffffffff91000000;    /* stext is the start of the image */
	k.init_task = 0xffffffff92000000;
	CHECK_EQ(kernel_file_open(&k, &err), ATW_OK);
	CHECK(k.vmfile->matched && k.vmfile->placed);
	CHECK_EQ(vmfile_symbol(k.vmfile, "_stext", &at), ATW_OK);
	CHECK_EQ(at, 0xffffffff91010000);
	vmfile_close(k.vmfile);
	image_free(&im);
}

/* ---- of another kernel ---- */

TEST(another_build_by_its_id)
{
	struct vmlinux_image v = { 0 };
	struct atw_kernel k;
	struct atw_err err = { 0 };

	vmlinux_sample(&v);
	CHECK_EQ(open_sample(&k, &v.file, "6.12.3", "OSRELEASE=6.12.3\nBUILD-ID=0123456789ABCDEF\n", &err),
		 ATW_OK);
	CHECK(k.vmfile->matched);
	vmfile_close(k.vmfile);
	CHECK_EQ(open_sample(&k, &v.file, "6.12.3", "OSRELEASE=6.12.3\nBUILD-ID=0123456789abcdee\n" MOVED,
			     &err), ATW_E_DAMAGED);
	CHECK(!k.vmfile);
	CHECK(strstr(err.text, ": is of another kernel: its build ID is 0123456789abcdef, that of the source's kernel 0123456789abcdee"));
	CHECK_EQ(err.param, ATW_PARAM_KERNEL_FILE);
	CHECK(!strncmp(err.text, "/tmp/", 5));
	vmlinux_free(&v);
}

/* Some releases wrote other bytes: then the distances decide. */
TEST(ids_that_are_garbage)
{
	static const char right[] = "OSRELEASE=x\nBUILD-ID=ff\n" MOVED "SYMBOL(clear_seq)=ffffffff93000000\n";
	static const char wrong[] = "OSRELEASE=x\nBUILD-ID=ff\n" MOVED "SYMBOL(clear_seq)=ffffffff93000008\n";
	static const struct { const char *release; bool garbage; } is[] = {
		{ "6.1.113", true }, { "6.1.118-x", true }, { "6.1.0-50-amd64", true },
		{ "6.1.119", false }, { "6.1.112", false }, { "5.15.200", true },
		{ "6.6.55", true }, { "6.12.107+deb13", false }, { "", false },
	};
	struct vmlinux_image v = { 0 };
	struct atw_kernel k;

	vmlinux_sample(&v);
	for (size_t i = 0; i < sizeof(is) / sizeof(is[0]); i++) {
		int r = open_sample(&k, &v.file, is[i].release, right, NULL);

		if (r != (is[i].garbage ? ATW_OK : ATW_E_DAMAGED))
			TEST_FAIL("%s: %d", is[i].release, r);
		vmfile_close(k.vmfile);
		CHECK_EQ(open_sample(&k, &v.file, is[i].release, wrong, NULL), ATW_E_DAMAGED);
	}
	vmlinux_free(&v);
}

TEST(another_build_by_its_distances)
{
	static const char map[] = "ffffffff81001000 T _stext\nffffffff82800040 D init_uts_ns\n"
				  "ffffffff82800400 D node_online_map\n";
	struct image im = { 0 };
	struct atw_kernel k;
	struct atw_err err = { 0 };

	put(&im, 0, map, sizeof(map) - 1);
	CHECK_EQ(open_sample(&k, &im, "6.12.3", "OSRELEASE=6.12.3\n" MOVED, &err), ATW_E_DAMAGED);
	CHECK(strstr(err.text, ": is of another kernel: init_uts_ns lies 0x17ff040 behind _stext in it, and 0x17ff000 in the source"));
	image_free(&im);
}
