/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ptexplore.c - the program as it is called ptexplore: its options, and its lines
 * to the byte. What it could not know or got wrong is said in words of the same
 * place: n/a where frame numbers are hidden, "guard" where it saw swap.
 */
#include <stdarg.h>

#include "atwalk.h"
#include "base/text.h"
#include "common/complete.h"
#include "target/provider.h"

struct request {
	bool quiet;
	int64_t pid;                     /* 0: none, as it always was */
	uint64_t address;                /* likewise */
	const char *areas, *at;
};

struct ptexplore_shown {
	uint64_t start, end;
	char *name;
};

struct explorer {
	struct request o;
	struct provider *prov;
	struct vma_cursor *vmas;
	struct page_cursor *pages;
	struct ptexplore_shown *area;
	size_t n, cap;
};

/* ---- options: one dash or two, a value behind a blank or = ---- */

static const struct opt options[] = {
	{ 0, "address", OPT_TEXT, offsetof(struct request, at), "string",
	  "Analyze a single address (e.g. '0x7f66a002ab70')", NULL },
	{ 0, "areas", OPT_TEXT, offsetof(struct request, areas), "string",
	  "Comma separated list of memory areas (even patterns) to analyze (e.g. 'stack,heap,libc')", NULL },
	{ 0, "pid", OPT_NUMBER, offsetof(struct request, pid), "int",
	  "Pid of the process to analyze (e.g. 42)", NULL },
	{ 0, "quiet", OPT_FLAG, offsetof(struct request, quiet), NULL,
	  "Don't print page table details, just a summary of the memory areas", NULL },
	{ 0 }
};

static void ptexplore_usage(void)
{
	fputs("Explore page table of a process under Linux.\n"
	      "Works by attaching to a process and printing each memory area. Optionally, memory areas can be restricted via a filter.\n"
	      "\nUsage of ptexplore:\n", stderr);
	for (const struct opt *o = options; o->name; o++)
		fprintf(stderr, "  -%s%s%s\n    \t%s\n", o->name, o->arg ? " " : "",
			o->arg ? o->arg : "", o->help);
}

/* A usage error as Go's package flag reports it: the sentence, then the usage. */
ATW_PRINTF(1, 2) static int ptexplore_wrong(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	ptexplore_usage();
	return EXIT_USAGE;
}

/* strconv.ParseBool() of Go: these words and no others. */
static bool ptexplore_go_bool(const char *s, bool *ret)
{
	static const char *const yes[] = { "1", "t", "T", "true", "TRUE", "True" };
	static const char *const no[] = { "0", "f", "F", "false", "FALSE", "False" };

	for (size_t i = 0; i < ARRAY_SIZE(yes); i++)
		if (!strcmp(s, yes[i]) || !strcmp(s, no[i])) {
			*ret = !strcmp(s, yes[i]);
			return true;
		}
	return false;
}

static int ptexplore_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' :
	       c >= 'a' && c <= 'z' ? c - 'a' + 10 : c >= 'A' && c <= 'Z' ? c - 'A' + 10 : 36;
}

/*
 * strconv.ParseInt(s, 0, 64) of Go: 42, 0x2a, 0o52 and 052, 0b101010; an underscore
 * between digits or behind the prefix. NULL, or why it is none.
 */
static const char *ptexplore_go_int(const char *s, int64_t *ret)
{
	bool minus = *s == '-', over = false, after = false, any = false;
	uint64_t v = 0, max = minus ? (uint64_t)1 << 63 : INT64_MAX;
	int base = 10;

	s += minus || *s == '+';
	if (s[0] == '0' && s[1]) {
		int c = s[2] ? s[1] | 0x20 : 0;

		base = c == 'x' ? 16 : c == 'b' ? 2 : 8;
		any = base == 8 && c != 'o';
		after = true;
		s += any ? 1 : 2;
	}
	for (; *s; s++) {
		if (*s == '_' && after) {
			after = false;
			continue;
		}
		if (ptexplore_digit(*s) >= base)
			return "parse error";
		over |= __builtin_mul_overflow(v, (uint64_t)base, &v) ||
			__builtin_add_overflow(v, (uint64_t)ptexplore_digit(*s), &v) ||
			v > max;
		any = after = true;
	}
	if (!any || !after)
		return "parse error";
	if (over)
		return "value out of range";
	*ret = minus ? -(int64_t)(v - 1) - 1 : (int64_t)v;
	return NULL;
}

