/* SPDX-License-Identifier: GPL-2.0-or-later */
/* States of VMware, Firecracker and cloud-hypervisor. */
#include "format/vmm_ranges.h"
#include "format/vmware.h"
#include "source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct vmware_state state;
	struct vmm_range v[VMM_RANGES];
	struct atw_err err = {0};
	size_t n = 0;
	int r = vmware_parse((struct atw_blob){data, len}, &state, &err);

	check_err(r, &err);
	FUZZ_CHECK(r < 0 || state.nregions <= VMWARE_REGIONS, "too many regions");
	r = cloud_hypervisor_ranges((struct atw_blob){data, len}, v, &n, &err);
	check_err(r, &err);
	FUZZ_CHECK(r < 0 || (n && n <= VMM_RANGES), "%zu ranges", n);
	firecracker_state_arch((struct atw_blob){data, len});
	if (len >= 8)
		FUZZ_CHECK(firecracker_ranges(VMM_ARCH_X86_64, get_le64(data) >> 2, v) <= 3,
			   "too many ranges");
	check_file("vmware", data, len);
	check_file("xen", data, len);
	check_file("firecracker", data, len);
	return 0;
}
