/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report.c - names, texts and sums that reports share. */
#include "base/message.h"
#include "base/num.h"
#include "format/capture_fields.h"
#include "linux/kpf.h"
#include "linux/vm_flags.h"
#include "report/looks.h"
#include "report/picture.h"
#include "report/report.h"

static const char *const classes[CENSUS_CLASSES] = {
	[CENSUS_TEXT] = "text", [CENSUS_RODATA] = "rodata", [CENSUS_RELRO] = "relro",
	[CENSUS_DATA] = "data", [CENSUS_BSS] = "bss", [CENSUS_HEAP] = "heap",
	[CENSUS_STACK] = "stack", [CENSUS_ANON] = "anon", [CENSUS_JIT] = "jit",
	[CENSUS_SHM] = "shm", [CENSUS_FILE] = "file", [CENSUS_SPECIAL] = "special",
	[CENSUS_DEVICE] = "device", [CENSUS_RESERVED] = "reserved",
};
const struct atw_names census_class_names = { CENSUS_CLASSES, classes, NULL };

static const char *const flags[] = { "grows", "own", "readable", "writable", "executable",
				     "zeroes" };
const struct atw_names census_flag_names = { 6, flags, "SXrwxB" };

static const char *const counters[] = { "seen", "kernel" };
const struct atw_names census_count_names = { 2, counters, NULL };

static const char *const guess[] = { "guessed" };
const struct atw_names census_guess_names = { 1, guess, "~" };

static const char *const states[] = { "deleted" };
const struct atw_names census_state_names = { 1, states, NULL };

bool is_executable(const struct census_unit *u)
{
	u = census_unit_root(u);
	return u->code || u->program;
}

void device_text(const struct census_unit *u, char buf[48])
{
	snprintf(buf, 48, "%" PRIx64 ":%" PRIx64, u->major, u->minor);
}

void row_unit(struct report_row *r, unsigned state, unsigned device, unsigned inode,
	      const struct census_unit *u, char buf[48])
{
	device_text(u, buf);
	row_u(r, state, u->deleted);
	row_s(r, device, u->keyed ? buf : NULL);
	row_if(r, u->keyed, inode, u->inode);
}

void build_text(const struct capture_bytes *id, char buf[2 * CAPTURE_BUILD + 1])
{
	buf[0] = '\0';
	for (size_t i = 0; i < id->len && i < CAPTURE_BUILD; i++)
		snprintf(buf + 2 * i, 3, "%02x", id->b[i]);
}

/* ---- sums of pages as in smaps_rollup ---- */

/* Of hugetlbfs: by the flags or the page size of the VMA, or by the flags of the page. */
static bool report_is_hugetlb(const struct census_pages *p, uint64_t page)
{
	const struct census_area *a = p->area;

	return (a->v_has & CAPTURE_V_PAGE && a->v->page > page) ||
	       (a->v_has & CAPTURE_V_FLAGS && !a->process->paper &&
		a->v->flags & VM_HUGETLB) ||
	       (p->known & CENSUS_FLAGS && p->flags & kpf(KPF_HUGE));
}

/* Mapped without a mapcount: mapped by PFN. */
static bool report_is_special(const struct census_pages *p)
{
	return p->device || p->zero ||
	       (p->known & CENSUS_COUNT && !p->count && !p->area->process->paper);
}

static enum smaps_kind report_smaps_kind(const struct census_pages *p)
{
	if (!(p->known & CENSUS_ORIGIN))
		return SMAPS_UNKIND;
	if (p->anon)
		return SMAPS_ANON;
	if (!(p->known & CENSUS_BACKED))
		return SMAPS_NOT_ANON;
	return p->swapbacked ? SMAPS_SHMEM : SMAPS_FILE;
}

void pages_smaps(const struct census_pages *p, uint64_t page, struct smaps_pages *as)
{
	enum page_state state;
	uint64_t refs;

	as->bytes = p->pages * page;
	if (p->like)
		return;
	state = p->present ? PAGE_PRESENT : p->swapped ? PAGE_SWAP :
		p->run->state == CAPTURE_MIGRATION ? PAGE_MIGRATION :
		p->run->state == CAPTURE_PRIVATE ? PAGE_DEVICE : PAGE_ABSENT;
	refs = p->known & CENSUS_REFS ? p->refs + !p->refs : 0;
	as->class = smaps_class(state, report_is_hugetlb(p, page), report_is_special(p));
	as->kind = p->present ? report_smaps_kind(p) : SMAPS_UNKIND;
	/* The kernel also counts pages that this process may not see. */
	as->mappings = refs && p->known & CENSUS_COUNT && p->count > refs ? p->count : refs;
	as->large = p->run->has & CAPTURE_M_ORDER && p->run->order;
	as->sizeless = false;
	as->kindless = p->kindless;
	as->moving = !p->present;
}