/* The program's own reading of an address: its failures are no usage errors. */
static int ptexplore_set_address(struct request *o)
{
	const char *s = o->at ? o->at : "", *hex = strncmp(s, "0x", 2) ? s : s + 2;
	size_t len = strlen(hex);
	struct buf text = { 0 };

	if (!*s)
		return EXIT_COMPLETE;
	if ((hex[0] != '0' || (hex[1] | 0x20) != 'x') && num_hex(hex, len, &o->address))
		return EXIT_COMPLETE;
	text_json(&text, hex);
	fprintf(stderr, "strconv.ParseUint: parsing %s: %s\n",
		text.failed ? "\"\"" : text.data,
		len > 16 && strspn(hex, "0123456789abcdefABCDEF") == len ?
		"value out of range" : "invalid syntax");
	buf_deinit(&text);
	return EXIT_NO;
}

static int ptexplore_set(struct request *o, const char *name, const char *value)
{
	const char *why = NULL;
	struct buf text = { 0 };
	int status = EXIT_COMPLETE;

	if (!strcmp(name, "areas"))
		o->areas = value;
	else if (!strcmp(name, "address"))
		o->at = value;
	else if (!strcmp(name, "pid"))
		why = ptexplore_go_int(value, &o->pid);
	else if (!ptexplore_go_bool(value, &o->quiet))
		why = "parse error";
	if (!why)
		return EXIT_COMPLETE;
	text_json(&text, value);
	if (text.failed)
		status = ptexplore_wrong("out of memory");
	else if (!strcmp(name, "quiet"))
		status = ptexplore_wrong("invalid boolean value %s for -%s: %s",
					 text.data, name, why);
	else
		status = ptexplore_wrong("invalid value %s for flag -%s: %s", text.data,
					 name, why);
	buf_deinit(&text);
	return status;
}

static int ptexplore_wrong_name(const char *what, const char *text, size_t len)
{
	struct buf b = { 0 }, plain = { 0 };
	int status;

	buf_add(&b, text, len);
	text_plain(&plain, b.failed || !b.data ? "" : b.data);
	status = ptexplore_wrong("%s%s", what, plain.data ? plain.data : "");
	buf_deinit(&b);
	buf_deinit(&plain);
	return status;
}

/* < 0: go on; else the exit status. */
static int ptexplore_parse(struct request *o, int argc, char **argv)
{
	for (int i = 1; i < argc && argv[i][0] == '-' && argv[i][1] && strcmp(argv[i], "--"); i++) {
		const char *text = argv[i] + 1 + (argv[i][1] == '-'), *value;
		const struct opt *opt = options;
		size_t len;
		int status;

		if (!*text || *text == '-' || *text == '=')
			return ptexplore_wrong_name("bad flag syntax: ", argv[i],
						    strlen(argv[i]));
		value = strchr(text, '=');
		len = value ? (size_t)(value - text) : strlen(text);
		while (opt->name && (strlen(opt->name) != len || memcmp(opt->name, text, len) != 0))
			opt++;
		if (!opt->name) {
			bool help = (len == 1 && *text == 'h') || (len == 4 && !memcmp(text, "help", 4));

			if (!help)
				return ptexplore_wrong_name(
					"flag provided but not defined: -", text, len);
			ptexplore_usage();
			return EXIT_COMPLETE;
		}
		if (value)
			value++;
		else if (!opt->arg)
			value = "true";
		else if (i + 1 < argc)
			value = argv[++i];
		else
			return ptexplore_wrong("flag needs an argument: -%s",
					       opt->name);
		status = ptexplore_set(o, opt->name, value);
		if (status)
			return status;
	}
	return -1;
}

