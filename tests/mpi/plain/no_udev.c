/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Debian has no static libudev, which its static hwloc wants in order to name block devices. A fully
 * static MPI program is linked with this instead: there is no udev, and hwloc goes on without.
 */
void *udev_new(void);
void *udev_unref(void *udev);
void *udev_device_new_from_subsystem_sysname(void *udev, const char *subsystem, const char *name);
const char *udev_device_get_property_value(void *dev, const char *key);
void *udev_device_unref(void *dev);

void *udev_new(void)
{
	return 0;
}

void *udev_unref(void *udev)
{
	(void)udev;
	return 0;
}

void *udev_device_new_from_subsystem_sysname(void *udev, const char *subsystem, const char *name)
{
	(void)udev;
	(void)subsystem;
	(void)name;
	return 0;
}

const char *udev_device_get_property_value(void *dev, const char *key)
{
	(void)dev;
	(void)key;
	return 0;
}

void *udev_device_unref(void *dev)
{
	(void)dev;
	return 0;
}
