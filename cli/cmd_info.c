/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_info.c - description of a source: its kind, its contents, and what is missing. */
#include <stdarg.h>

#include "common/config.h"
#include "info.h"
#include "base/message.h"

struct info_opts {
	struct space_opts space;
	bool modes, symbols;
	const char *flags_of;
	struct opt_number log;
};

static const struct opt options[] = {
	{ 0, "paging-modes", OPT_FLAG, offsetof(struct info_opts, modes), NULL,
	  "list the paging modes; takes no SOURCE", NULL },
	{ 0, "paging-flags", OPT_TEXT, offsetof(struct info_opts, flags_of), "MODE",
	  "list the flags of paging mode MODE; takes no SOURCE", NULL },
	{ 0, "symbols", OPT_FLAG, offsetof(struct info_opts, symbols), NULL,
	  "list the symbols of the kernel", NULL },
	{ 0, "log", OPT_NUMBER, offsetof(struct info_opts, log), "LINES",
	  "print the last LINES lines of the kernel log (default for a dump: 8)", NULL },
	OPT_SUBJECT(struct info_opts, space),
	{ 0 }
};

/* ---- facts, a row each ---- */

static const struct atw_column fact_columns[] = {
	COLUMN("fact", TEXT, 14, "what it is about"),
	COLUMN("value", TEXT, 0, "what is known"),
};
static const struct atw_schema fact_schema = { "info", fact_columns, 2 };

void fact(struct facts *f, const char *name, const char *fmt, ...)
{
	char text[2304];         /* a line of the kernel's log is the longest */
	union atw_value v[2] = { { .s = name }, { .s = text } };
	const struct atw_row row = { v, 3 };
	va_list ap;

	if (f->r < 0)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	f->r = atw_output_row(f->out, &row, f->err);
}

static void info_defect(struct facts *f, const struct target *t, const char *key)
{
	struct atw_blob b;

	if (atw_fact(t->source, key, &b) == ATW_OK)
		fact(f, key, "%.*s", (int)(b.len < 400 ? b.len : 400),
		     (const char *)b.data);
}

/* Memory by what the source has of it: neighbours of one kind are one row. */
static void info_memory_facts(struct facts *f, struct atw_source *s, bool every)
{
	static const char *const kinds[] = {
		[ATW_DATA] = "data", [ATW_ZERO] = "zero",
		[ATW_EXCLUDED] = "excluded", [ATW_NONE] = "none",
	};
	uint64_t total[4] = { 0 }, runs[4] = { 0 }, at = 0;
	struct atw_extent run = { .kind = ATW_NONE }, e;
	char size[16];
	bool more = true;

	while (more) {
		more = atw_extent_at(s, ATW_PA(at), &e) == ATW_OK;
		if (more && run.len && e.kind == run.kind &&
		    run.start.u + run.len == e.start.u) {
			run.len += e.len;
		} else {
			if (run.len && run.kind != ATW_NONE) {
				total[run.kind] += run.len;
				runs[run.kind]++;
				if (every || runs[run.kind] <= 16)
					fact(f, "memory", "0x%016" PRIx64 "-0x%016" PRIx64 " %s %s",
					     run.start.u, run.start.u + run.len,
					     num_human(run.len, size), kinds[run.kind]);
			}
			run = e;
		}
		if (more && e.start.u + e.len <= at)
			break;
		at = e.start.u + e.len;
	}
	for (unsigned k = 0; k < 4; k++)
		if (runs[k])
			fact(f, "memory", "%s %s in %" PRIu64 " range%s%s",
			     num_human(total[k], size), kinds[k], runs[k],
			     runs[k] == 1 ? "" : "s",
			     !every && runs[k] > 16 ? "; the first 16 are listed, -v lists all" : "");
}

