// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * live_kcore.c - /proc/kcore as physical memory; fs/proc/kcore.c.
 *
 * The file is as large as the kernel's address space and cannot be mapped, and
 * what stat(2) says of its size differs between releases. Only its headers and
 * segments count. Segments that are no RAM (vmalloc, modules, vmemmap) say so by
 * a physical address of -1 since 4.11 (464920104bf7).
 */
#include "source/live_kcore.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/vmcoreinfo.h"

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/message.h"
#include "format/elf.h"
#include "host/caps.h"
#include "source/source.h"
#include "host/host.h"
#include "source/live_ram.h"

enum {
	HEAD_FIRST = 4096,               /* most kernels' headers fit into twice that */
	HEAD_MAX = 16 * 1024 * 1024,
	READ_MAX = 256 * 1024,
};

#define NOWHERE UINT64_MAX               /* p_paddr of what is no RAM */

struct kcore {
	int fd;
	struct host_info host;
	struct extents ram;              /* with offsets of the file */
	uint8_t *head;                   /* ELF header, program headers, notes */
	struct atw_vmcoreinfo vmcoreinfo;
	unsigned segments;               /* with a physical address */
	bool addressed;                  /* one that is not 0 */
	uint64_t image, image_len;       /* the kernel's own; len 0: not known */
	uint64_t image_off;              /* in the file, where the CPU runs it */
	size_t page;
};

/* ---- bytes of the file ---- */

/* As much as there is up to `len`; < 0: errno says why. */
static ssize_t kcore_pread_full(int fd, void *buf, size_t len, uint64_t off)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = pread(fd, (char *)buf + done, len - done, (off_t)(off + done));

		if (!n)
			break;
		if (n < 0 && errno != EINTR)
			return done ? (ssize_t)done : -1;
		if (n > 0)
			done += (size_t)n;
	}
	return (ssize_t)done;
}

static int kcore_no_permission(int e, struct atw_err *err)
{
	int r = host_check_lockdown(err);

	if (r < 0)
		return r;
	atw_err_set(err, ATW_E_PERM,
		    "reading /proc/kcore needs %sCAP_SYS_RAWIO, which this process does not have (%s)",
		    geteuid() ? _("root and ") : "", strerror(e));
	if (geteuid())
		host_hint_setcap(err, "cap_dac_read_search,cap_sys_rawio");
	else
		atw_err_hint(err, "in a container: --cap-add SYS_RAWIO");
	return ATW_E_PERM;
}

static int kcore_open_file(struct kcore *k, const char *path, struct atw_err *err)
{
	k->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (k->fd >= 0)
		return ATW_OK;
	if (errno == ENOENT)
		return host_check_proc_files(err) < 0 ? ATW_E_MISSING :
		       atw_err_set(err, ATW_E_UNSUPPORTED,
				   "this kernel has no /proc/kcore (CONFIG_PROC_KCORE)");
	if (errno == EACCES || errno == EPERM)
		return kcore_no_permission(errno, err);
	return atw_err_set(err, ATW_E_IO, "/proc/kcore: %s", strerror(errno));
}

/* ---- what it says it has ---- */

static int kcore_is_short(size_t len, struct atw_err *err)
{
	if (len)
		return atw_err_set(err, ATW_E_DAMAGED,
				   "its headers take more than the %zu bytes there are", len);
	atw_err_set(err, ATW_E_PERM, "is empty, as containers show it");
	atw_err_hint(err, "run it outside of the container");
	return ATW_E_PERM;
}

/* Where the last note ends. */
static uint64_t kcore_notes_end(const struct elf *e)
{
	uint64_t last = 0, end;

	for (uint32_t i = 0; i < e->phnum; i++) {
		struct elf_phdr ph = elf_phdr(e, i);

		if (ph.type != ELF_PT_NOTE)
			continue;
		if (!add_u64(ph.offset, ph.filesz, &end))
			end = UINT64_MAX;
		last = MAX(last, end);
	}
	return last;
}

