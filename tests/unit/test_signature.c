/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Signatures: every row of the table compiles, some recipes to the letter, bad grammar is refused. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "unit/test.h"
#include "layer/func_table.h"
#include "layer/signature.h"

extern const struct layer layer_mpi;

#define CNT(a) (sizeof(a) / sizeof((a)[0]))

static void row_load(const char *name, struct signature *sig, struct func_attrs *attrs)
{
	int i = func_table_find(name);
	const char *why;

	assert_true(i >= 0);
	assert_int_equal(
		signature_parse(func_table_get(i)->sig, func_table_layer(i)->roles, sig, &why), 0);
	assert_int_equal(
		func_attrs_parse(func_table_get(i)->attrs, func_table_layer(i)->words, attrs), 0);
}

TEST(all_rows)
{
	struct func_attrs attrs;
	struct signature sig;
	struct pov_fn fn;
	const char *why;

	assert_true(func_table_count() > 700);
	for (size_t i = 0; i < func_table_count(); i++) {
		const struct layer *layer = func_table_layer(i);
		const struct func_row *row = func_table_get(i);

		if (signature_parse(row->sig, layer->roles, &sig, &why))
			fail_msg("%s: %s", row->name, why);
		for (uint32_t k = 0; k < sig.nargs; k++)
			if (sig.arg[k].type == SIG_UNKNOWN)
				fail_msg("%s: unknown role %s", row->name, sig.arg[k].role);
		if (func_attrs_parse(row->attrs, layer->words, &attrs))
			fail_msg("%s: attributes '%s'", row->name, row->attrs);
		if (layer->recipe(&sig, &attrs, &fn))
			fail_msg("%s: does not compile", row->name);
		assert_int_equal(fn.nargs, sig.nargs);
		assert_int_equal(func_table_find(row->name), i);
	}
}

/* A recipe as text, for comparing. */
static const char *fn_text(const char *name)
{
	static const char *const ops[] = {"-",
					  "in",
					  "out",
					  "sum",
					  "size",
					  "work",
					  "iov",
					  "accepted",
					  "message",
					  [POV_FETCH_MEMBER] = "member",
					  [POV_FETCH_IOV_LIST] = "list"};
	static const char *const iovs[] = {[POV_IOV_PLAIN] = "plain", [POV_IOV_UCT] = "uct"};
	static const char *const elems[] = {"int", "wide", "handle", "status", "block", "range"};
	static const char *const lens[] = {"1",	     "arg",    "comm", "root",	"indeg",
					   "outdeg", "outarg", "dims", "return"};
	static char buf[1024];
	struct func_attrs attrs;
	struct signature sig;
	struct pov_fn fn;
	size_t used;

	row_load(name, &sig, &attrs);
	assert_int_equal(func_table_layer(func_table_find(name))->recipe(&sig, &attrs, &fn), 0);
	used = sprintf(buf, "%u", fn.nargs);
	if (fn.comm_arg != POV_ARG_NONE)
		used += sprintf(buf + used, " comm=%u", fn.comm_arg);
	if (fn.flags & POV_FN_POLL)
		used += sprintf(buf + used, " %s=%u spin=%d",
				fn.flags & POV_FN_BY_COUNT  ? "pollcount" :
				fn.flags & POV_FN_BY_RETURN ? "pollreturn" :
							      "poll",
				fn.poll_arg, (int8_t)fn.spin_arg);
	if (fn.learn)
		used += sprintf(buf + used, " learn=%u/%u", fn.learn, fn.learn_arg);
	for (uint32_t i = 0; i < fn.nfetch; i++) {
		const struct pov_fetch *f = &fn.fetch[i];

		used += sprintf(buf + used, " %s%u", ops[f->op], f->arg);
		if (f->bytes)
			used += sprintf(buf + used, ":%u+%u*%s", f->off, f->bytes, lens[f->len]);
		else if (f->op != POV_FETCH_TYPE_SIZE)
			used += sprintf(buf + used, ":%s*%s",
					f->op == POV_FETCH_IOV ? iovs[f->elem] : elems[f->elem],
					lens[f->len]);
		if (f->len == POV_LEN_ARG || f->len == POV_LEN_OUT_ARG)
			used += sprintf(buf + used, "%u", f->len_arg);
		if (f->len == POV_LEN_ROOT_SIZE)
			used += sprintf(buf + used, "%u", f->root_arg);
	}
	return buf;
}

