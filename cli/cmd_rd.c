/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_rd.c - memory by virtual or physical address: bytes, words, symbols, strings. */

#include "base/bytes.h"
#include "base/io.h"
#include "output/outfile.h"

#include "content_rows.h"

enum rd_as { RD_BYTES, RD_WORDS, RD_WORDS32, RD_WORDS16, RD_STRING };

struct rd_opts {
	struct space_opts space;
	bool physical, raw;
	enum rd_as as;
	const char *length;
};

static const struct opt_choice rd_choices[] = {
	{"bytes", RD_BYTES},     {"words", RD_WORDS},   {"words32", RD_WORDS32},
	{"words16", RD_WORDS16}, {"string", RD_STRING}, {NULL, 0},
};

static const struct opt options[] = {
	{0, "as", OPT_CHOICE, offsetof(struct rd_opts, as), "FORM",
	 "show bytes, words (of 8 bytes, with symbols), words32, words16 or a string",
	 rd_choices},
	{0, "length", OPT_TEXT, offsetof(struct rd_opts, length), "BYTES",
	 "read BYTES from each ADDRESS that is no range (default: 64)", NULL},
	{0, "physical", OPT_FLAG, offsetof(struct rd_opts, physical), NULL,
	 "take each ADDRESS as a physical address", NULL},
	{0, "raw", OPT_FLAG, offsetof(struct rd_opts, raw), NULL,
	 "write the bytes themselves instead of rows", NULL},
	OPT_FREEZE(struct rd_opts, space),
	OPT_SUBJECT(struct rd_opts, space),
	{0},
};

enum {
	R_ADDRESS, R_PHYSICAL, R_SIZE, R_VALUE, R_SYMBOL, R_BYTES, R_TEXT, R_STATE, R_PID, R_TASK,
	R_COUNT,
};

static const struct atw_column rd_columns[R_COUNT] = {
	[R_ADDRESS] = COLUMN("address", VA, 0, "where the bytes lie"),
	[R_PHYSICAL] = HIDDEN_COLUMN("physical", PA, 0,
				     "physical address of the first one"),
	[R_SIZE] = HIDDEN_COLUMN("size", BYTES, 5, "bytes of this row"),
	[R_VALUE] = HIDDEN_COLUMN("value", HEX, 0, "the word, little-endian"),
	[R_SYMBOL] = HIDDEN_COLUMN("symbol", TEXT, 28,
				   "symbol of the kernel that the word points to"),
	[R_BYTES] = HIDDEN_COLUMN("bytes", TEXT, 47, "the bytes, hexadecimal"),
	[R_TEXT] = COLUMN("text", TEXT, 16, "the bytes as ASCII, others as dots"),
	[R_STATE] = { .key = "state", .type = ATW_T_ENUM, .width = 8, .names = &listing_states,
		      .help = "present, or why there are no bytes" },
	[R_PID] = HIDDEN_COLUMN("pid", COUNT, 0, "process of the address"),
	[R_TASK] = HIDDEN_COLUMN("task", TEXT, 0, "its name"),
};

static const uint64_t rd_shown[] = {
	[RD_BYTES] = 1u << R_BYTES,   [RD_WORDS] = 1u << R_VALUE | 1u << R_SYMBOL,
	[RD_WORDS32] = 1u << R_VALUE, [RD_WORDS16] = 1u << R_VALUE,
	[RD_STRING] = 1u << R_SIZE,
};
static const unsigned rd_width[] = {
	[RD_BYTES] = 16, [RD_WORDS] = 8, [RD_WORDS32] = 4, [RD_WORDS16] = 2,
	[RD_STRING] = 0,
};

enum { RD_LENGTH = 64, RD_STRING_MOST = 1 << 16 };

struct rd {
	const struct session *src;
	const struct rd_opts *o;
	struct atw_column col[R_COUNT];
	struct atw_schema schema;
	struct atw_output *out;
	struct outfile raw;
	/* The row under way: bytes that follow each other in addresses. */
	struct buf bytes;
	uint64_t at, pa;
	bool have_pa;
	struct content_gaps gaps;
};

/* ---- rows ---- */

