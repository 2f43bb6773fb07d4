/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Processes and threads: their names, their functions, and the files they map. */
#ifndef POV_MODEL_WHO_H
#define POV_MODEL_WHO_H

#include "model/model_internal.h"

/* ---- record.c ---- */

/* False for malformed records. CPUs index tables; calls need a caller, spins a function. */
bool record_ok(const struct pov_hdr *rec);

/* ---- identity.c ---- */

/* Reads the identity stream. Returns 0 or -errno. */
int identity_learn(struct model *m);
/* The process that had a pid at a time; made if there is none. */
struct mprocess *identity_process_at(struct model *m, uint32_t pid, uint64_t ts_ns);
/* The same, but NULL if there is none. */
struct mprocess *identity_process_known(const struct model *m, uint32_t pid, uint64_t ts_ns);
/*
 * Makes a thread that no identity record introduced. Inserts it after `after` in its slot (NULL:
 * first).
 */
struct mthread *identity_stranger_new(struct model *m, struct tid_slot *slot, struct mthread *after,
				      uint32_t tid, uint64_t ts_ns);
struct tid_slot *identity_slot(struct model *m, uint32_t tid); /* made if there is none */
/* The thread that had this number at that time; NULL if unknown. */
const struct mthread *identity_thread_at(const struct model *m, uint32_t tid, uint64_t ts_ns);
void identity_thread_rehome(struct model *m, struct mthread *t, uint32_t tgid, uint64_t ts_ns);
/* The CPU's state including its swapper; cpu < MODEL_CPUS_MAX. */
struct cpu_state *identity_cpu(struct model *m, uint16_t cpu);
void identity_release(struct model *m);
/* 0, or -E2BIG (printed) if there are more identities than a recording of this size can have. */
int identity_check(const struct model *m);

/* ---- ending.c: how processes end ---- */

/* For the identity pass. */
void ending_signal_learn(struct mprocess *p, const struct pov_signal *rec);
void ending_exit_learn(struct mprocess *p, const struct pov_exit *rec);
/* Call once all processes are known. */
void endings_settle(struct model *m);
/* For the replay: resolves the address with the mappings of that moment. */
void ending_signal_place(struct mprocess *p, const struct pov_signal *rec);
void ending_release(struct mprocess *p);

/* ---- describe.c: from meta blocks to names, ranks, jobs, order ---- */

void describe_processes(struct model *m);
void describe_hosts_free(struct model *m);
void describe_info(struct model *m);

/* ---- peer.c ---- */

/* Call once jobs and ranks are known. */
void peer_ranks_learn(struct model *m);
void peer_ranks_release(struct model *m);

/* ---- func.c ---- */

void func_table_read(struct model *m);
void func_table_release(struct model *m);
const struct func_info *func_find(struct model *m, uint16_t id); /* never NULL */

/* ---- image.c ---- */

void image_files_read(struct model *m);
void image_files_release(struct model *m);
void image_record(struct model *m, struct mprocess *p, const struct pov_image *rec);
void image_inherit(struct mprocess *child, const struct mprocess *parent);
void image_exec(struct mprocess *p); /* drops the mappings of the previous program */
void image_forget(struct mprocess *p);
void image_find(struct mprocess *p, uint64_t address, struct model_site *out);

#endif