/* The short way is taken for a single element only. */
TEST(only_fetch)
{
	static const struct {
		const char *name;
		uint8_t entry, ret;
	} rows[] = {
		{"MPI_Isend", 0, 1},
		{"MPI_Wait", 0, 1},
		{"MPI_Sendrecv", POV_FETCH_MAX, 2},
		{"MPI_Waitall", POV_FETCH_MAX, POV_FETCH_MAX},
		{"MPI_Test", 0, POV_FETCH_MAX},
		{"MPI_Alltoallv", POV_FETCH_MAX, POV_FETCH_MAX},
		{"MPI_Barrier", POV_FETCH_MAX, POV_FETCH_MAX},
		{"post_send", 0, 1},
		{"post_srq_recv", 0, 1},
		{"ibv_open_device", POV_FETCH_MAX, POV_FETCH_MAX}, /* too long for it */
		{"ibv_create_qp", 0, POV_FETCH_MAX},
		{"ucp_ep_create", 0, POV_FETCH_MAX},
		{"fi_endpoint", POV_FETCH_MAX, POV_FETCH_MAX}, /* a member is no such element */
		{"fi_tsendmsg", POV_FETCH_MAX, POV_FETCH_MAX},
	};
	struct func_attrs attrs;
	struct signature sig;
	struct pov_fn fn;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		row_load(rows[i].name, &sig, &attrs);
		assert_int_equal(
			func_table_layer(func_table_find(rows[i].name))->recipe(&sig, &attrs, &fn),
			0);
		assert_int_equal(fn.entry_one, rows[i].entry);
		assert_int_equal(fn.return_one, rows[i].ret);
	}
}

