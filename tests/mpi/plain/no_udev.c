/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Debian has no static libudev, which its static hwloc needs to name block devices. A fully static
 * MPI program is linked with this file instead: there is no udev, and hwloc continues without it.
 */
#define NOTHING(name)     \
	void *name(void); \
	void *name(void)  \
	{                 \
		return 0; \
	}

NOTHING(udev_new)
NOTHING(udev_unref)
NOTHING(udev_device_new_from_subsystem_sysname)
NOTHING(udev_device_get_property_value)
NOTHING(udev_device_unref)
