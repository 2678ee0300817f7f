/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pagemap_ram.c - what frames of RAM are used for, as /proc/kpageflags has it, from
 * the first to the last.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "kernel/kpf.h"
#include "provider/pagemap.h"
#include "provider/proc.h"
#include "provider/use.h"

/* At once: what the kernel takes for each frame is what it costs, not the reads. */
enum { WORDS = 4096 };

/* Frame numbers of processes are not asked for, so hidden ones do not matter. */
static int open_flags(struct pagemap *m, int *ret, struct atw_err *err)
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
	if (!m->blocks)
		m->blocks = sys_block_bytes("");
	*ret = fd;
	return ATW_OK;
}

static int some(struct pagemap *m, int fd, struct use_runs *u, uint64_t pfn, uint64_t n,
		struct atw_err *err)
{
	uint64_t *w = m->fact[KFLAGS];
	ssize_t got = pace_pread(m->o.pace, fd, w, n * 8, (off_t)(pfn * 8));
	uint64_t have = got < 0 ? 0 : (uint64_t)got / 8;
	int r;

	/* The file ends with the last frame that the kernel has a struct page for. */
	if (got < 0 && errno != EINVAL)
		return atw_err_set(err, ATW_E_IO, "/proc/kpageflags: %s", strerror(errno));
	for (uint64_t i = 0; i < have; i++)
		w[i] = pagemap_true_flags(m, w[i]);
	r = use_runs_words(u, pfn, w, have, err);
	return r == ATW_OK && have < n ? use_runs_add(u, pfn + have, n - have, CAPTURE_UNKNOWN, err)
				       : r;
}

/* The words of a block that was taken out of use read as 0 since 6.18, as others do. */
static int one_range(struct pagemap *m, int fd, struct use_runs *u, uint64_t pfn,
		     uint64_t end, struct atw_err *err)
{
	uint64_t block = m->blocks >> m->p.page_shift;
	int r = ATW_OK;

	while (pfn < end && r == ATW_OK) {
		uint64_t stop = block && end - pfn > block - pfn % block ? pfn + block - pfn % block
									 : end;

		if (block && sys_block_is_offline("", pfn / block)) {
			r = use_runs_add(u, pfn, stop - pfn, CAPTURE_OFFLINE, err);
			pfn = stop;
		}
		for (uint64_t n; pfn < stop && r == ATW_OK; pfn += n) {
			n = stop - pfn < WORDS ? stop - pfn : WORDS;
			r = some(m, fd, u, pfn, n, err);
		}
	}
	return r;
}

int pagemap_ram_frames(struct provider *p, uint64_t first, uint64_t last,
		       provider_frames_fn *tell, void *arg, struct atw_err *err)
{
	struct pagemap *m = pagemap_of(p);
	struct use_runs u = { .tell = tell, .arg = arg, .page_shift = p->page_shift };
	uint64_t pfn, end;
	int fd = -1, r = open_flags(m, &fd, err);

	if (r < 0)
		return r;
	/* Facts of a listing lie where the words are put. */
	m->facts = false;
	use_whole(first, last, p->page_shift, &pfn, &end);
	r = one_range(m, fd, &u, pfn, end, err);
	return r == ATW_OK ? use_runs_end(&u, err) : r;
}
