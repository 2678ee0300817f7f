/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line of a process, and the layout that follows from it. */
#include "format/vm_layout.h"
#include "format/vmm_maps.h"
#include "format/vmm_slots.h"
#include "fuzz.h"

static void lay_out(enum vmm_arch arch, const struct vmm_words *w)
{
	struct vm_layout l;
	uint64_t sum = 0, end = 0;

	if (vm_layout_of(arch, w, &l, NULL) != ATW_OK)
		return;
	FUZZ_CHECK(l.n && l.n <= 2, "no extents, or too many");
	for (size_t i = 0; i < l.n; i++) {
		FUZZ_CHECK(l.v[i].len && l.v[i].gpa >= end, "extents out of order");
		FUZZ_CHECK(l.v[i].offset == sum, "a gap in the RAM");
		end = l.v[i].gpa + l.v[i].len;
		FUZZ_CHECK(end > l.v[i].gpa, "past the last address");
		sum += l.v[i].len;
	}
	FUZZ_CHECK(sum == w->ram, "not all of the RAM");
}

/* The same bytes as /proc/PID/maps or smaps, of which the first say what size is sought.
 */
static void find_ram(struct atw_blob text, bool smaps)
{
	struct procmaps_area v[4], all[4];
	uint64_t size = text.len ? (uint64_t)((const uint8_t *)text.data)[0] << 12 : 0;
	size_t n = vmm_maps_find(text, smaps, size, v, 4);

	for (size_t i = 0; i < n && i < 4; i++) {
		FUZZ_CHECK(v[i].end - v[i].start == size, "another size");
		touch(v[i].name.data, v[i].name.len);
	}
	FUZZ_CHECK(vmm_maps_find(text, smaps, size, all, 1) == n, "another number");
	FUZZ_CHECK(!n || all[0].start == v[0].start, "another first one");
	n = vmm_maps_largest(text, v, 4);
	for (size_t i = 0; i < n; i++)
		FUZZ_CHECK(v[i].start < v[i].end && (!i || v[i].end - v[i].start <= v[i - 1].end - v[i - 1].start),
			   "an empty mapping, or out of order");
	for (size_t i = 0; i < n; i++)
		touch(v[i].name.data, v[i].name.len);
}

/* A layout up to the first newline, and the maps of its process. */
static void type_layout(const uint8_t *data, size_t len)
{
	const uint8_t *line = memchr(data, '\n', len);
	struct atw_blob maps = {line ? line : data, line ? (size_t)(data + len - line) : 0};
	char *text = strndup((const char *)data, line ? (size_t)(line - data) : len);
	struct vmm_slot *v = NULL;
	size_t n = 0;

	if (text && vmm_slots_parse(text, &v, &n, NULL) == ATW_OK) {
		FUZZ_CHECK(n && n <= VMM_SLOTS, "no pieces, or too many");
		for (size_t i = 0; i < n; i++)
			FUZZ_CHECK(v[i].len && v[i].gpa + v[i].len >= v[i].len &&
					   v[i].address + v[i].len >= v[i].len &&
					   (!i || v[i].gpa - v[i - 1].gpa >= v[i - 1].len),
				   "pieces overlap, or past the last address");
		vmm_slots_check(v, n, maps, NULL);
	}
	free(v);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct vmm_words w;
	struct atw_err err;

	find_ram((struct atw_blob){data, len}, false);
	find_ram((struct atw_blob){data, len}, true);
	type_layout(data, len);
	if (vmm_words_parse((struct atw_blob){data, len}, &w, &err) != ATW_OK) {
		FUZZ_CHECK(memchr(err.text, '\0', sizeof(err.text)),
			   "a sentence without end");
		return 0;
	}
	touch(w.machine.data, w.machine.len);
	touch(w.backend.data, w.backend.len);
	touch(w.name.data, w.name.len);
	FUZZ_CHECK(w.nbackends <= VMM_BACKENDS && w.nnodes <= VMM_BACKENDS, "too many");
	for (size_t i = 0; i < w.nbackends; i++)
		touch(w.backends[i].id.data, w.backends[i].id.len);
	for (size_t i = 0; i < w.nnodes; i++) {
		touch(w.nodes[i].data, w.nodes[i].len);
		FUZZ_CHECK(!i || w.node_ids[i] >= w.node_ids[i - 1],
			   "nodes out of order");
		vmm_words_backend(&w, w.nodes[i]);
	}
	lay_out(VMM_ARCH_X86_64, &w);
	lay_out(VMM_ARCH_ARM64, &w);
	lay_out(VMM_ARCH_RISCV64, &w);
	return 0;
}
