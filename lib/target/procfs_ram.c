/* SPDX-License-Identifier: GPL-2.0-or-later */
/* procfs_ram.c - use of all frames of RAM, from /proc/kpageflags, in ascending order. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "linux/kpf.h"
#include "target/procfs_vmas.h"
#include "target/procfs.h"
#include "target/frame_use.h"

/* At once: what the kernel takes for each frame is what it costs, not the reads. */
enum { WORDS = 4096 };

/* Frame numbers of processes are not asked for, so hidden ones do not matter. */
static int procfs_ram_open_flags(struct pagemap *m, int *ret, struct atw_err *err)
{
	static const char path[] = "/proc/kpageflags";
	int fd = m->file[KFLAGS] >= 0 ? m->file[KFLAGS] : open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		int r = errno == EACCES || errno == EPERM ? ATW_E_PERM : ATW_E_UNSUPPORTED;

		atw_err_set(err, r, "%s: %s", path, strerror(errno));
		if (r == ATW_E_PERM)
			proc_hint(err);
		return r;
	}
	if (m->file[KFLAGS] < 0) {
		m->file[KFLAGS] = fd;
		m->ksm_broken = proc_ksm_is_broken(fd);
	}
	if (!m->zones_tried) {
		m->zones_tried = true;
		m->blocks = sys_block_bytes("");
		sys_late_read("", m->page, &m->late);
	}
	*ret = fd;
	return ATW_OK;
}

struct procfs_ram_reading {
	int fd;
	struct use_runs u;
	uint64_t word[WORDS];
};

/* The word of a frame that has no struct page yet is none. */
static uint64_t procfs_ram_word_of(struct pagemap *m, uint64_t pfn, uint64_t w)
{
	if (!w && sys_late_has(&m->late, pfn)) {
		m->p.unmade++;
		return kpf(KPF_NOPAGE);
	}
	return pagemap_true_flags(m, w);
}

static int procfs_ram_some(struct pagemap *m, struct procfs_ram_reading *x, uint64_t pfn,
			   uint64_t n, struct atw_err *err)
{
	uint64_t *w = x->word;
	ssize_t got = pace_pread(m->o.pace, x->fd, w, n * 8, (off_t)(pfn * 8));
	uint64_t have = got < 0 ? 0 : (uint64_t)got / 8;
	int r;

	/* The file ends with the last frame that the kernel has a struct page for. */
	if (got < 0 && errno != EINVAL)
		return atw_err_set(err, ATW_E_IO, "/proc/kpageflags: %s", strerror(errno));
	for (uint64_t i = 0; i < have; i++)
		w[i] = procfs_ram_word_of(m, pfn + i, w[i]);
	r = use_runs_words(&x->u, pfn, w, have, err);
	return r == ATW_OK && have < n ?
	       use_runs_add(&x->u, pfn + have, n - have, CAPTURE_UNKNOWN, err) : r;
}

/* The words of a block that was taken out of use read as 0 since 6.18, as others do. */
static int procfs_ram_one_range(struct pagemap *m, struct procfs_ram_reading *x,
				uint64_t pfn, uint64_t end, struct atw_err *err)
{
	uint64_t block = m->blocks >> m->p.page_shift;
	int r = ATW_OK;

	while (pfn < end && r == ATW_OK) {
		uint64_t stop = block && end - pfn > block - pfn % block ? pfn + block - pfn % block
									 : end;

		if (block && sys_block_is_offline("", pfn / block)) {
			r = use_runs_add(&x->u, pfn, stop - pfn, CAPTURE_OFFLINE, err);
			pfn = stop;
		}
		for (uint64_t n; pfn < stop && r == ATW_OK; pfn += n) {
			n = stop - pfn < WORDS ? stop - pfn : WORDS;
			r = procfs_ram_some(m, x, pfn, n, err);
		}
	}
	return r;
}

int pagemap_ram_frames(struct provider *p, uint64_t first, uint64_t last,
		       provider_frames_fn *tell, void *arg, struct atw_err *err)
{
	struct pagemap *m = pagemap_of(p);
	_auto_free struct procfs_ram_reading *x = malloc(sizeof(*x));
	uint64_t pfn, end;
	int r = x ? procfs_ram_open_flags(m, &x->fd, err) : atw_err_nomem(err);

	if (r < 0)
		return r;
	x->u = (struct use_runs){.tell = tell, .arg = arg, .page_shift = p->page_shift};
	use_whole(first, last, p->page_shift, &pfn, &end);
	r = procfs_ram_one_range(m, x, pfn, end, err);
	return r == ATW_OK ? use_runs_end(&x->u, err) : r;
}