TEST(recipes)
{
	static const struct {
		const char *name, *text;
	} rows[] = {
		{"MPI_Send", "6 comm=5 size2"},
		{"post_send", "3 work1:0+56*arg0 accepted2:wide*arg1"},
		{"post_srq_recv", "3 work1:0+32*1 accepted2:wide*arg1"},
		{"poll_cq", "3 pollreturn=0 spin=0 out2:0+48*return"},
		{"ibv_create_qp", "2 in1:48+8*1"},
		{"ibv_modify_qp", "3 in0:0+64*1 in1:0+136*1"},
		{"MPI_Recv", "7 comm=5 size2 out6:status*1"},
		{"MPI_Isend_c", "7 comm=5 size2 out6:handle*1"},
		{"MPI_Sendrecv", "12 comm=10 size2 size7 out11:status*1"},
		{"MPI_Wait", "2 in0:handle*1 out1:status*1"},
		{"MPI_Waitall", "3 in1:handle*arg0 out2:status*arg0"},
		{"MPI_Test", "3 poll=1 spin=0 in0:handle*1 out1:int*1 out2:status*1"},
		{"MPI_Testsome", "5 pollcount=2 spin=1 in1:handle*arg0 out2:int*1 "
				 "out3:int*outarg2 out4:status*outarg2"},
		{"MPI_Testany", "5 poll=3 spin=1 in1:handle*arg0 out2:int*1 out3:int*1 "
				"out4:status*1"},
		{"MPI_Iprobe", "5 comm=2 poll=3 spin=2 out3:int*1 out4:status*1"},
		{"MPI_Win_test", "2 poll=1 spin=0 out1:int*1"},
		{"MPI_Bcast", "5 comm=4 size2"},
		{"MPI_Alltoallv", "9 comm=8 sum1:int*comm size3 sum5:int*comm size7"},
		{"MPI_Alltoallv_c", "9 comm=8 sum1:wide*comm size3 sum5:wide*comm size7"},
		{"MPI_Gatherv", "9 comm=8 size2 sum4:int*root7 size6"},
		{"MPI_Neighbor_alltoallw",
		 "9 comm=8 in1:int*outdeg in3:handle*outdeg in5:int*indeg "
		 "in7:handle*indeg"},
		{"MPI_Cart_create", "6 comm=0 learn=4/5 in2:int*arg1 in3:int*arg1 out5:handle*1"},
		{"MPI_Comm_size", "2 comm=0 learn=1/0 out1:int*1"},
		{"MPI_Comm_free", "1 learn=8/0 in0:handle*1"},
		{"MPI_Type_create_struct", "5 in1:int*arg0 in3:handle*arg0 out4:handle*1"},
		{"MPI_Put", "8 size2"},
		{"MPI_Type_size", "2 out1:int*1"},
		{"MPI_File_write_at_all", "6 size4 out5:status*1"},
		{"MPI_Barrier", "1 comm=0"},
		{"MPI_Finalize", "0"},
		{"ucp_tag_send_nbx", "5 in4:block*1"},
		{"ucp_tag_recv_nb", "7"},
		{"ucp_worker_progress", "1 pollreturn=0 spin=0"},
		{"ucp_request_check_status", "1 pollreturn=1 spin=0"},
		{"fi_tsend", "7 pollreturn=245 spin=0"},
		{"fi_sendv", "6 pollreturn=245 spin=0 iov1:plain*arg3"},
		{"fi_writemsg", "3 pollreturn=245 spin=0 in1:0+64*1 list1:0+64*1"},
		{"fi_cq_readfrom", "4 pollreturn=245 spin=0 out1:0+48*return out3:wide*return"},
		{"fi_endpoint", "4 out2:wide*1 member1:88+8*1"},
		{"mca_pml_ob1_send", "7 size2"},
		{"mca_pml_ob1_recv_frag_callback_match", "3 message0:int*1"},
		{"ucp_rndv_rts_handler", "4"},
		{"uct_tcp_ep_am_short", "5"},
		{"uct_tcp_ep_put_zcopy", "6 iov1:uct*arg2"},
		{"uct_rc_verbs_ep_am_zcopy", "6 iov4:uct*arg5"},
		{"uct_iface_open", "5 in2:136+8*1 out4:wide*1 member2:144+16*1 member2:152+32*1"},
		{"uct_ep_create", "2 in0:0+16*1 out1:wide*1 member0:24+24*1 member0:32+16*1"},
		{"uct_ep_get_address", "2 out1:0+16*1"},
		{"ucp_ep_create", "3 in1:0+8*1 out2:wide*1 member1:8+16*1"},
		{"ucp_worker_get_address", "3 member1:0+16*1"},
		{"ucp_worker_query", "2 in1:0+8*1 member1:16+16*1"},
	};

	for (size_t i = 0; i < CNT(rows); i++)
		assert_string_equal(fn_text(rows[i].name), rows[i].text);
}

/* What tells the bytes of a call that is counted, as text. */
static const char *moved_text(const char *name)
{
	static char buf[64];
	struct func_attrs attrs;
	struct signature sig;
	struct pov_fn fn;

	row_load(name, &sig, &attrs);
	assert_int_equal(layer_mpi.recipe(&sig, &attrs, &fn), 0);
	if (fn.count_bytes)
		sprintf(buf, "%d:%u*%u>%d", (int8_t)fn.count_arg, fn.count_bytes, fn.type_arg,
			(int8_t)fn.peer_arg);
	return fn.count_bytes ? buf : "-";
}

