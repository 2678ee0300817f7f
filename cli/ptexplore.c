/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ptexplore.c - the program as it is called ptexplore: its options, and its lines
 * to the byte. What it could not know or got wrong is said in words of the same
 * place: n/a where frame numbers are hidden, "guard" where it saw swap.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "atwalk.h"
#include "base/buf.h"
#include "base/num.h"
#include "provider/provider.h"

struct request {
	bool quiet;
	uint64_t pid, address;           /* 0: none, as it always was */
	const char *areas;
};

struct shown {
	uint64_t start, end;
	char *name;
};

struct explorer {
	struct request o;
	struct provider *prov;
	struct shown *area;
	size_t n, cap;
};

/* ---- options: one dash or two, a value behind a blank or = ---- */

static const struct {
	const char *name, *type, *help;
} options[] = {
	{ "address", "string", "Analyze a single address (e.g. '0x7f66a002ab70')" },
	{ "areas", "string", "Comma separated list of memory areas (even patterns) to analyze (e.g. 'stack,heap,libc')" },
	{ "pid", "int", "Pid of the process to analyze (e.g. 42)" },
	{ "quiet", "", "Don't print page table details, just a summary of the memory areas" },
};

static void usage(void)
{
	fputs("Explore page table of a process under Linux.\n"
	      "Works by attaching to a process and printing each memory area. Optionally, memory areas can be restricted via a filter.\n"
	      "\nUsage of ptexplore:\n", stderr);
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		fprintf(stderr, "  -%s%s%s\n    \t%s\n", options[i].name, options[i].type[0] ? " " : "",
			options[i].type, options[i].help);
}

static int wrong(const char *text, const char *what)
{
	fprintf(stderr, "%s%s\n", text, what);
	usage();
	return EXIT_USAGE;
}

static int set(struct request *o, const char *name, const char *value)
{
	if (!strcmp(name, "areas")) {
		o->areas = value;
		return 0;
	}
	if (!strcmp(name, "quiet")) {
		o->quiet = strcmp(value, "false") && strcmp(value, "0");
		return 0;
	}
	if (!strcmp(name, "pid") ? num_dec(value, strlen(value), &o->pid)
				 : num_hex(value, strlen(value), &o->address))
		return 0;
	return wrong("invalid value for -", name);
}

/* < 0: go on; else the exit status. */
static int parse(struct request *o, int argc, char **argv)
{
	for (int i = 1; i < argc && argv[i][0] == '-' && argv[i][1] && strcmp(argv[i], "--"); i++) {
		const char *text = argv[i] + 1 + (argv[i][1] == '-'), *value = strchr(text, '=');
		size_t len = value ? (size_t)(value - text) : strlen(text), k;
		int status;

		for (k = 0; k < sizeof(options) / sizeof(options[0]); k++)
			if (strlen(options[k].name) == len && !memcmp(options[k].name, text, len))
				break;
		if (k == sizeof(options) / sizeof(options[0])) {
			if (strcmp(text, "help") && strcmp(text, "h"))
				return wrong("flag provided but not defined: -", text);
			usage();
			return EXIT_COMPLETE;
		}
		if (value)
			value++;
		else if (!options[k].type[0])
			value = "true";
		else if (i + 1 < argc)
			value = argv[++i];
		else
			return wrong("flag needs an argument: -", options[k].name);
		status = set(o, options[k].name, value);
		if (status)
			return status;
	}
	return -1;
}

/* ---- its lines ---- */

/* Powers of 1000, and a digit behind the point of what is below 10. */
static const char *size_text(uint64_t n, char buf[32])
{
	static const char *const unit[] = { "B", "kB", "MB", "GB", "TB", "PB", "EB" };
	double v = (double)n;
	unsigned i = 0;

	for (; v >= 1000 && i < 6; i++)
		v /= 1000;
	if (n < 10) {
		snprintf(buf, 32, "%" PRIu64 " B", n);
		return buf;
	}
	v = (double)(uint64_t)(v * 10 + 0.5) / 10;
	snprintf(buf, 32, v < 10 ? "%.1f %s" : "%.0f %s", v, unit[i]);
	return buf;
}

static void put_flags(uint64_t flags)
{
	bool first = true;

	for (unsigned i = 0; i < 26; i++) {
		if (!(flags >> i & 1))
			continue;
		/* What is OFFLINE today was BALLOON then. */
		printf("%s%s", first ? "" : ",", i == 23 ? "BALLOON" : atw_page_flag_name(i));
		first = false;
	}
}

static void put_page(struct explorer *e, const struct page_run *r, uint32_t i, uint64_t off)
{
	struct frame_facts f = { 0 };

	printf("0x%016" PRIx64 ": physical address: ", r->va + i * r->slot + off);
	if (r->pa)
		printf("0x%016" PRIx64 " ", r->pa[i] + off);
	else
		printf("n/a ");
	printf("%s%s%s", r->flags & 4 ? "file-page " : "", r->flags & 2 ? "exclusive " : "",
	       r->flags & 1 ? "soft-dirty " : "");
	if (!r->pa || e->prov->ops->facts(e->prov, r, i, off, 0, &f, NULL) < 0)
		f.have = 0;
	if (f.have & FACT_COUNT)
		printf("count:%" PRIu64 " flags:", f.page.count);
	else
		printf("count:n/a flags:");
	if (f.have & FACT_FLAGS)
		put_flags(f.page.flags);
	else
		printf("n/a");
	putchar('\n');
}