/* ---- its lines ---- */

/* Powers of 1000, and a digit behind the point of what is below 10. */
static const char *ptexplore_size_text(uint64_t n, char buf[32])
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

static void ptexplore_put_flags(uint64_t flags)
{
	bool first = true;

	for (unsigned i = 0; i < 26; i++) {
		if (!(flags >> i & 1))
			continue;
		/* What is OFFLINE today was BALLOON then. */
		printf("%s%s", first ? "" : ",", i == 23 ? "BALLOON" : lnx_page_flag_name(i));
		first = false;
	}
}

static void ptexplore_put_page(struct explorer *e, const struct page_run *r, uint32_t i,
			       uint64_t off)
{
	struct frame_facts f = { 0 };

	printf("0x%016" PRIx64 ": physical address: ", r->va + i * r->slot + off);
	if (r->pa)
		printf("0x%016" PRIx64 " ", r->pa[i] + off);
	else
		printf("n/a ");
	printf("%s%s%s", r->flags & 4 ? "file-page " : "", r->flags & 2 ? "exclusive " : "",
	       r->flags & 1 ? "soft-dirty " : "");
	if (!r->pa || page_cursor_facts(e->pages, r, i, off, 0, &f, NULL) < 0)
		f.have = 0;
	if (f.have & FACT_COUNT)
		printf("count:%" PRIu64 " flags:", f.page.count);
	else
		printf("count:n/a flags:");
	if (f.have & FACT_FLAGS)
		ptexplore_put_flags(f.page.flags);
	else
		printf("n/a");
	putchar('\n');
}

static void ptexplore_put_soft(const struct page_run *r, uint32_t i)
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

static void ptexplore_put_absent(uint64_t *pages)
{
	if (*pages)
		printf("... %" PRIu64 " non mapped pages ...\n", *pages);
	*pages = 0;
}

static int ptexplore_put_pages(struct explorer *e, uint64_t first, uint64_t last,
			       struct atw_err *err)
{
	uint64_t page = (uint64_t)1 << e->prov->page_shift, absent = 0;
	const struct page_query q = {
		.first = first, .last = last, .vmas = e->vmas, .each = true,
	};
	const struct page_run *r;
	int rc = page_cursor_open(e->prov, &q, &e->pages, err);

	while (rc >= 0 && (rc = page_cursor_next(e->pages, &r, err)) == ATW_OK) {
		uint64_t from = r->va > first ? r->va : first;
		uint64_t to = r->va + (r->size - 1) < last ? r->va + (r->size - 1) : last;

		if (r->state == PAGE_ABSENT) {
			absent += from > to ? 0 : (to - from) / page + 1;
			continue;
		}
		for (uint64_t va = from; va <= to && va >= from; va += page) {
			ptexplore_put_absent(&absent);
			if (r->state == PAGE_PRESENT || r->state == PAGE_PROTNONE)
				ptexplore_put_page(e, r,
						   (uint32_t)((va - r->va) / r->slot),
						   (va - r->va) % r->slot);
			else
				ptexplore_put_soft(r, (uint32_t)((va - r->va) / r->slot));
		}
	}
	/* /proc lists no pages for an area of kernel addresses. */
	if (first > e->prov->user_last)
		absent = (last - first) / page + 1;
	ptexplore_put_absent(&absent);
	return rc < 0 ? rc : ATW_OK;
}

static int ptexplore_put_area(struct explorer *e, const struct ptexplore_shown *a,
			      struct atw_err *err)
{
	uint64_t at = e->o.address, page = (uint64_t)1 << e->prov->page_shift;
	char size[32];

