/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kmap_recording.h"

#include <stdarg.h>
#include <sys/wait.h>

#include "host/qemu_program.h"

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

static const char trace[] = "trace_event=kmem:kmalloc,kmem:kmem_cache_alloc,kmem:kfree,"
			    "kmem:kmem_cache_free,kmem:mm_page_alloc,kmem:mm_page_free,"
			    "vmalloc:alloc_vmap_area,vmalloc:free_vmap_area_noflush";

/* ---- what there is ---- */

/* QEMU accepts one dash or two. */
static bool machine_is_option(const char *arg, const char *name)
{
	return arg[0] == '-' && !strcmp(arg + 1 + (arg[1] == '-'), name);
}

/* Where the value of the first or the last option of that name is; NULL: there is none. */
static char **machine_value(const struct kmap_machine *m, const char *name, bool last)
{
	char **ret = NULL;

	for (size_t i = 1; i + 1 < m->argc && (last || !ret); i++)
		if (machine_is_option(m->argv[i], name))
			ret = &m->argv[i + 1];
	return ret;
}

static const char *machine_value_of(const struct kmap_machine *m, const char *name)
{
	char **value = machine_value(m, name, true);

	return value ? *value : NULL;
}

static bool machine_has_option(const struct kmap_machine *m, const char *name)
{
	for (size_t i = 1; i < m->argc; i++)
		if (machine_is_option(m->argv[i], name))
			return true;
	return false;
}

/* Parse "256", "256M", "1G" or "size=1G,slots=4"; the default unit is MiB. */
static int machine_read_size(const char *text, uint64_t *ret, struct atw_err *err)
{
	const char *size = text ? strstr(text, "size=") : NULL;
	unsigned long long n, unit = 1;
	char *end;

	text = size ? size + 5 : text;
	if (!text) {
		*ret = 128 * MIB;
		return ATW_OK;
	}
	n = strtoull(text, &end, 10);
	switch (*end) {
	case 'G': case 'g': unit = 1024; break;
	case 'T': case 't': unit = 1024 * 1024; break;
	case 'M': case 'm': case '\0': case ',': unit = 1; break;
	default: n = 0;
	}
	if (!n || n > (1 << 20) / unit)
		return atw_err_set(err, ATW_E_USAGE, "-m %s: cannot determine the memory size of the guest",
				   text);
	*ret = n * unit * MIB;
	return ATW_OK;
}

/*
 * Where a machine has its RAM: hw/i386/pc_q35.c, hw/i386/pc_piix.c, hw/arm/virt.c,
 * hw/riscv/virt.c. Above the hole that x86 has for devices it goes on at 4 GiB.
 */
static void machine_place_ram(struct kmap_machine *m, const char *machine)
{
	uint64_t at = m->family == ATW_ARM64 ? GIB : m->family == ATW_RISCV ? 2 * GIB : 0;
	bool q35 = machine && strstr(machine, "q35");
	uint64_t low = m->ram;

	if (m->family == ATW_X86 && m->ram >= (q35 ? 0xb0000000 : 0xe0000000))
		low = q35 ? 2 * GIB : 3 * GIB;
	m->ram_at[0] = (struct kshare_ram){ at, low, 0 };
	m->nrams = 1;
	if (low < m->ram)
		m->ram_at[m->nrams++] = (struct kshare_ram){ 4 * GIB, m->ram - low, low };
}

static int machine_family_of(const char *program, enum atw_family *ret,
			     struct atw_err *err)
{
	static const struct { const char *name; enum atw_family family; } known[] = {
		{ "x86_64", ATW_X86 }, { "aarch64", ATW_ARM64 }, { "riscv64", ATW_RISCV },
	};
	const char *name = strrchr(program, '/');

	name = name ? name + 1 : program;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (strstr(name, known[i].name)) {
			*ret = known[i].family;
			return ATW_OK;
		}
	return atw_err_set(err, ATW_E_USAGE,
			   "%s: only qemu-system-x86_64, -aarch64 and -riscv64 can be recorded", name);
}

static int machine_append(struct kmap_machine *m, char *arg, struct atw_err *err)
{
	if (!arg || !array_reserve((void **)&m->argv, &m->room, m->argc + 2, sizeof(*m->argv))) {
		free(arg);
		return atw_err_nomem(err);
	}
	m->argv[m->argc++] = arg;
	m->argv[m->argc] = NULL;
	return ATW_OK;
}