/* Those of other architectures; only saved guests have them. */
static bool info_cpu_registers(struct facts *f, struct atw_source *s, uint64_t cpu)
{
	static const struct { const char *fact, *name; } registers[] = {
		{ "satp", "satp" }, { "ttbr0", "TTBR0_EL1" }, { "ttbr1", "TTBR1_EL1" },
		{ "tcr", "TCR_EL1" }, { "mair", "MAIR_EL1" },
	};
	char key[32], text[160] = "";
	uint64_t value;

	for (size_t i = 0; i < ARRAY_SIZE(registers); i++) {
		size_t len = strlen(text);

		snprintf(key, sizeof(key), "cpu%" PRIu64 ".%s", cpu, registers[i].fact);
		if (atw_fact_u64(s, key, &value) == ATW_OK)
			snprintf(text + len, sizeof(text) - len, "%s%s 0x%" PRIx64,
				 len ? " " : "", registers[i].name, value);
	}
	snprintf(key, sizeof(key), "cpu%" PRIu64, cpu);
	if (text[0])
		fact(f, key, "%s", text);
	return text[0];
}

static void info_cpu_facts(struct facts *f, const struct target *t)
{
	struct atw_source *s = t->source;
	uint64_t cr3, cr4;

	if (!t->cpus) {
		fact(f, "cpus", "not recorded in this source");
		return;
	}
	fact(f, "cpus", "%" PRIu64, t->cpus);
	for (uint64_t i = 0; i < t->cpus; i++) {
		char key[32];

		snprintf(key, sizeof(key), "cpu%" PRIu64 ".cr3", i);
		if (atw_fact_u64(s, key, &cr3) < 0) {
			if (info_cpu_registers(f, s, i))
				continue;
			break;           /* none of them has, then */
		}
		snprintf(key, sizeof(key), "cpu%" PRIu64 ".cr4", i);
		if (atw_fact_u64(s, key, &cr4) < 0)
			cr4 = 0;
		snprintf(key, sizeof(key), "cpu%" PRIu64, i);
		fact(f, key, "CR3 0x%" PRIx64 " CR4 0x%" PRIx64, cr3, cr4);
	}
}

static void info_put_fact(void *arg, const char *name, const char *text)
{
	fact(arg, name, "%s", text);
}

static int info_source(const struct common *c, const struct info_opts *o,
		       const char *name)
{
	_auto_session struct session src = { 0 };
	struct atw_output_opts oo;
	struct atw_err err = { 0 };
	struct facts f = { .err = &err };
	struct target_facts to = {
		.fact = info_put_fact, .arg = &f, .every = c->verbose > 0,
		.tables = "walk --path, --depth, --root, --cpu, --pti",
	};
	bool described = false;
	char text[256] = "";
	int status = session_open(c, name, &src), k;

	if (status)
		return status;
	/* A source without a kernel is still worth describing. */
	k = session_attach(c, &src, &o->space, TARGET_PAGES);
	if (k == EXIT_USAGE || (k == EXIT_NO && o->space.task) || (k && !target_has(src.target, TARGET_LOOKUP)))
		return k;
	output_opts(c, NULL, &oo);
	f.r = atw_output_open(&oo, &fact_schema, &f.out, &err);
	target_describe_format(src.target, text, sizeof(text));
	fact(&f, "format", "%s", text);
	if (src.target->machine[0])
		fact(&f, "machine", "%s", src.target->machine);
	info_defect(&f, src.target, "truncated");
	info_defect(&f, src.target, "damaged");
	fact(&f, "release", "%s", src.target->release[0] ? src.target->release : "not known");
	if (src.target->kernel) {
		kernel_facts(&f, &src, c->verbose > 0);
		/* A running machine's log is asked for, a dump's is shown. */
		if (o->log.given || !target_has(src.target, TARGET_HERE))
			crash_facts(&f, src.target->kernel, &o->log);
	} else if (!k) {
		described = target_describe(src.target, &to, (uint32_t)src.subject.pid);
		if (to.result < 0) {
			atw_err_wrap(&to.why, "%s", src.name);
			k = print_error(&to.why);
		}
	}
	if (!described) {
		info_cpu_facts(&f, src.target);
		if (src.target->kernel)
			control_facts(&f, &src);
		if (target_has(src.target, TARGET_MEMORY))
			info_memory_facts(&f, src.target->source, c->verbose > 0);
	}
	print_defects(c, &src);
	return output_end(f.out, f.r, k || src.target->defective ? EXIT_PARTIAL : EXIT_COMPLETE, &err);
}

