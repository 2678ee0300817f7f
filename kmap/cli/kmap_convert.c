/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kmap_convert.c - conversion of a KMAP to another format. */

#include "kmap.h"
#include "kmap/lib/compress.h"
#include "kmap/lib/to_references.h"
#include "kmap/lib/write.h"
#include "output/outfile.h"

struct convert_opts {
	unsigned to;             /* an enum kmap_version, or TO_OWN; 0: not given */
	bool zstd;
};

enum {
	TO_OWN = KMAP_VERSIONS,  /* atwalk's own format, based on version 4 */
	TO_REFERENCES,           /* no KMAP: for `atwalk lines` */
};

static const struct opt_choice to_choices[] = {
	{ "v1", KMAP_V1 }, { "v2", KMAP_V2 }, { "v3", KMAP_V3 }, { "v4", KMAP_V4 },
	{ "comp", KMAP_COMPRESSED }, { "atwalk", TO_OWN }, { "references", TO_REFERENCES }, { 0 }
};

static const struct opt options[] = {
	{ 0, "to", OPT_CHOICE, offsetof(struct convert_opts, to), "VERSION",
	  "select the format to write", to_choices },
	{ 0, "zstd", OPT_FLAG, offsetof(struct convert_opts, zstd), NULL,
	  "compress with zstd; implied by an output name that ends in .zst", NULL },
	{ 0 }
};

enum { LEVEL = 3 };              /* zstd level: higher ones are slow and hardly smaller */

/* Check the arguments: one input, one output format. */
static int convert_check(const struct convert_opts *o, int argc)
{
	if (argc != 1)
		return usage_error("kmap convert", argc ? "too many arguments; expected one FILE"
							   : "FILE is missing");
	if (o->to == TO_REFERENCES && o->zstd)
		return usage_error("kmap convert", "--zstd cannot be used with --to references");
	if (!o->to)
		return usage_error("kmap convert", "--to is missing: v1, v2, v3, v4, comp, atwalk or references");
	return EXIT_COMPLETE;
}

static struct kmap_form convert_form_of(unsigned to)
{
	if (to == TO_OWN)
		return (struct kmap_form){ KMAP_V4, true };
	return (struct kmap_form){ to, false };
}

/* Report the records that the format cannot hold. */
static void convert_emit(const struct common *c, const char *name, struct kmap_form form,
			 const uint64_t *lost)
{
	char what[512] = "";
	size_t len = 0;

	for (unsigned i = 0; i < KMAP_LOSES; i++)
		if (lost[i] && len < sizeof(what))
			len += (size_t)snprintf(what + len, sizeof(what) - len, "%s%s (%" PRIu64 ")",
						len ? ", " : "", kmap_loss_name(i), lost[i]);
	if (len)
		print_warning(c, "%s: %s cannot hold: %s", name, kmap_form_name(form), what);
}

/* Nothing is written before all input files have been read. */
static int convert_merge(const struct common *c, const char *name,
			 const struct convert_opts *o, const struct kmap_sink *to,
			 const char *into, struct kmap_summary *summary)
{
	struct kmap_compress *z = NULL;
	struct kmap_sink sink;
	struct atw_err err = { 0 };
	uint64_t objects = 0;
	int status;

	if (kmap_compress_open(&z, &err) < 0)
		return print_error(&err);
	sink = kmap_compress_sink(z);
	status = kmap_source(c, name, &sink, name, summary);
	if (status == EXIT_COMPLETE || status == EXIT_PARTIAL) {
		if (kmap_compress_end(z, to, &objects, &err) < 0) {
			atw_err_wrap(&err, "%s", into);
			status = print_error(&err);
		} else {
			if (summary->version != KMAP_COMPRESSED)
				print_warning(c, "%s: %" PRIu64 " object%s merged into %" PRIu64 ", "
					      "without tasks, times and pids", name,
					      summary->objects, summary->objects == 1 ? "" : "s", objects);
			convert_emit(c, name, convert_form_of(o->to),
				     kmap_compress_losses(z));
		}
	}
	kmap_compress_close(z);
	return status;
}

