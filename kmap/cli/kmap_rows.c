/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kmap_rows.h"

#include "base/cleanup.h"

static const char *const fates[] = {
	[FATE_LIVE] = "live", [FATE_FREED] = "freed", [FATE_MISSED] = "missed",
	[FATE_NESTED] = "nested",
};
static const char *const origins[] = {
	[ORIGIN_RECORDED] = "recorded", [ORIGIN_BEFORE] = "before",
};
static const struct atw_names origin_names = { ARRAY_SIZE(origins), origins, NULL };
static const struct atw_names fate_names = { ARRAY_SIZE(fates), fates, NULL };

/* Of an object; both kinds of rows begin with them. */
#define OBJECT_COLUMNS \
	[K_ALLOC_IP] = COLUMN("alloc_ip", VA, 0, \
			      "address of the code that allocated it"), \
	[K_PID] = COLUMN("pid", COUNT, 6, "thread that allocated it"), \
	[K_ADDRESS] = COLUMN("address", VA, 0, "where it was"), \
	[K_SIZE] = COLUMN("size", BYTES, 6, "its bytes"), \
	[K_ALLOC_TIME] = COLUMN("alloc_time", COUNT, 0, \
				"when, by the recorder's clock"), \
	[K_FREE_TIME] = COLUMN("free_time", COUNT, 0, \
			       "when it was freed, if that was seen"), \
	[K_FREE_IP] = COLUMN("free_ip", VA, 0, \
			     "code that freed it, or a special value of Memorizer"), \
	[K_FATE] = { .key = "fate", .type = ATW_T_ENUM, .names = &fate_names, .hidden = true, \
		     .help = "live, freed, missed (another object overlaps it), nested" }, \
	[K_TYPE] = COLUMN("type", TEXT, 13, "its allocator"), \
	[K_NEW_TYPE] = HIDDEN_COLUMN(TEXT, "new_type", 13, \
				     "allocator of the objects in it, fate nested"), \
	[K_NAME] = HIDDEN_COLUMN(TEXT, "name", 0, \
				 "compressed form: name in place of alloc_ip"), \
	[K_TASK] = COLUMN("task", TEXT, 15, "name of that thread"), \
	[K_CACHE] = COLUMN("cache", TEXT, 0, "slab cache it is from"), \
	[K_ALLOC_FUNCTION] = HIDDEN_COLUMN(TEXT, "alloc_function", 20, \
					   "function of alloc_ip")

static const struct atw_column access_columns[L_COUNT] = {
	[L_IP] = { .key = "ip", .type = ATW_T_VA },
	[L_PID] = { .key = "pid", .type = ATW_T_COUNT },
	[L_WRITES] = { .key = "writes", .type = ATW_T_COUNT },
	[L_READS] = { .key = "reads", .type = ATW_T_COUNT },
};
static const struct atw_schema access_list = { "accesses", access_columns, L_COUNT };

static const struct atw_column heat_columns[H_COUNT] = {
	[H_LINE] = { .key = "line", .type = ATW_T_COUNT },
	[H_WRITES] = { .key = "writes", .type = ATW_T_COUNT },
	[H_READS] = { .key = "reads", .type = ATW_T_COUNT },
};
static const struct atw_schema heat_list = { "heat", heat_columns, H_COUNT };

static const struct atw_column by_object[K_OBJECTS] = {
	OBJECT_COLUMNS,
	[K_ACCESSES] = { .key = "accesses", .type = ATW_T_LIST, .of = &access_list,
			 .help = "number of accessors; JSON: a list of ip, pid, writes, reads" },
	[K_SUM_WRITES] = COLUMN("writes", COUNT, 0, "times it was written"),
	[K_SUM_READS] = COLUMN("reads", COUNT, 0, "times it was read"),
	[K_SUM_FREES] = HIDDEN_COLUMN(COUNT, "frees", 0,
				      "compressed form: times one was freed"),
	[K_HEAT] = { .key = "heat", .type = ATW_T_LIST, .of = &heat_list, .hidden = true,
		     .help = "of its parts of 64 bytes; JSON: a list of line, writes, reads" },
	[K_FIRST_USE] = HIDDEN_COLUMN(COUNT, "first_use", 0,
				      "when it was accessed first, where that was recorded"),
	[K_LAST_USE] = HIDDEN_COLUMN(COUNT, "last_use", 0, "when it was accessed last"),
	[K_ORIGIN] = { .key = "origin", .type = ATW_T_ENUM, .names = &origin_names,
		       .hidden = true,
		       .help = "recorded, or before: it is older than the recording" },
};
const struct atw_schema kmap_objects_schema = { "kmap show", by_object, K_OBJECTS };

static const struct atw_column by_access[K_ALL] = {
	OBJECT_COLUMNS,
	[K_IP] = COLUMN("ip", VA, 0, "code that accessed it"),
	[K_ACCESS_PID] = COLUMN("access_pid", COUNT, 0, "thread that accessed it"),
	[K_WRITES] = COLUMN("writes", COUNT, 0, "times it wrote"),
	[K_READS] = COLUMN("reads", COUNT, 0, "times it read"),
	[K_FREES] = HIDDEN_COLUMN(COUNT, "frees", 0,
				  "compressed form: times it freed one"),
	[K_CALLER] = HIDDEN_COLUMN(VA, "caller", 0,
				   "caller of that code, where recorded"),
	[K_FUNCTION] = HIDDEN_COLUMN(TEXT, "function", 20, "function of ip"),
};
const struct atw_schema kmap_accesses_schema = { "kmap show", by_access, K_ALL };