/* ---- --config ---- */

enum { K_SECTION, K_KEY, K_VALUE, K_ORIGIN, K_COUNT };

static const struct atw_column config_columns[K_COUNT] = {
	[K_SECTION] = COLUMN("section", TEXT, 8, "section of the file"),
	[K_KEY] = COLUMN("key", TEXT, 10, "key, which is the long name of an option"),
	[K_VALUE] = COLUMN("value", TEXT, 24,
			   "value in effect; n/a: that of the program"),
	[K_ORIGIN] = COLUMN("origin", TEXT, 8, "file and line, or built-in"),
};
static const struct atw_schema config_schema = {"config", config_columns, K_COUNT};

static int info_config_put(struct atw_output *out, const char *section, const char *key,
			   const struct config_entry *e, struct atw_err *err)
{
	char origin[400];
	const union atw_value v[K_COUNT] = {
		[K_SECTION].s = section,
		[K_KEY].s = key,
		[K_VALUE].s = e ? e->value : "",
		[K_ORIGIN].s = e ? origin : "built-in",
	};
	const struct atw_row row = {
		v, 1u << K_SECTION | 1u << K_KEY | 1u << K_ORIGIN | (e ? 1u << K_VALUE : 0)};

	if (e)
		snprintf(origin, sizeof(origin), "%.380s:%d", e->file, e->line);
	return atw_output_row(out, &row, err);
}

/* Keys that all commands share, and those that files set for single commands. */
static int info_config_all(struct atw_output *out, const struct config *f, struct atw_err *err)
{
	const char *section;
	char key[32];
	int r = ATW_OK;

	for (size_t i = 0; r == ATW_OK && config_key(i, &section, key); i++)
		r = info_config_put(out, section, key, config_find(f, section, key), err);
	for (size_t i = 0; i < f->n && r == ATW_OK; i++) {
		const struct config_entry *e = &f->v[i];

		if (!config_is_shared(e->section) && config_find(f, e->section, e->key) == e)
			r = info_config_put(out, e->section, e->key, e, err);
	}
	return r;
}

static int info_config(const struct common *c)
{
	struct atw_output_opts oo;
	struct atw_output *out = NULL;
	struct atw_err err = {0};
	int r;

	rows_opts(c, &oo);
	r = atw_output_open(&oo, &config_schema, &out, &err) ?:
	    info_config_all(out, c->config, &err);
	return output_end(out, r, EXIT_COMPLETE, &err);
}

/* ---- --paging-modes ---- */

static const struct atw_column mode_columns[] = {
	COLUMN("mode", TEXT, 14, "its name for --paging"),
	COLUMN("levels", COUNT, 6, "tables on the longest way"),
	COLUMN("page", BYTES, 4, "smallest page"),
	COLUMN("virtual", COUNT, 7, "bits of a virtual address"),
	COLUMN("physical", COUNT, 8, "bits of a physical address"),
	COLUMN("about", TEXT, 0, "what it is"),
};
static const struct atw_schema mode_schema = { "modes", mode_columns, 6 };

static int info_list_modes(const struct common *c)
{
	const struct atw_paging *pg;
	struct atw_output_opts oo;
	struct atw_output *out = NULL;
	struct atw_err err = { 0 };
	int r;

	output_opts(c, NULL, &oo);
	r = atw_output_open(&oo, &mode_schema, &out, &err);
	for (size_t i = 0; r == ATW_OK && (pg = atw_paging_at(i)); i++) {
		union atw_value v[6] = {
			{ .s = pg->name }, { .u = pg->nlevels },
			{ .u = (uint64_t)1 << pg->page_shift }, { .u = pg->va_bits },
			{ .u = pg->pa_bits }, { .s = message(pg->help) },
		};
		const struct atw_row row = { v, 0x3f };

		r = atw_output_row(out, &row, &err);
	}
	return output_end(out, r, EXIT_COMPLETE, &err);
}

