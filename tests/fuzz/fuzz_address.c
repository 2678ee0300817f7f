/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ADDRESS arguments, with a kernel that has symbols in its VMCOREINFO. */
#include "../../cli/address.c"
#include "tables.h"

/* Of the rest of the program, for functions that are not called here. */
const char *tables_hint(const struct session *s)
{
	return s->name;
}

int print_error(const struct atw_err *err)
{
	(void)err;
	return EXIT_SOURCE;
}

int select_owner(const struct common *c, struct session *s, const struct space_opts *o,
		 const char *text, uint64_t first, uint64_t last, bool *unmapped)
{
	(void)c, (void)s, (void)o, (void)text, (void)first, (void)last;
	*unmapped = true;
	return EXIT_SOURCE;
}

static int symbols(struct atw_source *s, const char *key, struct atw_blob *ret)
{
	static const char text[] = "OSRELEASE=6.1\nSYMBOL(_stext)=ffffffff81000000\n"
				   "SYMBOL(last)=ffffffffffffffff\n";

	(void)s;
	if (strcmp(key, "vmcoreinfo"))
		return ATW_E_MISSING;
	*ret = (struct atw_blob){ text, sizeof(text) - 1 };
	return ATW_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const uint8_t none[4];
	struct input in = { data, len }, empty = { none, sizeof(none) };
	struct machine *m = machine_new(&empty);
	struct atw_source_ops ops = machine_lends;
	uint64_t how = take(&in, 1);
	struct atw_kernel_opts ko = { .has_root = true };
	struct target t = { .name = "dump", .source = &m->s };
	struct session o = { .name = "dump", .target = &t, .subject.given = how & 1 };
	char *text = take_line(&in);
	struct atw_err err = { 0 };
	struct address a;
	int r;

	ops.fact = symbols;
	m->s.ops = &ops;
	ko.paging = atw_paging_at((how >> 1) % machine_modes())->name;
	if (atw_kernel_open(&m->s, &ko, &t.kernel, &err) < 0)
		abort();
	r = parse_address(&o, text, &a, &err);
	check_err(r, &err);
	FUZZ_CHECK(r == ATW_OK || r == ATW_E_USAGE, "status %d", r);
	FUZZ_CHECK(r < 0 || (a.first <= a.last && (a.is_range || a.first == a.last)),
		   "'%s' ends before it starts", text);
	atw_kernel_close(t.kernel);
	free(text);
	return 0;
}