/*
 * How large the headers are is known when they are read: so a beginning, and
 * twice as much until it has them.
 */
static int kcore_read_head(struct kcore *k, struct elf *ret, struct atw_err *err)
{
	struct elf e;

	for (size_t want = HEAD_FIRST; want <= HEAD_MAX; want *= 2) {
		ssize_t n;
		int r;

		free(k->head);
		k->head = malloc(want);
		if (!k->head)
			return atw_err_nomem(err);
		n = kcore_pread_full(k->fd, k->head, want, 0);
		if (n < 0)
			return atw_err_set(err, ATW_E_IO, "%s", strerror(errno));
		r = n ? elf_parse((struct atw_blob){k->head, (size_t)n}, &e, err)
		      : kcore_is_short(0, err);
		if (r != ATW_OK && r != ATW_E_DAMAGED)
			return r;
		if (r == ATW_OK && kcore_notes_end(&e) <= (uint64_t)n) {
			*ret = e;
			return ATW_OK;
		}
		if ((size_t)n < want)
			return r < 0 ? r : kcore_is_short((size_t)n, err);
	}
	return kcore_is_short(HEAD_MAX, err);
}

static void kcore_take_notes(struct kcore *k, const struct elf *e,
			     const struct elf_phdr *ph)
{
	struct elf_notes it = elf_notes(e, ph);
	struct elf_note n;

	while (elf_notes_next(&it, &n, NULL) == ATW_OK) {
		if (!elf_note_is(&n, "VMCOREINFO", 0) || k->vmcoreinfo.len)
			continue;
		k->vmcoreinfo.text = n.desc.data;
		k->vmcoreinfo.len = atw_vmcoreinfo_probe(n.desc.data, n.desc.len);
	}
}

/* What of a segment is RAM. */
static int kcore_take_load(struct kcore *k, const struct elf_phdr *ph,
			   const struct extents *ram, struct atw_err *err)
{
	uint64_t end, last;
	int r = ATW_OK;

	if (!add_u64(ph->paddr, ph->filesz, &end) || !add_u64(ph->offset, ph->filesz, &last) ||
	    last > INT64_MAX)
		return atw_err_set(err, ATW_E_DAMAGED,
			"physical 0x%" PRIx64 ", offset 0x%" PRIx64 " and size 0x%" PRIx64 " do not fit 64 bits",
			ph->paddr, ph->offset, ph->filesz);
	if (!ram)
		return extents_add(&k->ram, ph->paddr, ph->filesz, ph->offset, ATW_DATA, err);
	for (size_t i = 0; i < ram->n && r == ATW_OK; i++) {
		const struct extent *x = &ram->v[i];
		uint64_t from = x->start > ph->paddr ? x->start : ph->paddr;
		uint64_t to = end - x->start < x->len ? end : x->start + x->len;

		if (x->start < end && from < to)
			r = extents_add(&k->ram, from, to - from,
					ph->offset + (from - ph->paddr), ATW_DATA, err);
	}
	return r;
}

/*
 * The kernel's image is RAM, so it has a second segment where the CPU runs it.
 * What the kernel has given up of it is not mapped there, and may be anything
 * now: whatever segments have the same bytes, this one comes last.
 */
static bool kcore_is_image(const struct elf_phdr *ph, uint64_t stext)
{
	return stext && stext - ph->vaddr < ph->filesz;
}

static int kcore_take_loads(struct kcore *k, const struct elf *e, uint64_t stext,
			    bool image, const struct extents *ram, struct atw_err *err)
{
	for (uint32_t i = 0; i < e->phnum; i++) {
		struct elf_phdr ph = elf_phdr(e, i);
		int r;

		if (ph.type != ELF_PT_LOAD || ph.paddr == NOWHERE ||
		    kcore_is_image(&ph, stext) != image)
			continue;
		r = kcore_take_load(k, &ph, ram, err);
		if (r < 0) {
			atw_err_wrap(err, "program header %u", i);
			return r;
		}
		k->segments++;
		k->addressed |= ph.paddr != 0;
		if (image) {
			k->image = ph.paddr;
			k->image_len = ph.filesz;
			k->image_off = ph.offset;
		}
	}
	return ATW_OK;
}

