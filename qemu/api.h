/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * api.h - QEMU's plugin interface, as far as it is used. Declared here, since no
 * distribution ships the header.
 *
 * QEMU loads a plugin if it knows its qemu_plugin_version. Versions 1 (QEMU 6.0 to 8.2)
 * and 2 to 6 (9.0 on) are alike in all of this; 7 is not, and has no build yet.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef QEMU_API
#error "say which version of the interface this is built for: -DQEMU_API=1 or 2"
#endif

#define FOR_QEMU __attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;

typedef struct qemu_info_t {
	const char *target_name;
	struct {
		int min, cur;
	} version;
	bool system_emulation;
	struct {
		int smp_vcpus, max_vcpus;
	} system;
} qemu_info_t;

enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_CB_R_REGS };
enum qemu_plugin_mem_rw { QEMU_PLUGIN_MEM_R = 1, QEMU_PLUGIN_MEM_W, QEMU_PLUGIN_MEM_RW };
typedef uint32_t qemu_plugin_meminfo_t;

typedef void qemu_tb_fn(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void qemu_exec_fn(unsigned vcpu, void *arg);
typedef void qemu_mem_fn(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t va, void *arg);
typedef void qemu_end_fn(qemu_plugin_id_t id, void *arg);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, qemu_tb_fn *fn);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, qemu_exec_fn *fn,
					    enum qemu_plugin_cb_flags flags, void *arg);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, qemu_mem_fn *fn,
				      enum qemu_plugin_cb_flags flags,
				      enum qemu_plugin_mem_rw rw, void *arg);
/* Forgets all callbacks and all that was translated, then calls fn. */
void qemu_plugin_reset(qemu_plugin_id_t id, void (*fn)(qemu_plugin_id_t id));
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, qemu_end_fn *fn, void *arg);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
unsigned qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info);
/*
 * To be asked for every access: QEMU 7.2 also calls for stores what was registered for
 * loads alone, and for loads what was for stores.
 */
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info);
/* Of the access of the current callback, and valid in it only. */
struct qemu_plugin_hwaddr;
struct qemu_plugin_hwaddr *qemu_plugin_get_hwaddr(qemu_plugin_meminfo_t info, uint64_t va);
bool qemu_plugin_hwaddr_is_io(const struct qemu_plugin_hwaddr *at);

#if QEMU_API >= 2
/* From GLib, which QEMU is linked with. */
typedef struct GByteArray {
	uint8_t *data;
	unsigned len;
} GByteArray;
typedef struct GArray {
	char *data;
	unsigned len;
} GArray;
GByteArray *g_byte_array_new(void);
GByteArray *g_byte_array_set_size(GByteArray *a, unsigned len);
char *g_array_free(GArray *a, int and_data);

struct qemu_plugin_register;
typedef struct {
	struct qemu_plugin_register *handle;
	const char *name, *feature;      /* as debuggers call it */
} qemu_plugin_reg_descriptor;
/* Of the CPU that runs, of qemu_plugin_reg_descriptor; the caller's to free. */
GArray *qemu_plugin_get_registers(void);
/*
 * Adds its bytes to `to`; only where the callback was asked for with CB_R_REGS. What it
 * returns is an int up to version 5 and then a bool: better look at `to`.
 */
int qemu_plugin_read_register(struct qemu_plugin_register *reg, GByteArray *to);
/* From version 4 on: memory by its address, as the CPU that runs sees it. */
typedef bool qemu_plugin_read_memory_vaddr_fn(uint64_t va, GByteArray *to, size_t len);
#endif
