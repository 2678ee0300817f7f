/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A kernel's log: the input is its memory, from address 0 on. */
#include "fuzz.h"
#include "printk_image.h"

static int read_input(void *arg, uint64_t at, void *buf, size_t len, struct atw_err *err)
{
	const struct input *in = arg;

	if (at > in->len || len > in->len - at)
		return atw_err_set(err, ATW_E_MISSING, "not there");
	memcpy(buf, in->p + at, len);
	return ATW_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct input in = { data, len };
	struct printk_record *rec = malloc(sizeof(*rec));
	struct printk_ring r;
	struct atw_err err = { 0 };
	int status = printk_open(&printk_6_12, 0, read_input, &in, &r, &err);

	if (!rec)
		abort();
	check_err(status, &err);
	FUZZ_CHECK(status != ATW_OK || r.count <= (uint64_t)1 << r.count_bits, "too many records");
	for (uint64_t i = 0; status == ATW_OK && i < r.count && i < 64; i++) {
		uint64_t at = i < 32 ? i : r.count - 1 - (i - 32);
		int one;

		err = (struct atw_err){ 0 };
		if (at >= r.count)
			break;
		one = printk_record(&r, at, rec, &err);
		check_err(one, &err);
		FUZZ_CHECK(one != ATW_OK || (rec->len <= PRINTK_TEXT && !rec->text[rec->len] &&
					     rec->level < 8), "len %zu", rec->len);
		if (one == ATW_OK)
			touch(rec->text, rec->len);
	}
	free(rec);
	return 0;
}