void report_on_ended(const struct capture_header *h, uint64_t *ret)
{
	uint64_t u;

	if (blob_is(h->key, "vanished") && looks_number(h->value, &u))
		*ret = u;
}

void report_note_ended(const struct census_out *out, uint64_t ended)
{
	if (ended == 1)
		out->note(out->arg, "%" PRIu64 " process ended while it was read: its shares are in no row, so the sum of PSS is less than the memory in use",
			  ended);
	else if (ended)
		out->note(out->arg, "%" PRIu64 " processes ended while they were read: their shares are in no row, so the sum of PSS is less than the memory in use",
			  ended);
}

void row_smaps(struct report_row *r, const uint8_t column[ROW_SMAPS], const struct smaps *s,
	       bool paper, bool unsized)
{
	enum { RSS, PSS, USS, SWAP, HUGE, HUGETLB };

	row_u(r, column[RSS], s->rss);
	row_if(r, !s->uncounted, column[PSS], smaps_pss(s));
	row_if(r, !s->uncounted, column[USS], s->uss);
	row_if(r, !paper, column[SWAP], s->swap);
	row_if(r, !paper && !unsized && smaps_knows_huge(s), column[HUGE], smaps_huge(s));
	row_if(r, !paper && smaps_knows_hugetlb(s), column[HUGETLB], s->hugetlb);
}

/* ---- values of rows ---- */

void row_ticks(struct report_row *r, unsigned i, uint64_t ticks, uint64_t hz)
{
	uint64_t ms;

	if (!__builtin_mul_overflow(ticks, 1000, &ms))
		row_u(r, i, ms / (hz ? hz : 100));
}

bool is_frame_use(const char *word)
{
	for (unsigned i = 0; i < CAPTURE_USES; i++)
		if (!strcmp(word, capture_uses[i]))
			return true;
	return false;
}

/* ---- rows of another report ---- */

static void report_say(void *arg, const char *fmt, ...)
{
}

static void report_leave_out(void *arg, enum atw_param param, const char *fmt, ...)
{
}

int report_rows_of(const struct census_report *from, void *state,
		   int (*row)(void *arg, const struct atw_row *row, struct atw_err *err), void *arg,
		   struct atw_err *err)
{
	const struct census_out out = {
		.row = row, .text = report_say, .note = report_say, .left_out = report_leave_out,
		.lacks = report_say, .whole = true, .arg = arg,
	};

	return from->finish(state, &out, err);
}

/* ---- control groups ---- */

/* The first 12 digits of a container's ID, as its tools show it. */
static bool report_is_id(const char *s, size_t len)
{
	if (len != 64)
		return false;
	for (size_t i = 0; i < len; i++)
		if (!strchr("0123456789abcdef", s[i]))
			return false;
	return true;
}

void cgroup_unit(const char *path, size_t len, char ret[CGROUP_UNIT])
{
	static const char *const ends[] = { ".service", ".scope", ".socket", ".mount", ".swap", ".slice" };

	snprintf(ret, CGROUP_UNIT, "other");
	while (len) {
		const char *slash = memrchr(path, '/', len);
		const char *part = slash ? slash + 1 : path, *dash;
		size_t n = len - (size_t)(part - path), scope = n;

		len = slash ? (size_t)(slash - path) : 0;
		if (report_is_id(part, n)) {
			snprintf(ret, CGROUP_UNIT, "container-%.12s", part);
			return;
		}
		if (n > 6 && !memcmp(part + n - 6, ".scope", 6))
			scope = n - 6;
		dash = memrchr(part, '-', scope);
		if (dash && report_is_id(dash + 1, scope - (size_t)(dash + 1 - part))) {
			snprintf(ret, CGROUP_UNIT, "%.*s%.12s", (int)(dash + 1 - part), part, dash + 1);
			return;
		}
		for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
			size_t end = strlen(ends[i]);

			if (n > end && n < CGROUP_UNIT && !memcmp(part + n - end, ends[i], end)) {
				snprintf(ret, CGROUP_UNIT, "%.*s", (int)n, part);
				return;
			}
		}
	}
}

/* ---- texts of pictures ---- */

const char *picture_pages(uint64_t page, char buf[48])
{
	char size[16];

	snprintf(buf, 48, _("pages of %s"), num_human(page, size));
	return buf;
}

const char *picture_process(const char *name, uint64_t pid, char buf[64])
{
	int room = 64 - 26;              /* ", " and 20 digits, and an ellipsis */

	snprintf(buf, 64, "%.*s%s, %" PRIu64, room, name,
		 strlen(name) <= (size_t)room ? "" : "\xe2\x80\xa6", pid);
	return buf;
}