static uint64_t rd_value(const struct rd *rd, size_t len)
{
	uint64_t value = 0;

	for (size_t i = len; i-- > 0;)
		value = value << 8 | (uint8_t)rd->bytes.data[i];
	return value;
}

/* A row, with the process that its address is of. */
static int rd_put(struct rd *rd, union atw_value *v, uint64_t have, struct atw_err *err)
{
	const struct subject *of = &rd->src->subject;
	struct atw_row row = {v, have};

	if (!rd->o->physical && of->mm) {
		v[R_PID].u = of->pid;
		v[R_TASK].s = of->task;
		row.have |= 1u << R_PID | (*of->task ? 1u << R_TASK : 0);
	}
	return atw_output_row(rd->out, &row, err);
}

static int rd_put_row(struct rd *rd, struct atw_err *err)
{
	size_t len = rd->bytes.len, width = rd_width[rd->o->as];
	char hex[3 * 16 + 1] = "", ascii[17], symbol[540];
	union atw_value v[R_COUNT] = {
		[R_ADDRESS].u = rd->at, [R_PHYSICAL].u = rd->pa,
		[R_SIZE].u = len,       [R_BYTES].s = hex,
		[R_TEXT].s = ascii,     [R_STATE].u = STATE_PRESENT,
	};
	uint64_t have = 1u << R_ADDRESS | 1u << R_SIZE | 1u << R_BYTES | 1u << R_TEXT |
			1u << R_STATE | (rd->have_pa ? 1u << R_PHYSICAL : 0);

	if (!len)
		return ATW_OK;
	content_hex(rd->bytes.data, len, hex);
	content_ascii(rd->bytes.data, len, ascii);
	/* The rest of a range may be shorter than a word. */
	if (rd->o->as != RD_BYTES && len == width) {
		v[R_VALUE].u = rd_value(rd, len);
		have |= 1u << R_VALUE;
		if (rd->o->as == RD_WORDS &&
		    content_symbol(rd->src, v[R_VALUE].u, symbol, sizeof(symbol))) {
			v[R_SYMBOL].s = symbol;
			have |= 1u << R_SYMBOL;
		}
	}
	rd->bytes.len = 0;
	return rd_put(rd, v, have, err);
}

static int rd_put_gap(struct rd *rd, const struct content_piece *p, struct atw_err *err)
{
	union atw_value v[R_COUNT] = {
		[R_ADDRESS].u = p->at,
		[R_PHYSICAL].u = p->pa,
		[R_SIZE].u = p->len,
		[R_STATE].u = content_state_shown(p),
	};
	uint64_t have = 1u << R_ADDRESS | 1u << R_SIZE | 1u << R_STATE |
			(p->have_pa ? 1u << R_PHYSICAL : 0);

	return rd_put_row(rd, err) ?: rd_put(rd, v, have, err);
}

/* A string, up to its NUL or as far as it goes. */
static int rd_put_string(struct rd *rd, struct atw_err *err)
{
	union atw_value v[R_COUNT] = {
		[R_ADDRESS].u = rd->at,
		[R_PHYSICAL].u = rd->pa,
		[R_SIZE].u = rd->bytes.len,
		[R_STATE].u = STATE_PRESENT,
	};
	uint64_t have = 1u << R_ADDRESS | 1u << R_SIZE | 1u << R_TEXT | 1u << R_STATE |
			(rd->have_pa ? 1u << R_PHYSICAL : 0);

	v[R_TEXT].s = rd->bytes.len ? rd->bytes.data : "";
	rd->bytes.len = 0;
	return rd_put(rd, v, have, err);
}

/* ---- bytes ---- */

static const uint8_t rd_zeroes[4096];

/* Bytes that follow those before them: as many rows as they fill. */
static int rd_add_bytes(struct rd *rd, const struct content_piece *p, struct atw_err *err)
{
	size_t width = rd_width[rd->o->as];

	for (uint64_t done = 0; done < p->len;) {
		const uint8_t *from = p->zero ? rd_zeroes : p->data + done;
		size_t n = width - rd->bytes.len;
		int r;

		if (n > p->len - done)
			n = (size_t)(p->len - done);
		if (!rd->bytes.len) {
			rd->at = p->at + done;
			rd->pa = p->pa + done;
			rd->have_pa = p->have_pa;
		}
		buf_add(&rd->bytes, from, n);
		if (rd->bytes.failed)
			return atw_err_nomem(err);
		done += n;
		r = rd->bytes.len == width ? rd_put_row(rd, err) : ATW_OK;
		if (r != ATW_OK)
			return r;
	}
	return ATW_OK;
}