static int kcore_take_segments(struct kcore *k, const struct elf *e,
			       const struct extents *ram, struct atw_err *err)
{
	uint64_t stext = 0;
	int r;

	for (uint32_t i = 0; i < e->phnum; i++) {
		struct elf_phdr ph = elf_phdr(e, i);

		if (ph.type == ELF_PT_NOTE)
			kcore_take_notes(k, e, &ph);
	}
	if (k->vmcoreinfo.len)
		atw_vmcoreinfo_u64(&k->vmcoreinfo, "SYMBOL(_stext)", &stext);
	r = kcore_take_loads(k, e, stext, false, ram, err) ?:
	    kcore_take_loads(k, e, stext, true, ram, err);
	if (r < 0)
		return r;
	/* Older kernels leave it at 0 in every one. */
	if (!k->addressed)
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "does not say where its memory lies (Linux 4.11 does)");
	r = extents_build(&k->ram, err);
	if (r == ATW_OK && !k->ram.n)
		r = atw_err_set(err, ATW_E_DAMAGED, "has %u segments and no RAM in any",
				k->segments);
	return r;
}

static int kcore_take_file(struct kcore *k, const struct extents *ram,
			   struct atw_err *err)
{
	struct elf e = { .is64 = false };
	int r = kcore_read_head(k, &e, err);

	if (r < 0)
		return r;
	if (!e.is64 || e.type != ELF_ET_CORE)
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "is an ELF%d file of type %u, not a core of 64 bits",
				   e.is64 ? 64 : 32, e.type);
	return kcore_take_segments(k, &e, ram, err);
}

/* ---- as a source ---- */

static void kcore_close(struct atw_source *s)
{
	struct kcore *k = s->impl;

	if (!k)
		return;
	if (k->fd >= 0)
		close(k->fd);
	extents_deinit(&k->ram);
	free(k->head);
	free(k);
	s->impl = NULL;
}

static bool kcore_is_zero(const char *p, size_t len)
{
	return !*p && !memcmp(p, p + 1, len - 1);
}

/*
 * What the kernel does not map reads as zeroes. Since 7.3 arm64 has data of its image in
 * the segment of the image alone, and all of it is there what it is in the other one, or
 * zeroes: so where one has zeroes the other one is right.
 */
static void kcore_take_image(const struct kcore *k, uint64_t pa, char *buf, size_t len)
{
	for (size_t at = 0, part; at < len; at += part) {
		uint64_t off = pa + at - k->image;
		size_t left = k->page - (size_t)((pa + at) & (k->page - 1));

		part = left < len - at ? left : len - at;
		if (off >= k->image_len || !kcore_is_zero(buf + at, part))
			continue;
		if (part > k->image_len - off)
			part = (size_t)(k->image_len - off);
		if (kcore_pread_full(k->fd, buf + at, part, k->image_off + off) <
		    (ssize_t)part)
			memset(buf + at, 0, part);
	}
}

/*
 * The kernel gives nothing of a read if any page of it cannot be read: then the
 * rest of the first page is read alone. So that this costs little, no read is long.
 */
static ssize_t kcore_read(struct atw_source *s, atw_pa pa, void *buf, size_t len,
			  struct atw_err *err)
{
	struct kcore *k = s->impl;
	const struct extent *e = extents_find(&k->ram, pa.u);
	size_t piece = k->page - (size_t)(pa.u & (k->page - 1));
	uint64_t at, left;
	ssize_t n;