	if (at && (at < a->start || at >= a->end))
		return ATW_OK;
	printf("%sArea '%s', range 0x%016" PRIx64 " - 0x%016" PRIx64 " (%s)\n%s",
	       e->o.quiet ? "" : "\n", a->name, a->start, a->end,
	       ptexplore_size_text(a->end - a->start, size), e->o.quiet ? "" : "\n");
	if (e->o.quiet)
		return ATW_OK;
	if (at)
		return ptexplore_put_pages(e, at & ~(page - 1), at | (page - 1), err);
	return ptexplore_put_pages(e, a->start, a->end - 1, err);
}

/* ---- all of it ---- */

static int ptexplore_read_areas(struct explorer *e, struct atw_err *err)
{
	_auto_free struct atw_area *a = malloc(sizeof(*a));
	int r;

	if (!a)
		return atw_err_nomem(err);
	r = vma_cursor_open(e->prov, 0, &e->vmas, err);
	while (r >= 0 && (r = vma_cursor_next(e->vmas, a, err)) == ATW_OK) {
		struct buf text = { 0 };
		char *name;

		text_octal(&text, a->name[0] ? a->name : "anonymous");
		name = text.data;
		if (text.failed || !array_reserve((void **)&e->area, &e->cap, e->n + 1, sizeof(*e->area))) {
			free(name);
			r = atw_err_nomem(err);
			break;
		}
		e->area[e->n++] = (struct ptexplore_shown){a->start.u, a->end.u, name};
	}
	return r < 0 ? r : ATW_OK;
}

/* Pattern by pattern, and an area that two of them name twice. */
static int ptexplore_put_areas(struct explorer *e, struct atw_err *err)
{
	const char *s = e->o.areas ? e->o.areas : "";
	int r = ATW_OK;

	for (bool more = true; more && r == ATW_OK;) {
		size_t n = strcspn(s, ",");

		for (size_t i = 0; e->area && i < e->n && r == ATW_OK; i++)
			if (memmem(e->area[i].name, strlen(e->area[i].name), s, n))
				r = ptexplore_put_area(e, &e->area[i], err);
		more = s[n] == ',';
		s += n + more;
	}
	return r;
}

int ptexplore_main(int argc, char **argv)
{
	struct explorer e = { 0 };
	struct atw_err err = { 0 };
	const struct complete_table own = { .options = options, .one_dash = true };
	int status, r;

	/* It takes no operands. */
	if (argc > 1 && !strcmp(argv[1], COMPLETE_WORD)) {
		complete_table_run(&own, argc - 2, argv + 2);
		return EXIT_COMPLETE;
	}
	status = ptexplore_parse(&e.o, argc, argv);
	if (status >= 0)
		return status;
	if (!e.o.pid) {
		fputs("Pid not specified\n", stderr);
		return EXIT_NO;
	}
	status = ptexplore_set_address(&e.o);
	if (status)
		return status;
	if (e.o.pid < 0 || e.o.pid > UINT32_MAX) {
		atw_err_set(&err, ATW_E_NONE, "there is no process %" PRId64, e.o.pid);
		return print_error(&err);
	}
	const struct pagemap_provider_opts po = {
		.only = (uint32_t)e.o.pid, .flags = !e.o.quiet, .counts = !e.o.quiet,
	};

	r = pagemap_provider_open(&po, NULL, NULL, &e.prov, &err) ?:
	    e.prov->ops->tasks(e.prov, &err) ?:
	    ptexplore_read_areas(&e, &err) ?:
	    ptexplore_put_areas(&e, &err);
	if (r == ATW_OK && e.prov->lacks.status && !e.o.quiet)
		print_error(&e.prov->lacks);
	if (r < 0)
		print_error(&err);
	for (size_t i = 0; i < e.n; i++)
		free(e.area[i].name);
	free(e.area);
	vma_cursor_close(e.vmas);
	page_cursor_close(e.pages);
	provider_close(e.prov);
	return r < 0 ? EXIT_NO : EXIT_COMPLETE;
}
