/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Hands what calls say of connections on to whoever keeps it. Calls that failed say nothing. */
#include <string.h>

#include "layers/verbs/verbs_call.h"

#define DEVICE_NAME_BYTES 64

void verbs_learn(const struct verbs_call *c)
{
	uint64_t ret = c->parts.rec->ret, first = call_parts_word(&c->parts, 0), context;
	const uint8_t *attr, *object;
	struct verbs_conns *s = &c->d->conns;
	uint32_t pid = c->parts.rec->tgid;
	char name[DEVICE_NAME_BYTES + 1];

	if (!c->parts.returned || verbs_call_is_failed(c))
		return;
	switch (c->fn->attrs.flags & TEACHES) {
	case TEACHES_CONTEXT:
		object = verbs_call_data(c, "device", DEVICE_NAME_BYTES);
		if (!object)
			break;
		memcpy(name, object, DEVICE_NAME_BYTES);
		name[DEVICE_NAME_BYTES] = '\0';
		verbs_context_opened(s, pid, ret, name);
		break;
	case TEACHES_QP:
		verbs_qp_created(s, pid, ret);
		break;
	case TEACHES_QP_ATTR:
		object = verbs_call_data(c, "qp", VERBS_QP_BYTES);
		attr = verbs_call_data(c, "attr", VERBS_QP_ATTR_BYTES);
		if (object && attr)
			verbs_qp_modified(s, pid, first, object, attr,
					  (uint32_t)call_parts_word(&c->parts, 2));
		break;
	case TEACHES_QP_FREE:
		verbs_qp_destroyed(s, pid, first);
		break;
	case TEACHES_CQ_FREE:
		verbs_cq_destroyed(s, pid, first);
		break;
	case TEACHES_AH:
		object = verbs_call_data(c, "pd", sizeof(context));
		attr = verbs_call_data(c, "attr", VERBS_AH_ATTR_BYTES);
		if (!object || !attr)
			break;
		memcpy(&context, object, sizeof(context));
		verbs_ah_created(s, pid, ret, context, attr);
		break;
	case TEACHES_AH_FREE:
		verbs_ah_destroyed(s, pid, first);
		break;
	}
}