static void put_soft(const struct page_run *r, uint32_t i)
{
	static const char *const words[] = {
		[PAGE_SWAP] = "swapped", [PAGE_MIGRATION] = "migration",
		[PAGE_POISON] = "poison", [PAGE_DEVICE] = "device", [PAGE_MARKER] = "marker",
		[PAGE_GUARD] = "guard",
	};

	printf("0x%016" PRIx64 ": %s ", r->va + i * r->slot, words[r->state]);
	if (r->state == PAGE_SWAP && r->have & RUN_SWAP)
		printf("type: %u offset: 0x%016" PRIx64 " ", r->swap_type, r->swap_offset + i);
	else if (r->state == PAGE_SWAP)
		printf("type: n/a offset: n/a ");
	putchar('\n');
}

static void put_absent(uint64_t *pages)
{
	if (*pages)
		printf("... %" PRIu64 " non mapped pages ...\n", *pages);
	*pages = 0;
}

static int put_pages(struct explorer *e, uint64_t first, uint64_t last, struct atw_err *err)
{
	uint64_t page = (uint64_t)1 << e->prov->page_shift, absent = 0;
	const struct page_run *r;
	int rc = e->prov->ops->pages_open(e->prov, 0, first, last, err);

	while (rc >= 0 && (rc = e->prov->ops->pages_next(e->prov, &r, err)) == ATW_OK) {
		uint64_t from = r->va > first ? r->va : first;
		uint64_t to = r->va + (r->size - 1) < last ? r->va + (r->size - 1) : last;

		if (r->state == PAGE_ABSENT) {
			absent += from > to ? 0 : (to - from) / page + 1;
			continue;
		}
		for (uint64_t va = from; va <= to && va >= from; va += page) {
			put_absent(&absent);
			if (r->state == PAGE_PRESENT || r->state == PAGE_PROTNONE)
				put_page(e, r, (uint32_t)((va - r->va) / r->slot),
					 (va - r->va) % r->slot);
			else
				put_soft(r, (uint32_t)((va - r->va) / r->slot));
		}
	}
	/* An area of kernel addresses has no pages that /proc tells of. */
	if (first > e->prov->user_last)
		absent = (last - first) / page + 1;
	put_absent(&absent);
	return rc < 0 ? rc : ATW_OK;
}

static int put_area(struct explorer *e, const struct shown *a, struct atw_err *err)
{
	uint64_t at = e->o.address, page = (uint64_t)1 << e->prov->page_shift;
	char size[32];

	if (at && (at < a->start || at >= a->end))
		return ATW_OK;
	printf("%sArea '%s', range 0x%016" PRIx64 " - 0x%016" PRIx64 " (%s)\n%s",
	       e->o.quiet ? "" : "\n", a->name, a->start, a->end,
	       size_text(a->end - a->start, size), e->o.quiet ? "" : "\n");
	if (e->o.quiet)
		return ATW_OK;
	if (at)
		return put_pages(e, at & ~(page - 1), at | (page - 1), err);
	return put_pages(e, a->start, a->end - 1, err);
}

/* ---- all of it ---- */

static int read_areas(struct explorer *e, struct atw_err *err)
{
	struct atw_area *a = malloc(sizeof(*a));
	int r;

	if (!a)
		return atw_err_set(err, ATW_E_NOMEM, "out of memory");
	r = e->prov->ops->areas_open(e->prov, 0, err);
	while (r >= 0 && (r = e->prov->ops->areas_next(e->prov, a, err)) == ATW_OK) {
		char *name = strdup(a->name[0] ? a->name : "anonymous");

		if (!name || !array_reserve((void **)&e->area, &e->cap, e->n + 1, sizeof(*e->area))) {
			free(name);
			r = atw_err_set(err, ATW_E_NOMEM, "out of memory");
			break;
		}
		e->area[e->n++] = (struct shown){ a->start.u, a->end.u, name };
	}
	free(a);
	return r < 0 ? r : ATW_OK;
}

/* Pattern by pattern, and an area that two of them name twice. */
static int put_areas(struct explorer *e, struct atw_err *err)
{
	const char *s = e->o.areas ? e->o.areas : "";
	int r = ATW_OK;

	for (bool more = true; more && r == ATW_OK;) {
		size_t n = strcspn(s, ",");

		for (size_t i = 0; e->area && i < e->n && r == ATW_OK; i++)
			if (memmem(e->area[i].name, strlen(e->area[i].name), s, n))
				r = put_area(e, &e->area[i], err);
		more = s[n] == ',';
		s += n + more;
	}
	return r;
}

int ptexplore_main(int argc, char **argv)
{
	struct explorer e = { 0 };
	struct atw_err err = { 0 };
	int status = parse(&e.o, argc, argv), r;

	if (status >= 0)
		return status;
	if (!e.o.pid || e.o.pid > UINT32_MAX) {
		fputs("Pid not specified\n", stderr);
		return 1;
	}
	const struct pagemap_provider_opts po = {
		.only = (uint32_t)e.o.pid, .flags = !e.o.quiet, .counts = !e.o.quiet,
	};

	r = pagemap_provider_open(&po, NULL, NULL, &e.prov, &err);
	if (r == ATW_OK)
		e.prov->each = true;
	if (r == ATW_OK)
		r = e.prov->ops->tasks(e.prov, &err);
	if (r == ATW_OK)
		r = read_areas(&e, &err);
	if (r == ATW_OK)
		r = put_areas(&e, &err);
	if (r == ATW_OK && e.prov->lacks.status && !e.o.quiet)
		complain(&e.prov->lacks);
	if (r < 0)
		complain(&err);
	for (size_t i = 0; i < e.n; i++)
		free(e.area[i].name);
	free(e.area);
	provider_close(e.prov);
	return r < 0 ? 1 : EXIT_COMPLETE;
}
