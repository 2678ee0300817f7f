/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * api.h - what QEMU offers its plugins, in our own words: no distribution ships the
 * header. Of what there is, only what is used.
 *
 * QEMU loads a plugin whose qemu_plugin_version it knows. Versions 1 (QEMU 6.0 to 8.2)
 * and 2 to 6 (9.0 on) are alike in all of this; 7 is not, and has no build yet.
 */
#ifndef QEMU_API_H
#define QEMU_API_H

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

enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };
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
/* Of the access that is being told, and only then. */
struct qemu_plugin_hwaddr;
struct qemu_plugin_hwaddr *qemu_plugin_get_hwaddr(qemu_plugin_meminfo_t info, uint64_t va);
bool qemu_plugin_hwaddr_is_io(const struct qemu_plugin_hwaddr *at);

#endif
