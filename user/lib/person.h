/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A user of this machine, looked up once and completely. Becoming that user afterwards takes system
 * calls only, so it can be done between fork and exec. The look-up loads modules and may ask
 * servers (nsswitch.conf).
 */
#ifndef POV_LIB_PERSON_H
#define POV_LIB_PERSON_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct person {
	uid_t uid;
	gid_t gid;
	gid_t *groups; /* all groups, including gid; owned, as are the strings */
	size_t group_cnt;
	char *name, *home, *shell;
};

/* Finds a user by name or number. 0, or -ENOENT (printed). */
int person_find(const char *name, struct person **out);
/*
 * The user who became root to run us through sudo, pkexec or doas, by the environment. NULL in a
 * root login, or if we are not root.
 */
struct person *person_behind(void);
void person_free(struct person *p);

/*
 * Becomes that user for good: groups, then gid, then uid. 0 or -errno; neither prints nor
 * allocates.
 */
int person_become(const struct person *p);

/* State to return to after acting as another user. */
struct person_act {
	bool acting;
	uid_t uid;
	gid_t gid;
	gid_t *groups;
	size_t group_cnt;
};

/*
 * From here to person_act_end, this thread has only that user's rights: for opening, naming and
 * removing the user's files. NULL: nothing changes. 0 or -errno (printed).
 */
int person_act_begin(const struct person *p, struct person_act *act);
/* Preserves errno. */
void person_act_end(struct person_act *act);

#endif