	if (!e)
		return 0;
	at = e->off + (pa.u - e->start);
	left = e->len - (pa.u - e->start);
	if (len > left)
		len = (size_t)left;
	len = MIN(len, READ_MAX);
	n = kcore_pread_full(k->fd, buf, len, at);
	if (n < 0 && errno == EFAULT && len > piece)
		n = kcore_pread_full(k->fd, buf, piece, at);
	if (n > 0)
		kcore_take_image(k, pa.u, buf, (size_t)n);
	if (n > 0 || !len)
		return n;
	/* RAM that the kernel took out of its own map: it is no hole. */
	if (n < 0 && errno == EFAULT)
		return atw_err_set(err, ATW_E_IO,
				   "the kernel itself does not map physical 0x%" PRIx64, pa.u);
	return atw_err_set(err, ATW_E_IO, "/proc/kcore: physical 0x%" PRIx64 ": %s", pa.u,
			   n ? strerror(errno) : _("the file ends before it"));
}

static int kcore_extent(struct atw_source *s, atw_pa pa, struct atw_extent *ret)
{
	struct kcore *k = s->impl;

	return extents_extent(&k->ram, pa, ret);
}

/*
 * Processes are found by the kernel's list of tasks, as in a dump, and there
 * have the numbers they have outside of any PID namespace.
 */
static int kcore_mm_of(struct atw_source *s, uint64_t pid, uint64_t *ret,
		       struct atw_err *err)
{
	if (host_first_pid_namespace())
		return ATW_END;
	return atw_err_set(err, ATW_E_MISSING,
			   "this process is in a PID namespace, and /proc/kcore has the "
			   "numbers outside of it only; live:bpf may know ours");
}

static int kcore_fact(struct atw_source *s, const char *key, struct atw_blob *ret)
{
	struct kcore *k = s->impl;

	if (!strcmp(key, "way"))
		*ret = (struct atw_blob){ "kcore", 5 };
	else if (!strcmp(key, "vmcoreinfo") && k->vmcoreinfo.len)
		*ret = (struct atw_blob){ k->vmcoreinfo.text, k->vmcoreinfo.len };
	else if (!strcmp(key, "image.start") && k->image_len)
		*ret = (struct atw_blob){ &k->image, sizeof(k->image) };
	else if (!strcmp(key, "image.len") && k->image_len)
		*ret = (struct atw_blob){ &k->image_len, sizeof(k->image_len) };
	else
		return host_info_fact(&k->host, key, ret);
	return ATW_OK;
}

static void kcore_describe(struct atw_source *s, char *buf, size_t len)
{
	struct kcore *k = s->impl;

	snprintf(buf, len, _("running kernel, read through /proc/kcore, %u segments of RAM"),
		 k->segments);
}

static const struct atw_source_ops kcore_ops = {
	.name = "live",
	.help = "the running kernel, through /proc/kcore",
	.close = kcore_close,
	.read = kcore_read,
	.extent = kcore_extent,
	.fact = kcore_fact,
	.describe = kcore_describe,
	.live = true,
	.here = true,
	.mm_of = kcore_mm_of,
};

int live_kcore_open_file(struct atw_source *s, const char *path,
			 const struct extents *ram, struct atw_err *err)
{
	struct kcore *k = calloc(1, sizeof(*k));
	int r;

	if (!k)
		return atw_err_nomem(err);
	s->impl = k;
	host_info_init(&k->host);
	k->page = (size_t)sysconf(_SC_PAGESIZE);
	r = kcore_open_file(k, path, err);
	if (r == ATW_OK) {
		r = kcore_take_file(k, ram, err);
		if (r < 0)
			atw_err_wrap(err, "/proc/kcore");
	}
	if (r == ATW_OK)
		s->ops = &kcore_ops;
	else
		kcore_close(s);
	return r;
}

/*
 * kcore itself lists what the kernel has as RAM. That suffices without /proc/iomem, which
 * not every user may read.
 */
int live_kcore_open(struct atw_source *s, struct atw_err *err)
{
	struct extents ram = { 0 };
	bool known = live_ram(&ram, NULL) == ATW_OK;
	int r = live_kcore_open_file(s, "/proc/kcore", known ? &ram : NULL, err);

	extents_deinit(&ram);
	return r;
}
