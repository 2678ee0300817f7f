/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * resident.h - the most memory a process had above a file it has mapped.
 *
 * That is VmHWM less what of the file is resident: pages of the file once
 * touched stay where they are, and they could be dropped at any time.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

/*
 * The sum of a field, which may be indented, over the mappings of a file; without a file,
 * over all lines.
 */
static inline long resident_field(const char *path, const char *field, const char *file)
{
	char real[4096], line[4500];
	bool here = !file;
	long sum = 0, kib;
	size_t len = strlen(field);
	FILE *f = fopen(path, "re");

	if (!f || (file && !realpath(file, real))) {
		if (f)
			fclose(f);
		return -1;
	}
	while (fgets(line, sizeof(line), f)) {
		char *name = strchr(line, '/'), *at = line + strspn(line, " ");

		line[strcspn(line, "\n")] = '\0';
		if (file && strchr(line, '-') && strchr(line, '-') < strchr(line, ' '))
			here = name && !strcmp(name, real);
		else if (here && !strncmp(at, field, len) &&
			 sscanf(at + len, " %ld", &kib) == 1)
			sum += kib;
	}
	fclose(f);
	return sum;
}

struct resident {
	long peak, file;         /* KiB: VmHWM, the file's pages */
};

static inline bool resident(pid_t pid, const char *file, struct resident *ret)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	ret->peak = resident_field(path, "VmHWM:", NULL);
	snprintf(path, sizeof(path), "/proc/%d/smaps", (int)pid);
	ret->file = resident_field(path, "Rss:", file);
	return ret->peak > 0 && ret->file >= 0;
}