TEST(moved)
{
	static const struct {
		const char *name, *text;
	} rows[] = {
		{"MPI_Isend", "1:4*2>3"},
		{"MPI_Isend_c", "1:8*2>3"},
		{"MPI_Irecv", "1:4*2>3"},
		{"MPI_Imrecv", "1:4*2>-1"},
		{"MPI_Bsend", "1:4*2>3"},
		{"MPI_Put", "1:4*2>3"},
		{"MPI_Rget", "1:4*2>3"},
		{"MPI_Accumulate_c", "1:8*2>3"},
		{"MPI_Fetch_and_op", "-1:4*2>3"},
		{"MPI_Compare_and_swap", "-1:4*3>4"},
		{"MPI_File_iwrite_at", "3:4*4>-1"},
		{"MPI_Isendrecv", "-"},
		{"MPI_Isendrecv_replace", "-"},
		{"MPI_Get_accumulate", "-"},
		{"MPI_Ibcast", "-"},
		{"MPI_Iallreduce", "-"},
		{"MPI_Psend_init", "-"}, /* of several parts */
		{"MPI_Start", "-"},
		{"MPI_Test", "-"},
		{"MPI_Pack", "-"},
		{"MPI_Type_size", "-"},
		{"MPI_Type_vector", "-"},
	};

	for (size_t i = 0; i < CNT(rows); i++)
		assert_string_equal(moved_text(rows[i].name), rows[i].text);
}

/* Readers take these bytes for what goes out, what comes in, or both as much. */
TEST(moved_ways)
{
	uint32_t cnt[4] = {0};

	for (size_t i = 0; i < layer_mpi.row_cnt; i++) {
		const struct func_row *row = &layer_mpi.rows[i];
		json_t *meta = json_pack("{s:i,s:s,s:s,s:s,s:s}", "id", 1, "name", row->name,
					 "group", row->group, "attrs", row->attrs, "sig", row->sig);
		bool single = !strcmp(row->name, "MPI_Fetch_and_op") ||
			      !strcmp(row->name, "MPI_Compare_and_swap");
		struct func_info info = {0};

		assert_int_equal(layer_mpi.func_parse(meta, &info), 0);
		assert_true(info.moves <= (MOVES_OUT | MOVES_IN));
		if (strcmp(moved_text(row->name), "-") != 0) {
			cnt[info.moves]++;
			assert_int_equal(info.moves == (MOVES_OUT | MOVES_IN), single);
			assert_true(info.moves || strstr(row->name, "_init"));
		}
		layer_mpi.func_release(&info);
		json_decref(meta);
	}
	assert_true(cnt[0] && cnt[MOVES_OUT] > 20 && cnt[MOVES_IN] > 20);
}

TEST(polls)
{
	static const char polls[] =
		" MPI_Improbe MPI_Iprobe MPI_Request_get_status MPI_Request_get_status_all "
		"MPI_Request_get_status_any MPI_Request_get_status_some MPI_Test MPI_Testall "
		"MPI_Testany MPI_Testsome MPI_Parrived MPI_Win_test ";
	struct func_attrs attrs;
	char word[64];

	for (size_t i = 0; i < layer_mpi.row_cnt; i++) {
		snprintf(word, sizeof(word), " %s ", layer_mpi.rows[i].name);
		func_attrs_parse(layer_mpi.rows[i].attrs, layer_mpi.words, &attrs);
		assert_int_equal(!!(attrs.flags & FUNC_POLL), !!strstr(polls, word));
	}
}

TEST(parsed)
{
	struct signature sig;
	const char *why;

	assert_int_equal(signature_parse("n <>req[n] >outcount >indices[>outcount]:wide future "
					 "later:int",
					 layer_mpi.roles, &sig, &why),
			 0);
	assert_int_equal(sig.nargs, 6);
	assert_int_equal(sig.arg[1].dir, SIG_INOUT);
	assert_int_equal(sig.arg[1].len, POV_LEN_ARG);
	assert_int_equal(sig.arg[1].len_arg, 0);
	assert_int_equal(sig.arg[1].kind, SIG_KIND_REQ);
	assert_int_equal(sig.arg[3].len, POV_LEN_OUT_ARG);
	assert_int_equal(sig.arg[3].len_arg, 2);
	assert_int_equal(sig.arg[3].type, SIG_WIDE);
	assert_int_equal(sig.arg[4].type, SIG_UNKNOWN); /* a role of a later version */
	assert_int_equal(sig.arg[5].type, SIG_INT);
	assert_string_equal(sig.arg[5].role, "later");
	assert_int_equal(signature_find(&sig, "outcount"), 2);
	assert_int_equal(signature_find(&sig, "buf"), -1);
	assert_int_equal(signature_parse("", layer_mpi.roles, &sig, &why), 0);
	assert_int_equal(sig.nargs, 0);
}