int kmap_machine_read(struct kmap_machine *ret, int argc, char **argv, struct atw_err *err)
{
	struct kmap_machine m = { 0 };
	const char *accel, *machine;
	int r = ATW_OK;

	for (int i = 0; i < argc && r == ATW_OK; i++)
		r = machine_append(&m, strdup(argv[i]), err);
	if (r == ATW_OK)
		r = machine_family_of(argv[0], &m.family, err) ?:
		    machine_read_size(machine_value_of(&m, "m"), &m.ram, err);
	accel = machine_value_of(&m, "accel");
	machine = machine_value_of(&m, "M");
	machine = machine ? machine : machine_value_of(&m, "machine");
	if (r == ATW_OK && accel && strncmp(accel, "tcg", 3))
		r = atw_err_set(err, ATW_E_USAGE,
				"-accel %s: only emulated guests (tcg) can be recorded", accel);
	/*
	 * The child would exit at once, and the recorded process continue without atwalk.
	 */
	if (r == ATW_OK && machine_has_option(&m, "daemonize"))
		r = atw_err_set(err, ATW_E_USAGE,
				"-daemonize is not supported: atwalk must remain the parent of QEMU");
	if (r == ATW_OK && machine && strstr(machine, "memory-backend"))
		r = atw_err_set(err, ATW_E_USAGE,
				"-machine memory-backend= is not supported: the recorder provides the guest's memory");
	/* The RAM would not be at the addresses of machine_place_ram(). */
	if (r == ATW_OK && machine && strstr(machine, "max-ram-below-4g"))
		r = atw_err_set(err, ATW_E_USAGE,
				"-machine max-ram-below-4g= is not supported: the recorder needs the default layout of memory");
	if (r < 0) {
		kmap_machine_free(&m);
		return r;
	}
	machine_place_ram(&m, machine);
	m.has_kernel = machine_value_of(&m, "kernel");
	*ret = m;
	return ATW_OK;
}

void kmap_machine_free(struct kmap_machine *m)
{
	for (size_t i = 0; i < m->argc; i++)
		free(m->argv[i]);
	free(m->argv);
	*m = (struct kmap_machine){ 0 };
}

/* ---- the recorder ---- */

/* "2", "cpus=2,sockets=1" */
static bool machine_has_many_cpus(const struct kmap_machine *m)
{
	const char *smp = machine_value_of(m, "smp"),
		   *cpus = smp ? strstr(smp, "cpus=") : NULL;

	return smp && (strchr(smp, '=') && !cpus ? true : atoi(cpus ? cpus + 5 : smp) > 1);
}

int kmap_machine_plugin(struct kmap_machine *m, const char *given, char *ret, size_t len,
			struct atw_err *err)
{
	unsigned version, minor;
	int r = qemu_program_version(m->argv[0], &version, &minor, err);

	if (r < 0)
		return r;
	m->threads = machine_has_many_cpus(m) &&
		     (version > 9 || (version == 9 && minor >= 2));
	/* Its helper took the flags from a stale cc_op; QEMU 8.0 has no helper for it. */
	m->no_cx16 = m->family == ATW_X86 && version < 8;
	if (given) {
		snprintf(ret, len, "%s", given);
		return access(given, R_OK) < 0
		       ? atw_err_set(err, ATW_E_IO, "%s: %s", given, strerror(errno)) : ATW_OK;
	}
	if (qemu_program_plugin("kmap", version, ret, len, NULL) == ATW_OK)
		return ATW_OK;
	return atw_err_set(err, ATW_E_MISSING,
			   "cannot find the recorder (%s); specify it with --plugin", ret);
}

/* ---- what is added ---- */

/* An option and its value. */
static int machine_add(struct kmap_machine *m, struct atw_err *err,
		       const char *option, const char *fmt, ...) ATW_PRINTF(4, 5);
static int machine_add(struct kmap_machine *m, struct atw_err *err,
		       const char *option, const char *fmt, ...)
{
	char *arg = NULL;
	va_list ap;

	if (machine_append(m, strdup(option), err) < 0)
		return ATW_E_NOMEM;
	va_start(ap, fmt);
	if (vasprintf(&arg, fmt, ap) < 0)
		arg = NULL;
	va_end(ap);
	return machine_append(m, arg, err);
}

