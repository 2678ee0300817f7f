/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * samesyms DUMP FILE KALLSYMS - whether --kernel FILE names DUMP's kernel rightly
 *
 * KALLSYMS is the guest's own /proc/kallsyms. Every address in it, from _stext
 * on, must come back as a symbol that lies there, and so must its last byte;
 * and every 37th name as an address that it has. FILE may know more. What only
 * a running kernel has, modules and BPF programs, is left out, and so are labels
 * of the compiler (.LC0), which 5.10 lists. DUMP should not have symbols of its
 * own: they would answer. Exit 0: all agree; 1: not; 2: usage.
 */
#include <err.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <atwalk/base.h>
#include "extract/extract.h"
#include "format/vmcoreinfo.h"
#include "linux/linux.h"
#include "linux/page.h"
#include "paging/paging.h"
#include "linux/process.h"
#include "record/record.h"
#include "source/source.h"
#include "walk/walk.h"

struct symbol {
	uint64_t address;
	char *name;
};

static struct {
	struct symbol *v;
	size_t n, cap;
} truth;

static int by_address(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return x->address != y->address ? (x->address < y->address ? -1 : 1) :
					  strcmp(x->name, y->name);
}

static int by_name(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;
	int c = strcmp(x->name, y->name);

	return c ? c : (x->address > y->address) - (x->address < y->address);
}

static void read_truth(const char *path)
{
	FILE *f = fopen(path, "r");
	char line[1024], name[512], module[64], type;
	uint64_t address;

	if (!f)
		err(2, "%s", path);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%" SCNx64 " %c %511s %63s", &address, &type, name,
			   module) != 3 || !strncmp(name, ".L", 2))
			continue;
		if (truth.n == truth.cap) {
			truth.cap = truth.cap ? truth.cap * 2 : 65536;
			truth.v = realloc(truth.v, truth.cap * sizeof(*truth.v));
			if (!truth.v)
				err(2, "memory");
		}
		truth.v[truth.n++] = (struct symbol){ address, strdup(name) };
	}
	fclose(f);
}

static uint64_t must_have(struct atw_kernel *k, const char *name)
{
	struct atw_err why = { 0 };
	uint64_t at;

	if (atw_kernel_symbol(k, name, &at, &why) < 0)
		errx(2, "%s", why.text);
	return at;
}

/* Are these its name and its address? */
static bool is_true(uint64_t address, char *name)
{
	const struct symbol s = { address, name };

	return bsearch(&s, truth.v, truth.n, sizeof(s), by_address);
}

static size_t wrong;

static void bad(const char *what, const char *name, uint64_t want, uint64_t got,
		const char *got_name)
{
	if (wrong++ < 8)
		printf("%s: %s is at 0x%" PRIx64 "; got 0x%" PRIx64 " %s\n", what, name,
		       want, got, got_name);
}

static size_t addresses(struct atw_kernel *k, uint64_t first)
{
	size_t n = 0;

	for (size_t i = 0; i < truth.n; i++) {
		struct symbol *t = &truth.v[i];
		struct lnx_symbol s = { 0 };

		if (t->address < first || (i && truth.v[i - 1].address == t->address))
			continue;
		n++;
		/* The last byte of each as well, where it says how many it has. */
		if (atw_kernel_symbol_at(k, t->address, &s, NULL) < 0 ||
		    s.address != t->address)
			bad("by address", t->name, t->address, s.address, s.name);
		else if (s.size > 1 && (atw_kernel_symbol_at(k, t->address + s.size - 1, &s, NULL) < 0 ||
					s.address != t->address))
			bad("by its last byte", t->name, t->address, s.address, s.name);
	}
	return n;
}

static size_t names(struct atw_kernel *k, struct symbol *sorted)
{
	size_t n = 0;

	for (size_t i = 0; i < truth.n; i += 37) {
		struct symbol *t = &sorted[i];
		uint64_t got = 0;

		n++;
		if (atw_kernel_symbol(k, t->name, &got, NULL) < 0 || !is_true(got, t->name))
			bad("by name", t->name, t->address, got, "");
	}
	return n;
}

int main(int argc, char **argv)
{
	struct atw_kernel_opts o = { 0 };
	struct atw_err why = { 0 };
	struct symbol *sorted;
	struct atw_source *in;
	struct atw_kernel *k;
	size_t na, nn;

	if (argc != 4)
		errx(2, "usage: samesyms DUMP FILE KALLSYMS");
	read_truth(argv[3]);
	sorted = malloc(truth.n * sizeof(*sorted) + 1);
	if (!sorted)
		err(2, "memory");
	memcpy(sorted, truth.v, truth.n * sizeof(*sorted));
	qsort(sorted, truth.n, sizeof(*sorted), by_name);
	qsort(truth.v, truth.n, sizeof(*truth.v), by_address);
	o.file = argv[2];
	if (atw_source_open(argv[1], NULL, 0, &in, &why) < 0 ||
	    atw_kernel_open(in, &o, &k, &why) < 0)
		errx(2, "%s", why.text);
	na = addresses(k, must_have(k, "_stext"));
	nn = names(k, sorted);
	printf("%zu addresses and %zu names looked up, %zu wrong\n", na, nn, wrong);
	atw_kernel_close(k);
	atw_source_close(in);
	return wrong != 0;
}