/* ---- --paging-flags ---- */

static const struct atw_column flag_columns[] = {
	COLUMN("flag", TEXT, 14, "its name"),
	COLUMN("letter", TEXT, 6, "one letter for it"),
	COLUMN("entries", TEXT, 10, "of tables, of leaves, or of both"),
	COLUMN("levels", TEXT, 19, "on which it is"),
	COLUMN("mask", HEX, 18, "bits that decide"),
	COLUMN("bits", HEX, 18, "what they are where it is set"),
	COLUMN("meaning", TEXT, 0, "what it says"),
};
static const struct atw_schema flag_schema = { "flags", flag_columns, 7 };

static int info_flag_row(struct atw_output *out, const struct atw_paging *pg,
			 const struct atw_flag *f, struct atw_err *err)
{
	char letter[2] = { f->letter }, levels[ATW_MAX_LEVELS * 4 + 1] = "";
	bool table = f->kinds & ATW_K(ATW_TABLE), leaf = f->kinds & ATW_K(ATW_LEAF);
	union atw_value v[7] = {
		{ .s = f->name }, { .s = letter },
		{ .s = table && leaf ? "table,leaf" : table ? "table" : "leaf" },
		{ .s = levels }, { .u = f->mask }, { .u = f->value }, { .s = f->help },
	};
	const struct atw_row row = { v, 0x7f };
	size_t n = 0;

	for (unsigned i = pg->nlevels; i-- > 0;)
		if (f->levels & ATW_L(i) && (leaf || i))
			n += (size_t)snprintf(levels + n, sizeof(levels) - n, "%s%s",
					      n ? "," : "", pg->level[i].name);
	return atw_output_row(out, &row, err);
}

static int info_list_flags(const struct common *c, const char *mode, const char *ext)
{
	const struct atw_paging *pg = atw_paging_find(mode);
	struct atw_output_opts oo;
	struct atw_output *out = NULL;
	struct atw_paging extended;
	struct atw_err err = { 0 };
	int r = ATW_OK;

	if (!pg)
		return usage_error("info", "--paging-flags: unknown mode '%.64s'; "
				   "--paging-modes lists them", mode);
	extended = *pg;
	while (ext && *ext && r == ATW_OK) {
		int len = (int)strcspn(ext, ",");
		char one[32];

		snprintf(one, sizeof(one), "%.*s", len, ext);
		r = atw_paging_extend(&extended, one, &err);
		ext += len + (ext[len] == ',');
	}
	if (r < 0) {
		atw_err_param(&err, ATW_PARAM_PTE_EXT);
		return usage_error_of("info", &err);
	}
	output_opts(c, NULL, &oo);
	r = atw_output_open(&oo, &flag_schema, &out, &err);
	for (const struct atw_flag *f = extended.flags; r == ATW_OK && f->letter; f++)
		r = info_flag_row(out, &extended, f, &err);
	return output_end(out, r, EXIT_COMPLETE, &err);
}

static int info_run(const struct common *c, void *opts, int argc, char **argv)
{
	const struct info_opts *o = opts;

	if (c->config->show)
		return info_config(c);
	if (o->modes)
		return info_list_modes(c);
	if (o->flags_of)
		return info_list_flags(c, o->flags_of, o->space.pte_ext);
	if (argc != 1)
		return usage_error("info", argc ? "too many arguments; expected one SOURCE"
						   : "SOURCE is missing");
	if (o->symbols && o->log.given)
		return usage_error("info", "--symbols and --log cannot be used together");
	return o->symbols ? info_symbols(c, &o->space, argv[0]) : info_source(c, o, argv[0]);
}

const struct command cmd_info = {
	.name = "info",
	.args = "SOURCE",
	.summary = "describe a source and what was found in it",
	.about =
		"Describes SOURCE: its format, machine, kernel release, paging mode and\n"
		"root, CPUs and memory, where each was found, and what is missing.",
	.common = OPT_COMMON_LISTING | OPT_COMMON_SENTENCES,
	.options = options,
	.opts_size = sizeof(struct info_opts),
	.run = info_run,
};
