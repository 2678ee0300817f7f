/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/bytes.h"
#include "host/live_pmu.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "host/pmu_event.h"
#include "host/live_ring.h"
#include "trace/sample.h"

/* PMUs that sample data addresses, and their events. */
static const struct unit {
	const char *name;
	const char *event[2];            /* files of its events; NULL: it has one, without a name */
	const char *leader[2];           /* without which some CPUs do not count them */
	int precise;
} units[] = {
	{ "cpu", { "mem-loads", "mem-stores" }, { "mem-loads-aux" }, 2 },
	{ "cpu_core", { "mem-loads", "mem-stores" }, { "mem-loads-aux" }, 2 },
	{ "ibs_op", { NULL }, { NULL }, 0 },
};

enum { EVENTS = 2 };

struct source {
	int fd, leader;
	struct live_ring ring;
	struct live_touch head;
	bool has_head;
};

struct live_pmu {
	pid_t pid;                       /* 0: the kernel */
	uint64_t type;                   /* sample_type of all events */
	uint64_t scale;
	struct source *source;           /* of each CPU and event */
	size_t n;
	struct source *last;             /* the one of the last returned touch */
	uint64_t lost;
};

/* ---- what sysfs says ---- */

static bool pmu_read_text(const char *devices, const char *unit, const char *file,
			  char *buf, size_t len)
{
	char path[512];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%s/%s", devices, unit, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, buf, len - 1);
	if (fd >= 0)
		close(fd);
	buf[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* ATW_E_MISSING: the unit has no such event. */
static int pmu_read_event(const char *devices, const char *unit, const char *name,
			  struct perf_event_attr *a, struct atw_err *err)
{
	char text[256], file[64], format[128];
	struct pmu_event e = { 0 };
	struct pmu_term t;
	size_t pos = 0;
	int r;

	if (!pmu_read_text(devices, unit, "type", text, sizeof(text)))
		return ATW_E_MISSING;
	a->type = (uint32_t)strtoul(text, NULL, 10);
	if (!name)
		return ATW_OK;
	snprintf(file, sizeof(file), "events/%s", name);
	if (!pmu_read_text(devices, unit, file, text, sizeof(text)))
		return ATW_E_MISSING;
	while ((r = pmu_term_next(blob_of(text), &pos, &t, err)) == ATW_OK) {
		snprintf(file, sizeof(file), "format/%.*s", (int)t.name.len,
			 (const char *)t.name.data);
		if (!pmu_read_text(devices, unit, file, format, sizeof(format)))
			return ATW_E_MISSING;
		r = pmu_term_put(&e, &t, blob_of(format), err);
		if (r < 0)
			break;
	}
	a->config = e.config[0];
	a->config1 = e.config[1];
	a->config2 = e.config[2];
	return r < 0 ? r : ATW_OK;
}

/* ---- events ---- */

static int pmu_open_event(const struct perf_event_attr *a, pid_t pid, unsigned cpu, int group)
{
	return (int)syscall(__NR_perf_event_open, a, pid ? pid : -1, (int)cpu, group,
			    PERF_FLAG_FD_CLOEXEC);
}

/* ATW_E_NONE: the CPU is offline, or a kind of core that is not of this unit. */
static int pmu_open_source(struct live_pmu *p, const struct perf_event_attr *a,
			   const struct perf_event_attr *leader, unsigned cpu,
			   struct atw_err *err)
{
	struct source *s = &p->source[p->n];
	int r;

	s->leader = leader ? pmu_open_event(leader, p->pid, cpu, -1) : -1;
	s->fd = leader && s->leader < 0 ? -1 : pmu_open_event(a, p->pid, cpu, s->leader);
	if (s->fd < 0) {
		int error = errno;

		if (s->leader >= 0)
			close(s->leader);
		atw_err_set(err, error == EACCES || error == EPERM ? ATW_E_PERM : ATW_E_UNSUPPORTED,
			    "cannot sample by the CPU: %s", strerror(error));
		return error == ENODEV || error == ENOENT ? ATW_E_NONE : err->status;
	}
	p->n++;
	r = live_ring_open(&s->ring, s->fd, LIVE_RING_PAGES, err);
	if (r == ATW_OK && ioctl(leader ? s->leader : s->fd, PERF_EVENT_IOC_ENABLE,
				 PERF_IOC_FLAG_GROUP) < 0)
		r = atw_err_set(err, ATW_E_UNSUPPORTED, "cannot sample by the CPU: %s", strerror(errno));
	return r;
}

static int pmu_open_unit(struct live_pmu *p, const char *devices, const struct unit *u,
			 uint64_t period, struct atw_err *err)
{
	long ncpus = sysconf(_SC_NPROCESSORS_CONF);

	for (unsigned i = 0; i < EVENTS && (!i || u->event[i]); i++) {
		struct perf_event_attr a = {
			.size = sizeof(a), .sample_period = period, .disabled = 1,
			.precise_ip = (unsigned)u->precise & 3,
			.sample_type = p->type,
			/* IBS cannot leave out the kernel or user space by itself: then we do. */
			.exclude_user = !p->pid && u->precise, .exclude_hv = u->precise != 0,
			.exclude_kernel = p->pid && u->precise,
			.inherit = p->pid != 0, .inherit_thread = p->pid != 0,
			/* Its addresses are of another program then. */
			.remove_on_exec = p->pid != 0,
			.use_clockid = 1, .clockid = CLOCK_MONOTONIC,
			.watermark = 1, .wakeup_watermark = UINT32_MAX,
		}, leader = {
			.size = sizeof(leader), .disabled = 1, .exclude_user = !p->pid,
			.exclude_kernel = p->pid != 0, .inherit = p->pid != 0,
			.inherit_thread = p->pid != 0,
		};
		int r = pmu_read_event(devices, u->name, u->event[i], &a, err);
		bool leads = r == ATW_OK && u->leader[i] &&
			     pmu_read_event(devices, u->name, u->leader[i], &leader,
					    NULL) == ATW_OK;

		size_t had = p->n;

		a.disabled = !leads;
		for (unsigned cpu = 0; cpu < (unsigned)ncpus && (r == ATW_OK || r == ATW_E_NONE); cpu++)
			r = pmu_open_source(p, &a, leads ? &leader : NULL, cpu, err);
		if (r == ATW_E_NONE)
			r = p->n > had ? ATW_OK : ATW_E_UNSUPPORTED;
		if (r < 0)
			return r;
	}
	return ATW_OK;
}

static void pmu_close_sources(struct live_pmu *p)
{
	for (size_t i = 0; i < p->n; i++) {
		live_ring_close(&p->source[i].ring);
		if (p->source[i].fd >= 0)
			close(p->source[i].fd);
		if (p->source[i].leader >= 0)
			close(p->source[i].leader);
	}
	p->n = 0;
}

int live_pmu_open(const char *devices, pid_t pid, uint64_t period, struct live_pmu **ret,
		  struct atw_err *err)
{
	long ncpus = sysconf(_SC_NPROCESSORS_CONF);
	struct live_pmu *p = calloc(1, sizeof(*p));
	int r = ATW_E_MISSING;

	if (p)
		p->source = calloc((size_t)ncpus * EVENTS, sizeof(*p->source));
	if (!p || !p->source) {
		free(p);
		return atw_err_nomem(err);
	}
	p->pid = pid;
	p->type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
		  PERF_SAMPLE_DATA_SRC | (pid ? PERF_SAMPLE_WEIGHT | PERF_SAMPLE_PHYS_ADDR : 0);
	for (size_t i = 0; i < ARRAY_SIZE(units) && r < 0; i++) {
		/* IBS samples one of so many operations of all kinds. */
		p->scale = units[i].precise ? period : 0;
		r = pmu_open_unit(p, devices, &units[i], period, err);
		if (r < 0)
			pmu_close_sources(p);
	}
	if (r < 0) {
		live_pmu_close(p);
		return r == ATW_E_MISSING || r == ATW_E_FORMAT
			? atw_err_set(err, ATW_E_UNSUPPORTED,
				      "this machine's CPUs do not sample addresses (PEBS, IBS)") : r;
	}
	*ret = p;
	return ATW_OK;
}

void live_pmu_close(struct live_pmu *p)
{
	if (!p)
		return;
	pmu_close_sources(p);
	free(p->source);
	free(p);
}

/* ---- touches ---- */

/* false: no touch of the memory that is looked at. */
static bool pmu_read_sample(const struct live_pmu *p, struct atw_blob record,
			    struct live_touch *ret)
{
	struct trace_ref ref;

	if (trace_sample_decode(p->type, record, &ref, NULL) != ATW_OK ||
	    (ref.kind != TRACE_KIND_READ && ref.kind != TRACE_KIND_WRITE &&
	     ref.kind != TRACE_KIND_BOTH) ||
	    (p->pid ? (int64_t)ref.ip < 0 : (int64_t)ref.address >= 0 || (int64_t)ref.ip >= 0))
		return false;
	*ret = (struct live_touch){
		.time = ref.time, .ip = ref.ip, .va = ref.address, .pid = ref.tid,
		.write = ref.kind != TRACE_KIND_READ, .ref = ref,
	};
	return true;
}

static const struct live_touch *pmu_head_of(struct live_pmu *p, struct source *s)
{
	union {
		struct perf_event_header header;
		uint64_t words[32];
		struct { struct perf_event_header header; uint64_t id, n; } lost;
	} u;

	while (!s->has_head && live_ring_next(&s->ring, &u, sizeof(u))) {
		if (u.header.type == PERF_RECORD_SAMPLE && u.header.size <= sizeof(u))
			s->has_head = pmu_read_sample(p, (struct atw_blob){ &u, u.header.size },
						      &s->head);
		else if (u.header.type == PERF_RECORD_LOST)
			p->lost += u.lost.n;
	}
	return s->has_head ? &s->head : NULL;
}

const struct live_touch *live_pmu_next(struct live_pmu *p, uint64_t until)
{
	const struct live_touch *first = NULL;

	if (p->last)
		p->last->has_head = false;
	p->last = NULL;
	for (size_t i = 0; i < p->n; i++) {
		const struct live_touch *head = pmu_head_of(p, &p->source[i]);

		if (!head || head->time > until || (first && first->time <= head->time))
			continue;
		first = head;
		p->last = &p->source[i];
	}
	return first;
}

uint64_t live_pmu_scale(const struct live_pmu *p)
{
	return p->scale;
}

uint64_t live_pmu_lost(const struct live_pmu *p)
{
	return p->lost;
}
