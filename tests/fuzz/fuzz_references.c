/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recordings of memory references: what is read is written and read the same. */
#include "fuzz.h"
#include "trace/recording.h"

static void again(const struct trace_ref *ref)
{
	static const char head[] = "# atwalk references 1";
	struct trace_recording rec = { 0 };
	struct trace_ref got = { 0 };
	char row[RECORDING_ROW];
	size_t n = recording_write(&rec, ref, row, sizeof(row));

	FUZZ_CHECK(n && rec.rows == 1, "a row does not fit");
	rec = (struct trace_recording){ 0 };
	FUZZ_CHECK(recording_read(&rec, (struct atw_blob){ head, sizeof(head) - 1 }, &got, NULL) ==
		   ATW_END, "the first line");
	FUZZ_CHECK(recording_read(&rec, (struct atw_blob){ row, n }, &got, NULL) == ATW_OK,
		   "a row that was written is not read");
	FUZZ_CHECK(!memcmp(&got, ref, sizeof(got)), "it is another one");
}

static void head_again(const struct trace_recording *rec)
{
	char text[2 * RECORDING_HEAD];

	FUZZ_CHECK(recording_write_head(rec, text, RECORDING_HEAD), "the head does not fit");
	FUZZ_CHECK(recording_write_end(rec, text, RECORDING_HEAD), "the end does not fit");
	FUZZ_CHECK(!(rec->line & (rec->line - 1)), "%u", rec->line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct trace_recording rec = { 0 };
	struct trace_ref ref = { 0 };
	struct atw_err err = { 0 };
	uint64_t rows = 0;
	int r = ATW_OK;

	while (len && r >= 0) {
		const uint8_t *nl = memchr(data, '\n', len);
		size_t n = nl ? (size_t)(nl - data) : len;

		r = recording_read(&rec, (struct atw_blob){ data, n }, &ref, &err);
		if (r == ATW_OK) {
			FUZZ_CHECK(++rows == rec.rows, "%" PRIu64 " rows", rec.rows);
			again(&ref);
		}
		n += nl != NULL;
		data += n;
		len -= n;
	}
	if (r >= 0)
		r = recording_finish(&rec, &err);
	check_err(r, &err);
	head_again(&rec);
	return 0;
}
