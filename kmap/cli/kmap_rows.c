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
	[K_ALLOC_IP] = { .key = "alloc_ip", .type = ATW_T_VA, \
			 .help = "address of the code that allocated it" }, \
	[K_PID] = { .key = "pid", .type = ATW_T_COUNT, .width = 6, \
		    .help = "thread that allocated it" }, \
	[K_ADDRESS] = { .key = "address", .type = ATW_T_VA, .help = "where it was" }, \
	[K_SIZE] = { .key = "size", .type = ATW_T_BYTES, .width = 6, .help = "its bytes" }, \
	[K_ALLOC_TIME] = { .key = "alloc_time", .type = ATW_T_COUNT, \
			   .help = "when, by the recorder's clock" }, \
	[K_FREE_TIME] = { .key = "free_time", .type = ATW_T_COUNT, \
			  .help = "when it was freed, if that was seen" }, \
	[K_FREE_IP] = { .key = "free_ip", .type = ATW_T_VA, \
			.help = "code that freed it, or a special value of Memorizer" }, \
	[K_FATE] = { .key = "fate", .type = ATW_T_ENUM, .names = &fate_names, .hidden = true, \
		     .help = "live, freed, missed (another object overlaps it), nested" }, \
	[K_TYPE] = { .key = "type", .type = ATW_T_TEXT, .width = 13, \
		     .help = "its allocator" }, \
	[K_NEW_TYPE] = { .key = "new_type", .type = ATW_T_TEXT, .width = 13, .hidden = true, \
			 .help = "allocator of the objects in it, fate nested" }, \
	[K_NAME] = { .key = "name", .type = ATW_T_TEXT, .hidden = true, \
		     .help = "compressed form: name in place of alloc_ip" }, \
	[K_TASK] = { .key = "task", .type = ATW_T_TEXT, .width = 15, \
		     .help = "name of that thread" }, \
	[K_CACHE] = { .key = "cache", .type = ATW_T_TEXT, \
		      .help = "slab cache it is from" }, \
	[K_ALLOC_FUNCTION] = { .key = "alloc_function", .type = ATW_T_TEXT, .width = 20, \
			       .hidden = true, .help = "function of alloc_ip" }

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
	[K_SUM_WRITES] = { .key = "writes", .type = ATW_T_COUNT, .help = "times it was written" },
	[K_SUM_READS] = { .key = "reads", .type = ATW_T_COUNT, .help = "times it was read" },
	[K_SUM_FREES] = { .key = "frees", .type = ATW_T_COUNT, .hidden = true,
			  .help = "compressed form: times one was freed" },
	[K_HEAT] = { .key = "heat", .type = ATW_T_LIST, .of = &heat_list, .hidden = true,
		     .help = "of its parts of 64 bytes; JSON: a list of line, writes, reads" },
	[K_FIRST_USE] = { .key = "first_use", .type = ATW_T_COUNT, .hidden = true,
			  .help = "when it was accessed first, where that was recorded" },
	[K_LAST_USE] = { .key = "last_use", .type = ATW_T_COUNT, .hidden = true,
			 .help = "when it was accessed last" },
	[K_ORIGIN] = { .key = "origin", .type = ATW_T_ENUM, .names = &origin_names,
		       .hidden = true,
		       .help = "recorded, or before: it is older than the recording" },
};
const struct atw_schema kmap_objects_schema = { "kmap show", by_object, K_OBJECTS };

static const struct atw_column by_access[K_ALL] = {
	OBJECT_COLUMNS,
	[K_IP] = { .key = "ip", .type = ATW_T_VA, .help = "code that accessed it" },
	[K_ACCESS_PID] = { .key = "access_pid", .type = ATW_T_COUNT,
			   .help = "thread that accessed it" },
	[K_WRITES] = { .key = "writes", .type = ATW_T_COUNT, .help = "times it wrote" },
	[K_READS] = { .key = "reads", .type = ATW_T_COUNT, .help = "times it read" },
	[K_FREES] = { .key = "frees", .type = ATW_T_COUNT, .hidden = true,
		      .help = "compressed form: times it freed one" },
	[K_CALLER] = { .key = "caller", .type = ATW_T_VA, .hidden = true,
		       .help = "caller of that code, where recorded" },
	[K_FUNCTION] = { .key = "function", .type = ATW_T_TEXT, .width = 20, .hidden = true,
			 .help = "function of ip" },
};
const struct atw_schema kmap_accesses_schema = { "kmap show", by_access, K_ALL };