/* *over: its end was met. */
static int rd_add_string(struct rd *rd, const struct content_piece *p, bool *over,
			 struct atw_err *err)
{
	size_t n = p->len < RD_STRING_MOST ? (size_t)p->len : RD_STRING_MOST;
	const uint8_t *end = p->zero ? rd_zeroes : memchr(p->data, 0, n);

	if (!rd->bytes.len) {
		rd->at = p->at;
		rd->pa = p->pa;
		rd->have_pa = p->have_pa;
	}
	if (end)
		n = p->zero ? 0 : (size_t)(end - p->data);
	buf_add(&rd->bytes, p->data, n);
	*over = end || rd->bytes.len >= RD_STRING_MOST;
	return rd->bytes.failed ? atw_err_nomem(err) : ATW_OK;
}

/* --raw: what is missing ends it, for the bytes behind would be at other places. */
static int rd_write(struct rd *rd, const struct content_piece *p, struct atw_err *err)
{
	if (p->state != PAGE_PRESENT || p->repeat)
		return atw_err_set(err, ATW_E_MISSING,
				   "%s: cannot write the bytes at 0x%" PRIx64 ": %s",
				   rd->src->name, p->at,
				   listing_states.name[content_state_shown(p)]);
	for (uint64_t done = 0, n; done < p->len; done += n) {
		n = p->len - done;
		if (p->zero && n > sizeof(rd_zeroes))
			n = sizeof(rd_zeroes);
		if (io_write(rd->raw.fd, p->zero ? rd_zeroes : p->data, (size_t)n) < n)
			return atw_err_set(err, ATW_E_IO, "%s: cannot write: %s",
					   outfile_name(&rd->raw), strerror(errno));
	}
	return ATW_OK;
}

static bool rd_has_bytes(const struct content_piece *p)
{
	return p->state == PAGE_PRESENT && !p->repeat;
}

static int rd_read(struct rd *rd, uint64_t first, uint64_t last, struct atw_err *err)
{
	const struct session *src = rd->src;
	const bool raw = rd->o->raw, string = rd->o->as == RD_STRING;
	struct content_piece p;
	struct content *c;
	bool over = false;
	int r = content_open(src->target, rd->o->physical ? NULL : &src->subject.space,
			     first, last, true, &c, err);

	if (r < 0)
		return r;
	while (!over && (r = content_next(c, &p, err)) == ATW_OK) {
		if (p.state != PAGE_PRESENT)
			content_gaps_add(&rd->gaps, &p, content_error(c));
		if (raw)
			r = rd_write(rd, &p, err);
		else if (rd_has_bytes(&p) && string)
			r = rd_add_string(rd, &p, &over, err);
		else if (rd_has_bytes(&p))
			r = rd_add_bytes(rd, &p, err);
		else if (string && rd->bytes.len)
			over = true;
		else
			r = rd_put_gap(rd, &p, err);
		if (r != ATW_OK)
			break;
	}
	content_close(c);
	if ((r == ATW_END || over) && !raw)
		r = string && (rd->bytes.len || over) ? rd_put_string(rd, err)
						      : rd_put_row(rd, err);
	return r == ATW_END ? ATW_OK : r;
}

/* ---- the command ---- */

static int rd_one(struct rd *rd, const struct address_arg *a, uint64_t length,
		  struct session *src, struct atw_err *err)
{
	const struct subject own = src->subject;
	uint64_t first = a->a.first, last = a->a.last;
	int r;

	if (!a->a.is_range) {
		last = first + (length - 1);
		if (last < first)
			last = UINT64_MAX;
	}
	if (a->owned && !a->unmapped)
		src->subject = a->owner;
	r = rd_read(rd, first, last, err);
	src->subject = own;
	return r;
}

