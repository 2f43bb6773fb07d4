/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A user of this machine, looked up once and completely: becoming that user afterwards takes system calls only, so that
 * it may be done between fork and exec. Looking up loads modules and may ask servers (nsswitch.conf).
 */
#ifndef POV_LIB_PERSON_H
#define POV_LIB_PERSON_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct person {
	uid_t uid;
	gid_t gid;
	gid_t *groups; /* all of them, gid included; owned, as are the strings */
	size_t group_cnt;
	char *name, *home, *shell;
};

/* By name, or by number. 0, or -ENOENT (printed). */
int person_find(const char *name, struct person **out);
/*
 * Whoever became root to run us: by sudo, pkexec or doas, as the environment tells. NULL if nobody did: a root login,
 * or no root at all.
 */
struct person *person_behind(void);
void person_free(struct person *p);

/* Becomes that user for good: groups, then gid, then uid. 0 or -errno; prints and allocates nothing. */
int person_become(const struct person *p);

/* What to return to after acting as somebody else. */
struct person_act {
	bool acting;
	uid_t uid;
	gid_t gid;
	gid_t *groups;
	size_t group_cnt;
};

/*
 * From here to person_act_end this thread has that user's rights and no others: for opening, naming and removing
 * what belongs to the user. NULL: nothing changes. 0 or -errno (printed).
 */
int person_act_begin(const struct person *p, struct person_act *act);
/* Keeps errno. */
void person_act_end(struct person_act *act);

#endif
