// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * printk.c - parser of the printk ring buffer: kernel/printk/printk_ringbuffer.h and .c
 * of Linux 5.10 to 7.x, 64 bits.
 */
#include "format/printk.h"

#include <inttypes.h>

#include "base/bytes.h"

enum {
	/* CONFIG_LOG_BUF_SHIFT ends at 25, log_buf_len= at 2 GiB; a record takes 32 bytes. */
	SIZE_BITS_MAX = 31,
	COUNT_BITS_MAX = 26,
	/* prb_desc.state_var: two bits above the id. */
	STATE_SHIFT = 62,
	STATE_COMMITTED = 1,
	STATE_FINALIZED = 2,
	/* prb_data_block: the id precedes the text. */
	BLOCK_HEAD = 8,
	RECORD_MAX = 256,        /* no prb_desc or printk_info is as large */
	LEVEL_SHIFT = 5,         /* printk_info: u8 flags:5, level:3 */
};

static const uint64_t id_mask = ((uint64_t)1 << STATE_SHIFT) - 1;

static int printk_number(const struct printk_ring *r, uint64_t at, uint64_t *ret,
			 struct atw_err *err)
{
	uint8_t b[8];
	int status = r->read(r->arg, at, b, sizeof(b), err);

	if (status == ATW_OK)
		*ret = get_le64(b);
	return status;
}

static int printk_bits(const struct printk_ring *r, uint64_t at, unsigned max,
		       const char *what, unsigned *ret, struct atw_err *err)
{
	uint8_t b[4];
	int status = r->read(r->arg, at, b, sizeof(b), err);

	if (status == ATW_OK && (!get_le32(b) || get_le32(b) > max))
		return atw_err_set(err, ATW_E_DAMAGED, "%s of the log is %" PRIu32
				   ", and 1 to %u was expected", what, get_le32(b), max);
	if (status == ATW_OK)
		*ret = get_le32(b);
	return status;
}

static bool printk_fits(uint32_t at, uint32_t len, uint32_t size)
{
	return size <= RECORD_MAX && at <= size && len <= size - at;
}

static bool printk_is_sound(const struct printk_layout *l)
{
	return printk_fits(l->state, 8, l->desc_size) &&
	       printk_fits(l->lpos, 16, l->desc_size) && printk_fits(l->begin, 8, 16) &&
	       printk_fits(l->next, 8, 16) && printk_fits(l->seq, 8, l->info_size) &&
	       printk_fits(l->time, 8, l->info_size) &&
	       printk_fits(l->len, 4, l->info_size) &&
	       printk_fits(l->caller, 4, l->info_size);
}

int printk_open(const struct printk_layout *l, uint64_t at, printk_read_fn *read, void *arg,
		struct printk_ring *ret, struct atw_err *err)
{
	struct printk_ring r = { .l = *l, .read = read, .arg = arg };
	uint64_t desc = at + l->desc_ring, text = at + l->text_ring, head = 0, tail = 0;
	const struct { uint64_t at, *ret; } numbers[5] = {
		{ desc + l->descs, &r.descs }, { desc + l->infos, &r.infos },
		{ text + l->data, &r.data }, { desc + l->head_id, &head },
		{ desc + l->tail_id, &tail },
	};
	int status;

	if (!printk_is_sound(l))
		return atw_err_set(err, ATW_E_DAMAGED, "members of the log's structs lie outside of them");
	status = printk_bits(&r, desc + l->count_bits, COUNT_BITS_MAX, "count_bits",
			     &r.count_bits, err) ?:
		 printk_bits(&r, text + l->size_bits, SIZE_BITS_MAX, "size_bits",
			     &r.size_bits, err);
	for (unsigned i = 0; i < 5 && status == ATW_OK; i++)
		status = printk_number(&r, numbers[i].at, numbers[i].ret, err);
	if (status != ATW_OK)
		return status;
	r.first = tail & id_mask;
	r.count = ((head - tail) & id_mask) + 1;
	if (r.count > (uint64_t)1 << r.count_bits)
		return atw_err_set(err, ATW_E_DAMAGED, "the log has room for %" PRIu64
				   " records, and its first is %" PRIu64 " before its last",
				   (uint64_t)1 << r.count_bits, r.count - 1);
	*ret = r;
	return ATW_OK;
}