static int rd_all(const struct common *c, struct session *src, const struct rd_opts *o,
		  const struct address_arg *a, int n, uint64_t length)
{
	struct rd rd = {.src = src, .o = o, .raw = {.fd = -1}};
	struct atw_output_opts oo;
	struct atw_err err = {0};
	int r, status;

	memcpy(rd.col, rd_columns, sizeof(rd.col));
	for (unsigned i = 0; i < R_COUNT; i++)
		if (rd_shown[o->as] >> i & 1)
			rd.col[i].hidden = false;
	rd.schema = (struct atw_schema){"rd", rd.col, R_COUNT};
	output_opts(c, src, &oo);
	oo.private = true;
	if (o->raw)
		r = outfile_open_private(c->output, &rd.raw, &err);
	else
		r = atw_output_open(&oo, &rd.schema, &rd.out, &err);
	for (int i = 0; i < n && r == ATW_OK; i++)
		r = rd_one(&rd, &a[i], length, src, &err);
	thaw(src);
	status = content_gaps_status(&rd.gaps);
	if (!o->raw) {
		status = output_end(rd.out, r, status, &err);
	} else {
		if (r == ATW_OK)
			r = outfile_commit(&rd.raw, &err);
		outfile_close(&rd.raw);
		if (r < 0)
			status = print_error(&err);
	}
	if (r == ATW_OK)
		content_gaps_print(&rd.gaps, src->name);
	buf_deinit(&rd.bytes);
	return status;
}

static int rd_check(const struct common *c, const struct rd_opts *o, uint64_t *ret_length)
{
	*ret_length = o->as == RD_STRING ? RD_STRING_MOST : RD_LENGTH;
	if (o->length &&
	    (!num_size(o->length, strlen(o->length), ret_length) || !*ret_length))
		return usage_error("rd", "--length: '%s' is no number of bytes",
				   o->length);
	if (o->raw && o->as)
		return usage_error("rd", "--raw cannot be used with --as");
	if (o->raw && !c->output && isatty(STDOUT_FILENO))
		return usage_error("rd",
				   "refusing to write bytes to a terminal; use -o FILE");
	return EXIT_COMPLETE;
}

static int rd_run(const struct common *c, void *opts, int argc, char **argv)
{
	const struct rd_opts *o = opts;
	struct session src = {0};
	struct address_arg *a;
	uint64_t length;
	int n = argc - 1, status;

	if (argc < 2)
		return usage_error("rd",
				   argc ? "ADDRESS is missing" : "SOURCE is missing");
	status = rd_check(c, o, &length);
	if (status)
		return status;
	a = calloc((size_t)n, sizeof(*a));
	if (!a)
		return print_nomem();
	/* Physical memory needs no kernel. */
	status = o->physical ? session_open(c, argv[0], &src)
			     : open_to_freeze(c, argv[0], &o->space,
					      TARGET_MEMORY | TARGET_TABLES, &src);
	if (!status) {
		if (o->physical)
			status = session_need(&src, TARGET_MEMORY, "rd");
		if (!status)
			status = o->physical ? content_args_physical(&src, argv + 1, a, n)
					     : address_args_find(c, &o->space, &src,
								 argv + 1, a, n);
		if (!status)
			status = freeze(c, &src, &o->space);
		if (!status)
			status = rd_all(c, &src, o, a, n, length);
		session_close(&src);
	}
	free(a);
	return status;
}

const struct command cmd_rd = {
	.name = "rd",
	.args = "SOURCE ADDRESS...",
	.summary = "show memory by virtual or physical address",
	.about =
		"Reads memory at each ADDRESS through the page tables in SOURCE, and shows it as\n"
		"bytes, words or strings. An ADDRESS is hexadecimal, a symbol, a range A-B or\n"
		"A+LENGTH. What is not mapped or not in SOURCE is a row with its state.\n"
		"Exit status 1: some of it is not mapped; 4: some of it cannot be read.",
	.common = OPT_COMMON_LISTING,
	.options = options,
	.opts_size = sizeof(struct rd_opts),
	.run = rd_run,
};