TEST(refused)
{
	char bad[] = ">|<>|count:|count:long|<req[|<req[count|<req[count]x|count[n] n|"
		     "<req[count]|>req[>flag] flag|<req[flag] >flag|+scount|+scount[comm]|"
		     "comm +rcount[root]|count count|bu-f|<count:block@256|<count:block+8x|"
		     "<count:int+4|<req[return]|a b c d e f g h i j k l m n o p q";
	char longer[SIG_TEXT_MAX + 8];
	struct signature sig;
	const char *why;

	for (char *one = strtok(bad, "|"); one; one = strtok(NULL, "|")) {
		if (signature_parse(one, layer_mpi.roles, &sig, &why) != -EINVAL)
			fail_msg("'%s' was taken", one);
		assert_non_null(why);
	}
	memset(longer, 'a', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	assert_int_equal(signature_parse(longer, layer_mpi.roles, &sig, &why), -EINVAL);
}

TEST(not_compiled)
{
	struct func_attrs none = {0}, poll = {.flags = FUNC_POLL};
	struct pov_fn fn = {.nargs = 77};
	struct signature sig;
	const char *why;

	assert_int_equal(signature_parse("<future", layer_mpi.roles, &sig, &why), 0);
	assert_int_equal(layer_mpi.recipe(&sig, &none, &fn), -EINVAL);
	assert_int_equal(signature_parse("req", layer_mpi.roles, &sig, &why), 0);
	assert_int_equal(layer_mpi.recipe(&sig, &poll, &fn), -EINVAL);
	assert_int_equal(signature_parse(">flag >index >count >size >rank >tag >source >dest >root",
					 layer_mpi.roles, &sig, &why),
			 0);
	assert_int_equal(layer_mpi.recipe(&sig, &none, &fn), -E2BIG);
	/* pieces of memory are summed and nothing else */
	assert_int_equal(signature_parse("<buf[n]:iov n", layer_mpi.roles, &sig, &why), 0);
	assert_int_equal(layer_mpi.recipe(&sig, &none, &fn), -EINVAL);
	assert_int_equal(fn.nargs, 77); /* written on success only */
}

TEST(iov)
{
	struct func_attrs none = {0};
	struct signature sig;
	struct pov_fn fn;
	const char *why;

	assert_int_equal(signature_parse("+buf[n]:iov n", layer_mpi.roles, &sig, &why), 0);
	assert_int_equal(sig.arg[0].kind, SIG_KIND_ADDR);
	assert_int_equal(layer_mpi.recipe(&sig, &none, &fn), 0);
	assert_int_equal(fn.fetch[0].op, POV_FETCH_IOV);
	assert_int_equal(fn.fetch[0].elem, POV_IOV_PLAIN);
	assert_int_equal(fn.entry_one, POV_FETCH_MAX);
}

TEST(attrs)
{
	struct func_attrs a;

	assert_int_equal(func_attrs_parse("WAIT | COMM_FREE", layer_mpi.words, &a), 0);
	assert_int_equal(a.flags, FUNC_WAIT);
	assert_int_equal(a.learn, POV_LEARN_COMM_FREE);
	assert_int_equal(func_attrs_parse("NONE", layer_mpi.words, &a), 0);
	assert_int_equal(a.flags, 0);
	assert_int_equal(func_attrs_parse("POLL|FUTURE|LOCAL", layer_mpi.words, &a), -EINVAL);
	assert_int_equal(a.flags, FUNC_POLL | FUNC_LOCAL);
}