/*
 * The text of a block and its length; ATW_E_NONE: it has none. Positions increase without
 * wrapping; a block that would not fit before the end begins at the start.
 */
static int printk_place(const struct printk_ring *r, uint64_t begin, uint64_t next,
			uint64_t *at, uint64_t *len, struct atw_err *err)
{
	uint64_t size = (uint64_t)1 << r->size_bits, start = begin & (size - 1), end;

	/*
	 * NO_LPOS and FAILED_LPOS: an empty line, and one for which there was no space.
	 */
	if (begin & 1 && next & 1)
		return atw_err_set(err, ATW_E_NONE, "it has no text");
	end = ((next - 1) & (size - 1)) + 1;
	if (begin >> r->size_bits == (next - 1) >> r->size_bits && begin < next)
		;
	else if ((begin >> r->size_bits) + 1 == (next - 1) >> r->size_bits)
		start = 0;
	else
		return atw_err_set(err, ATW_E_DAMAGED, "a record of the log goes from 0x%" PRIx64
				   " to 0x%" PRIx64, begin, next);
	if (begin % 8 || next % 8 || end - start < BLOCK_HEAD)
		return atw_err_set(err, ATW_E_DAMAGED, "a record of the log goes from 0x%" PRIx64
				   " to 0x%" PRIx64, begin, next);
	*at = r->data + start;
	*len = end - start;
	return ATW_OK;
}

int printk_record(const struct printk_ring *r, uint64_t i, struct printk_record *ret,
		  struct atw_err *err)
{
	uint64_t id = (r->first + i) & id_mask, state, at = 0, len = 0, block = 0;
	uint64_t index = id & (((uint64_t)1 << r->count_bits) - 1);
	uint8_t desc[RECORD_MAX], info[RECORD_MAX];
	size_t text;
	int status;

	if (i >= r->count)
		return atw_err_set(err, ATW_E_NONE, "the log has %" PRIu64 " records", r->count);
	status = r->read(r->arg, r->descs + index * r->l.desc_size, desc, r->l.desc_size, err);
	if (status == ATW_OK)
		status = r->read(r->arg, r->infos + index * r->l.info_size, info, r->l.info_size, err);
	if (status != ATW_OK)
		return status;
	state = get_le64(desc + r->l.state);
	if ((state & id_mask) != id || (state >> STATE_SHIFT != STATE_COMMITTED &&
					state >> STATE_SHIFT != STATE_FINALIZED))
		return atw_err_set(err, ATW_E_NONE, "it is not written");
	ret->seq = get_le64(info + r->l.seq);
	ret->time = get_le64(info + r->l.time);
	ret->caller = get_le32(info + r->l.caller);
	ret->facility = info[r->l.len + 2];
	ret->level = info[r->l.len + 3] >> LEVEL_SHIFT;
	ret->len = 0;
	ret->text[0] = '\0';
	text = get_le16(info + r->l.len);
	status = printk_place(r, get_le64(desc + r->l.lpos + r->l.begin),
			      get_le64(desc + r->l.lpos + r->l.next), &at, &len, err);
	/* An empty line is a record. */
	if (status == ATW_E_NONE)
		return text ? status : ATW_OK;
	if (status == ATW_OK)
		status = printk_number(r, at, &block, err);
	if (status == ATW_OK && block != id)
		status = atw_err_set(err, ATW_E_NONE, "its text was overwritten");
	if (status != ATW_OK)
		return status;
	text = text < len - BLOCK_HEAD ? text : (size_t)(len - BLOCK_HEAD);
	text = text < PRINTK_TEXT ? text : PRINTK_TEXT;
	status = text ? r->read(r->arg, at + BLOCK_HEAD, ret->text, text, err) : ATW_OK;
	if (status != ATW_OK)
		return status;
	ret->text[text] = '\0';
	ret->len = text;
	return ATW_OK;
}
