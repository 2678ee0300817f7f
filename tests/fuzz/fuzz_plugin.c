/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The identity of a plugin, from a file that may be anything. */
#include "format/plugin_magic.h"
#include "format/plugin_note.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct atw_err err = { 0 };
	struct plugin_note n;
	int r = plugin_note_read((struct atw_blob){ data, len }, &n, &err);
	char kinds[64];

	check_err(r, &err);
	FUZZ_CHECK(memchr(n.name, 0, sizeof(n.name)), "the name has no end");
	FUZZ_CHECK(memchr(n.version, 0, sizeof(n.version)), "the version has no end");
	FUZZ_CHECK(memchr(n.help, 0, sizeof(n.help)), "the text has no end");
	FUZZ_CHECK(memchr(n.formats, 0, sizeof(n.formats)), "the formats have no end");
	FUZZ_CHECK(memchr(n.sources, 0, sizeof(n.sources)), "the sources have no end");
	FUZZ_CHECK(memchr(n.magic, 0, sizeof(n.magic)), "the magic has no end");
	if (r == ATW_OK) {
		FUZZ_CHECK(plugin_name_is_valid(n.name), "'%s' is no name", n.name);
		FUZZ_CHECK(n.abi == ATW_PLUGIN_ABI, "version %u", n.abi);
		FUZZ_CHECK(n.size <= len, "a struct of %u bytes in a file of %zu", n.size, len);
		plugin_kinds_text(n.kinds, kinds);
		FUZZ_CHECK(*kinds, "kinds 0x%x", n.kinds);
		plugin_magic_matches(n.magic, n.sources, (struct atw_blob){ data, len });
	}
	return 0;
}
