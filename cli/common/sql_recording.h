/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sql_recording.h - the tables of a recording of kmap: ROWS(name, text), REPORT(name, text). */
#pragma once

#include "base/message.h"

#define SQL_RECORDING_TABLES(ROWS, REPORT) \
	ROWS("objects", N_("objects: show --rows objects")) \
	ROWS("accesses", N_("accesses of an instruction to an object: show --rows accesses")) \
	REPORT("caches", N_("kinds of objects")) \
	REPORT("sites", N_("allocation sites")) \
	REPORT("objects", N_("the hottest objects")) \
	REPORT("code", N_("functions that read and write objects")) \
	REPORT("processes", N_("allocations, reads and writes of threads")) \
	REPORT("matrix", N_("accesses of code to objects")) \
	REPORT("writers", N_("code that writes each kind of object")) \
	REPORT("unread", N_("objects that are never read")) \
	REPORT("lifetimes", N_("how long objects live")) \
	REPORT("live", N_("live bytes over time, by allocation site")) \
	REPORT("flows", N_("what one part of the kernel writes and another reads")) \
	REPORT("privilege", N_("privilege of code, by partition")) \
	REPORT("compartments", N_("privilege of each part of the kernel")) \
	REPORT("lines", N_("hot bytes of objects"))