static int machine_replace(char **arg, struct atw_err *err, const char *fmt, ...)
	ATW_PRINTF(3, 4);
static int machine_replace(char **arg, struct atw_err *err, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0)
		return atw_err_nomem(err);
	free(*arg);
	*arg = text;
	return ATW_OK;
}

/* The kernel's command line, with the tracepoints. */
static int machine_add_trace(struct kmap_machine *m, struct atw_err *err)
{
	char **had = machine_value(m, "append", false);

	if (had)
		return machine_replace(had, err, "%s %s", *had, trace);
	if (!m->has_kernel)
		return atw_err_set(err, ATW_E_USAGE,
				   "cannot add to the kernel command line without -kernel");
	return machine_add(m, err, "-append", "%s", trace);
}

/* Run all CPUs in one thread, if this QEMU supports that. */
static int machine_add_threads(struct kmap_machine *m, struct atw_err *err)
{
	const char *how = m->threads ? "tcg,thread=multi" : "tcg,thread=single";
	char **had = machine_value(m, "accel", false);

	return had ? machine_replace(had, err, "%s", how)
		   : machine_add(m, err, "-accel", "%s", how);
}

/* Is this a property of a -cpu value, in any form: NAME, NAME=on, +NAME, -NAME? */
static const char *machine_cpu_property(const char *cpu, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = strchr(cpu, ','); at; at = strchr(at + 1, ',')) {
		const char *word = at + (at[1] == '+' || at[1] == '-' ? 2 : 1);

		if (!strncmp(word, name, len) && strchr(",=", word[len]))
			return at + 1;
	}
	return NULL;
}

/*
 * QEMU 7.2 sometimes corrupts the flags after CMPXCHG16B, which the kernel's allocator
 * uses: the more often, the more the recorder is called. Guests without cx16 are not
 * affected.
 */
static int machine_mask_cx16(struct kmap_machine *m, struct atw_err *err)
{
	char **cpu = machine_value(m, "cpu", true);
	const char *had;

	if (!cpu)
		return machine_add(m, err, "-cpu", "qemu64,cx16=off");
	had = machine_cpu_property(*cpu, "cx16");
	if (!had)
		return machine_replace(cpu, err, "%s,cx16=off", *cpu);
	if (*had == '-' || !strncmp(had, "cx16=off", 8))
		return ATW_OK;
	atw_err_set(err, ATW_E_USAGE,
		    "-cpu %s: guests with cx16 crash in QEMU before 8.0, which corrupts the flags after CMPXCHG16B",
		    *cpu);
	atw_err_hint(err, "use cx16=off, or a newer QEMU");
	return ATW_E_USAGE;
}

/*
 * Double the commas, as values of QEMU options require. Freed by the caller; NULL: no
 * memory.
 */
static char *machine_with_commas(const char *text)
{
	char *ret = malloc(2 * strlen(text) + 1), *to = ret;

	for (; ret && *text; text++) {
		*to++ = *text;
		if (*text == ',')
			*to++ = ',';
	}
	if (ret)
		*to = '\0';
	return ret;
}

static int machine_add_plugin(struct kmap_machine *m, const char *plugin,
			      int share, int ram, struct atw_err *err)
{
	_auto_free char *file = machine_with_commas(plugin);

	if (!file)
		return atw_err_nomem(err);
	return machine_add(m, err, "-plugin", "file=%s,share=%d,ram=%d", file,
			   share, ram);
}

int kmap_machine_add(struct kmap_machine *m, const char *plugin, int share, int ram, bool bare,
		     struct atw_err *err)
{
	int r = machine_add_threads(m, err);

	if (r == ATW_OK && m->no_cx16)
		r = machine_mask_cx16(m, err);
	if (r == ATW_OK && !bare)
		r = machine_add_trace(m, err);
	if (r == ATW_OK)
		r = machine_add(m, err, "-object",
				"memory-backend-file,id=atwalk-ram,size=%llu,"
				"mem-path=/proc/self/fd/%d,share=on",
				(unsigned long long)m->ram, ram);
	if (r == ATW_OK)
		r = machine_add(m, err, "-machine", "memory-backend=atwalk-ram");
	return r == ATW_OK ? machine_add_plugin(m, plugin, share, ram, err) : r;
}
