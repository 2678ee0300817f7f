/* SPDX-License-Identifier: GPL-2.0-or-later */
/* devices.c - the report drm-devices: memory of each card, of all its clients. */
#include "drm.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "host/host_file.h"

enum { C_CARD, C_DEVICE, C_DRIVER, C_REGION, C_TOTAL, C_USED, C_COUNT };
static const struct atw_plugin_column
	out_card = DRM_COLUMN("card", TEXT, .help = "name of the card"),
	out_device = DRM_COLUMN("device", TEXT, .help = "address of the device on its bus"),
	out_driver = DRM_COLUMN("driver", TEXT, .help = "its driver"),
	out_region = DRM_COLUMN("region", TEXT, .help = "vram; vis_vram: the part that the CPU reaches; gtt: RAM"),
	out_total = DRM_COLUMN("total", BYTES, .help = "bytes"),
	out_used = DRM_COLUMN("used", BYTES, .help = "of these, in use");
static const struct atw_plugin_column *const columns[] = {
	&out_card, &out_device, &out_driver, &out_region, &out_total, &out_used, NULL
};

static bool devices_number(const char *card, const char *region, const char *what, uint64_t *ret)
{
	char path[1024], text[32];

	snprintf(path, sizeof(path), "%s/device/mem_info_%s_%s", card, region, what);
	return host_file_text(path, text, sizeof(text)) && num_dec(text, strlen(text), ret);
}

static int devices_card(const struct drm *d, const char *name, struct atw_plugin_output *out,
			struct atw_err *err)
{
	static const char *const regions[] = { "vram", "vis_vram", "gtt" };
	char card[800], path[900], device[256] = "", driver[256] = "";
	union atw_cell c[C_COUNT] = { [C_CARD].s = name, [C_DEVICE].s = device, [C_DRIVER].s = driver };
	uint64_t base = 1 << C_CARD, rows = 0;
	int r = ATW_OK;

	snprintf(card, sizeof(card), "%s/sys/class/drm/%.200s", d->root, name);
	snprintf(path, sizeof(path), "%s/device", card);
	base |= drm_link_name(path, device, sizeof(device)) ? 1 << C_DEVICE : 0;
	snprintf(path, sizeof(path), "%s/device/driver", card);
	base |= drm_link_name(path, driver, sizeof(driver)) ? 1 << C_DRIVER : 0;
	for (size_t i = 0; i < sizeof(regions) / sizeof(regions[0]) && r == ATW_OK; i++) {
		uint64_t known = base | 1 << C_REGION;

		c[C_REGION].s = regions[i];
		known |= devices_number(card, regions[i], "total", &c[C_TOTAL].u) ? 1 << C_TOTAL : 0;
		known |= devices_number(card, regions[i], "used", &c[C_USED].u) ? 1 << C_USED : 0;
		if (!(known & (1 << C_TOTAL | 1 << C_USED)))
			continue;
		rows++;
		r = d->host->row(out, c, known, err);
	}
	/* Other drivers have no such files. */
	return r == ATW_OK && !rows ? d->host->row(out, c, base, err) : r;
}

/* card0, and not card0-HDMI-A-1, which is a connector. */
static int devices_is_card(const struct dirent *e)
{
	size_t n = strlen(e->d_name);

	return !strncmp(e->d_name, "card", 4) && n > 4 &&
	       strspn(e->d_name + 4, "0123456789") == n - 4;
}

static int devices_begin(void *instance, const struct atw_listing *l, void **ret,
			 struct atw_err *err)
{
	*ret = instance;
	return drm_need_machine(instance, l, err);
}

static int devices_finish(void *state, struct atw_plugin_output *out, struct atw_err *err)
{
	const struct drm *d = state;
	struct dirent **v = NULL;
	char path[600];
	int n, r = ATW_OK;

	snprintf(path, sizeof(path), "%s/sys/class/drm", d->root);
	/* Without this folder there is no card. */
	n = scandir(path, &v, devices_is_card, versionsort);
	for (int i = 0; i < n; i++) {
		if (r == ATW_OK)
			r = devices_card(d, v[i]->d_name, out, err);
		free(v[i]);
	}
	free(v);
	return r;
}

const struct atw_plugin_report drm_report_devices = {
	.size = sizeof(drm_report_devices), .name = "drm-devices",
	.help = "memory of each GPU, of all its clients", .columns = columns,
	.begin = devices_begin, .finish = devices_finish,
};