static int convert_references(const struct common *c, const char *name, const struct outfile *t)
{
	struct kmap_references *k = NULL;
	struct kmap_summary summary = { 0 };
	struct atw_err err = { 0 };
	struct kmap_sink sink;
	uint64_t lost;
	int status;

	if (kmap_references_open(t->fd, &k, &err) < 0)
		return print_error(&err);
	sink = kmap_references_sink(k);
	status = kmap_source(c, name, &sink, name, &summary);
	if (status == EXIT_COMPLETE || status == EXIT_PARTIAL) {
		if (kmap_references_end(k, &summary, &err) < 0) {
			atw_err_wrap(&err, "%s", outfile_name(t));
			status = print_error(&err);
		}
		lost = kmap_references_placeless(k);
		if (lost) {
			print_incomplete("%s: %" PRIu64 " access%s to objects of more than 64 bytes left out: where in them is not recorded",
					 name, lost, lost == 1 ? "" : "es");
			status = status == EXIT_COMPLETE ? EXIT_PARTIAL : status;
		}
	}
	kmap_references_close(k);
	return status;
}

static int convert(const struct common *c, const struct convert_opts *o, const char *name,
		   const struct outfile *t)
{
	struct kmap_form form = convert_form_of(o->to);
	struct kmap_writer *w = NULL;
	struct kmap_summary summary = { 0 };
	struct atw_err err = { 0 };
	struct kmap_sink sink;
	int status, r = kmap_writer_open(t->fd, kmap_is_packed(c, o->zstd) ? LEVEL : 0, form, &w, &err);

	if (r < 0)
		return print_error(&err);
	sink = kmap_writer_sink(w);
	status = form.version == KMAP_COMPRESSED
			 ? convert_merge(c, name, o, &sink, outfile_name(t), &summary)
			 : kmap_source(c, name, &sink, outfile_name(t), &summary);
	if (status == EXIT_COMPLETE || status == EXIT_PARTIAL) {
		convert_emit(c, name, form, kmap_writer_losses(w)->n);
		if (kmap_writer_end(w, &summary, &err) < 0) {
			atw_err_wrap(&err, "%s", outfile_name(t));
			status = print_error(&err);
		}
	}
	kmap_writer_close(w);
	return status;
}

static int convert_run(const struct common *c, void *opts, int argc, char **argv)
{
	const struct convert_opts *o = opts;
	struct outfile t = { .fd = -1 };
	struct atw_err err = { 0 };
	int status = convert_check(o, argc) ?: check_output(c, argv[0]);

	if (status)
		return status;
	if (outfile_open_private(c->output, &t, &err) < 0)
		return print_error(&err);
	if (o->to == TO_REFERENCES)
		status = convert_references(c, argv[0], &t);
	else if (kmap_is_packed(c, o->zstd) && isatty(t.fd))
		status = usage_error("kmap convert", "refusing to write compressed data to a terminal; use -o FILE");
	else
		status = convert(c, o, argv[0], &t);
	/* Of a damaged file, the valid records are written. */
	if ((status == EXIT_COMPLETE || status == EXIT_PARTIAL) && outfile_commit(&t, &err) < 0)
		status = print_error(&err);
	outfile_close(&t);
	return status;
}

const struct command kmap_convert = {
	.name = "kmap convert",
	.args = "--to VERSION FILE",
	.summary = "convert a KMAP to another format",
	.about =
		"Writes a KMAP in the format of one version of Memorizer (v1 to v4), in\n"
		"uSCOPE's compressed format (comp), or in the format of `kmap record`\n"
		"(atwalk), which can hold the records of all others, or the memory references\n"
		"in it as `atwalk lines` reads them (references). Records that the format\n"
		"cannot hold are dropped and counted on standard error.",
	.common = OPT_COMMON_OUTPUT | OPT_COMMON_PROGRESS,
	.options = options,
	.opts_size = sizeof(struct convert_opts),
	.run = convert_run,
};
