/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The layers compared with the installed libraries. The tables must have the functions that the
 * libraries export or declare. The headers must lay out members as the decoders assume. Functions
 * without a name must be found.
 */
#include <fnmatch.h>
#include <glob.h>

#include "unit/test.h"
#include "lib/json_get.h"
#include "record/kernel_functions.h"
#include "target/elf/elf_file.h"
#include "layers/ofi/library_ofi.h"
#include "layers/uct/library_uct.h"
#include "layers/func_table.h"
#include "layers/uct/uct_conn.h"
#include "unit/layer_fixture.h"

#define LIBRARIES "/usr/lib/x86_64-linux-gnu/"
/* Makes the compiler check offsets and sizes of a struct's members. */
#define LAYOUT(type, condition)                   \
	do {                                      \
		typedef struct type S;            \
		_Static_assert(condition, #type); \
	} while (0)
#define AT(member, offset) (offsetof(S, member) == (offset))
#define SIZE(bytes) (sizeof(S) == (bytes))

#if __has_include(<infiniband/verbs.h>)
#include <infiniband/verbs.h>

/*
 * These depend on the layouts: bpf/work.bpf.c, user/layers/verbs/verbs.def and
 * user/layers/verbs/verbs_conn.c.
 */
TEST(verbs_layouts)
{
	LAYOUT(ibv_send_wr, AT(wr_id, 0) && AT(next, 8) && AT(sg_list, 16) && AT(num_sge, 24) &&
				    AT(opcode, 28) && AT(send_flags, 32) && AT(wr.ud.ah, 40) &&
				    AT(wr.ud.remote_qpn, 48));
	LAYOUT(ibv_recv_wr,
	       AT(wr_id, 0) && AT(next, 8) && AT(sg_list, 16) && AT(num_sge, 24) && SIZE(32));
	LAYOUT(ibv_sge, AT(length, 8) && SIZE(16));
	LAYOUT(ibv_qp, AT(context, 0) && AT(send_cq, 24) && AT(recv_cq, 32) && AT(handle, 48) &&
			       AT(qp_num, 52) && AT(qp_type, 60));
	LAYOUT(ibv_qp_ex, AT(wr_id, 168) && AT(wr_flags, 176));
	LAYOUT(ibv_cq_ex, AT(status, 132) && AT(wr_id, 136));
	LAYOUT(ibv_data_buf, AT(length, 8) && SIZE(16));
	LAYOUT(ibv_pd, AT(context, 0));
	LAYOUT(ibv_device, AT(name, 24));
	LAYOUT(ibv_qp_init_attr, AT(qp_type, 52));
	LAYOUT(ibv_qp_attr,
	       AT(qp_state, 0) && AT(dest_qp_num, 28) && AT(ah_attr, 56) && AT(port_num, 129));
	LAYOUT(ibv_ah_attr, AT(grh.dgid, 0) && AT(grh.sgid_index, 20) && AT(dlid, 24) &&
				    AT(is_global, 29) && AT(port_num, 30) && SIZE(32));
	LAYOUT(ibv_wc, AT(wr_id, 0) && AT(status, 8) && AT(opcode, 12) && AT(byte_len, 20) &&
			       AT(qp_num, 28) && SIZE(48));
	_Static_assert(IBV_QP_STATE == 1 && IBV_QP_PORT == 1 << 5 && IBV_QP_AV == 1 << 7 &&
			       IBV_QP_DEST_QPN == 1 << 20,
		       "masks");
	_Static_assert(IBV_WR_RDMA_READ == 4 && IBV_WR_TSO == 10 && IBV_QPT_UD == 4 &&
			       IBV_WC_RECV == 128 && IBV_WC_TM_RNDV_INCOMPLETE == 23,
		       "numbers");
}
#endif

#if __has_include(<rdma/fi_tagged.h>)
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

/*
 * These depend on the layouts: layers/ofi/library_ofi.c, user/layers/ofi/ofi.def and
 * user/layers/ofi/ofi_*.c.
 */
TEST(ofi_layouts)
{
	LAYOUT(fid_ep, AT(msg, 40) && AT(rma, 48) && AT(tagged, 56) && AT(cm, 32));
	LAYOUT(fi_ops_msg, SIZE(80) && AT(send, 32) && AT(injectdata, 72));
	LAYOUT(fi_ops_rma, SIZE(80) && AT(writemsg, 48) && AT(inject, 56));
	LAYOUT(fi_ops_tagged, SIZE(80) && AT(recvmsg, 24) && AT(senddata, 64));
	LAYOUT(fi_ops_cm, AT(getname, 16) && AT(connect, 32));
	LAYOUT(fid, AT(ops, 16));
	LAYOUT(fi_ops, AT(bind, 16));
	LAYOUT(fid_domain, AT(ops, 24));
	LAYOUT(fid_cq, AT(ops, 24));
	LAYOUT(fid_av, AT(ops, 24));
	LAYOUT(fi_ops_domain, AT(endpoint, 24));
	LAYOUT(fi_ops_cq, AT(sreadfrom, 40));
	LAYOUT(fi_ops_av, AT(insert, 8));
	LAYOUT(fi_cq_attr, AT(format, 16));
	LAYOUT(fi_info, AT(ep_attr, 88));
	LAYOUT(fi_ep_attr, AT(protocol, 4));
	LAYOUT(fi_cq_entry, SIZE(8));
	LAYOUT(fi_cq_msg_entry, SIZE(24));
	LAYOUT(fi_cq_data_entry, SIZE(40));
	LAYOUT(fi_cq_tagged_entry, SIZE(48));
	LAYOUT(fi_cq_err_entry, AT(err, 56));
	LAYOUT(fi_msg, SIZE(48) && AT(context, 32));
	LAYOUT(fi_msg_tagged, SIZE(64) && AT(context, 48));
	LAYOUT(fi_msg_rma, SIZE(64) && AT(context, 48) && AT(addr, 24));
	_Static_assert(FI_CQ_FORMAT_TAGGED == 4 && FI_PROTO_SOCK_TCP == 6 && FI_PROTO_RXM == 11 &&
			       FI_PROTO_SHM == 16 && FI_PROTO_EFA == 20 && FI_PROTO_CXI == 24,
		       "numbers");
}
#endif

/* Opens an installed library, or skips the test with a message. */
static struct elf_file *library_open(const char *path)
{
	struct elf_file *lib;

	if (elf_file_open(path, &lib))
		skip_because("no %s", path);
	return lib;
}

/* ---- MPI ---- */

/*
 * Whether exported code is no function of the interface: predefined callbacks, and code called by
 * Fortran.
 */
static bool is_other(const char *name)
{
	return !fnmatch("MPI_*_COPY_FN", name, 0) || !fnmatch("MPI_*_DELETE_FN", name, 0) ||
	       !fnmatch("MPI_*DUP_FN", name, 0) || !fnmatch("MPI_*_F90", name, 0) ||
	       !strcmp(name, "MPI_CONVERSION_FN_NULL");
}

static const char *const patterns[] = {
	"/usr/lib/*/libmpi.so.*",	    "/usr/lib/*/libmpich.so.*",
	"/usr/lib/*/libmpi_abi.so.*",	    "/usr/lib64/openmpi/lib/libmpi.so.*",
	"/usr/lib64/mpich/lib/libmpi.so.*", "/usr/local/lib/libmpi.so.*",
	"/opt/*/lib/libmpi.so.*",	    "/opt/*/lib/libmpich.so.*"};

static bool is_mpi(const char *name)
{
	return !strncmp(name, "MPI_", 4) || !strncmp(name, "MPIX_", 5);
}

static size_t missing_cnt(const char *path, size_t *functions)
{
	const struct elf_symbol *syms;
	struct elf_file *f;
	size_t n, missing = 0;

	if (elf_file_open(path, &f)) {
		print_message("cannot read %s\n", path);
		return 1;
	}
	n = elf_file_symbols(f, &syms);
	for (size_t i = 0; i < n; i++) {
		if (!syms[i].is_func || !is_mpi(syms[i].name) || is_other(syms[i].name))
			continue;
		++*functions;
		if (func_table_find(syms[i].name) >= 0)
			continue;
		print_message("%s exports %s, which user/layers/mpi/mpi.def lacks\n", path,
			      syms[i].name);
		missing++;
	}
	elf_file_close(f);
	return missing;
}

/* POV_TEST_MPI_LIBS=path:path adds libraries. */
static void libs_find(glob_t *libs)
{
	char *more = getenv("POV_TEST_MPI_LIBS"), *list = xstrdup(more ? more : ""), *save = NULL;

	for (size_t i = 0; i < COUNT(patterns); i++)
		glob(patterns[i], i ? GLOB_APPEND : 0, NULL, libs);
	for (char *p = strtok_r(list, ":", &save); p; p = strtok_r(NULL, ":", &save))
		glob(p, GLOB_APPEND | GLOB_NOCHECK, NULL, libs);
	free(list);
}

TEST(mpi)
{
	size_t missing = 0;
	glob_t libs;

	libs_find(&libs);
	if (!libs.gl_pathc)
		skip_because(
			"no MPI library on this machine to compare user/layers/mpi/mpi.def with");
	for (size_t i = 0; i < libs.gl_pathc; i++) {
		size_t functions = 0;

		missing += missing_cnt(libs.gl_pathv[i], &functions);
		assert_true(functions > 300);
	}
	globfree(&libs);
	assert_int_equal(missing, 0);
}

/* The kernel half lists its programs without privileges. */
TEST(os)
{
	json_t *list = kernel_functions_list();

	assert_int_equal(json_array_size(list), layer_os.row_cnt);
	for (size_t i = 0; i < layer_os.row_cnt; i++)
		assert_string_equal(json_get_text(json_array_get(list, i), "name"),
				    layer_os.rows[i].name);
	json_decref(list);
}

TEST(ob1)
{
	struct elf_file *lib = library_open(LIBRARIES "openmpi/lib/openmpi3/mca_pml_ob1.so");

	for (size_t i = 0; i < layer_ob1.row_cnt; i++)
		if (!elf_file_exports(lib, layer_ob1.rows[i].name))
			fail_msg("%s is not in it", layer_ob1.rows[i].name);
	elf_file_close(lib);
}

#define FOUND_MAX 1024

TEST(ofi)
{
	static struct fabric_function found[FOUND_MAX];
	struct elf_file *lib = library_open(LIBRARIES "libfabric.so.1");
	size_t cnt = fabric_ops_find(lib, found, FOUND_MAX), seen;

	for (size_t i = 0; i < cnt; i++) {
		assert_true(func_table_find(found[i].name) >= 0);
		for (size_t k = 0; k < i; k++)
			assert_true(found[k].addr != found[i].addr);
	}
	for (size_t row = 0; row < layer_ofi.row_cnt; row++) {
		seen = 0;
		for (size_t i = 0; i < cnt; i++)
			seen += !strcmp(found[i].name, layer_ofi.rows[row].name);
		if (seen < 5)
			fail_msg("%s: %zu found", layer_ofi.rows[row].name, seen);
	}
	assert_int_equal(fabric_ops_find(lib, found, 3), 3);
	elf_file_close(lib);
}

/* ---- UCP ---- */

TEST(ucp)
{
	struct elf_file *lib = library_open(LIBRARIES "libucp.so.0");
	FILE *declared = popen("grep -ohE '\\<ucp_[a-z0-9_]+\\(' /usr/include/ucp/api/ucp.h "
			       "/usr/include/ucp/api/ucp_compat.h 2>/dev/null | tr -d '('",
			       "r");
	size_t functions = 0;
	char name[128];

	while (fscanf(declared, "%127s", name) == 1) {
		if (!elf_file_exports(lib, name))
			continue;
		functions++;
		if (func_table_find(name) < 0)
			fail_msg("user/layers/ucp/ucp.def lacks %s", name);
	}
	pclose(declared);
	elf_file_close(lib);
	if (!functions)
		skip_because("no headers of UCX");
	assert_true(functions > 80);
}

/* ---- UCT ---- */

#define LIBUCT LIBRARIES "libuct.so.0"
#define MODULE LIBRARIES "ucx/libuct_ib.so.0"
#define MLX5_MODULE LIBRARIES "ucx/libuct_ib_mlx5.so.0" /* part of MODULE before UCX 1.17 */

/* Functions shared by rc_mlx5 are called uct_rc_mlx5_base_ep_… since UCX 1.17. */
static const char *row_name(const char *symbol)
{
	static const char base[] = "uct_rc_mlx5_base_ep_";
	static char name[128];

	if (strncmp(symbol, base, sizeof(base) - 1))
		return symbol;
	snprintf(name, sizeof(name), "uct_rc_mlx5_ep_%s", symbol + sizeof(base) - 1);
	return name;
}

/*
 * Checks that the table has the library's exported functions of these operations. Returns their
 * number.
 */
static size_t exports_check(const char *path)
{
	static const char *const operations[] = {"uct_*_ep_am_short",	"uct_*_ep_am_short_iov",
						 "uct_*_ep_am_bcopy",	"uct_*_ep_am_zcopy",
						 "uct_*_ep_put_[sbz]*", "uct_*_ep_get_[sbz]*copy",
						 "uct_*_ep_atomic*",	"uct_*_ep_tag_eager_*"};
	const struct elf_symbol *sym;
	struct elf_file *lib;
	size_t cnt, found = 0;

	if (elf_file_open(path, &lib))
		return 0;
	cnt = elf_file_symbols(lib, &sym);
	for (size_t i = 0; i < cnt; i++) {
		for (size_t o = 0; o < COUNT(operations); o++) {
			/* handlers and shared helpers are not part of the interface */
			if (!sym[i].is_func || fnmatch(operations[o], sym[i].name, 0) ||
			    strstr(sym[i].name, "handler") || !strncmp(sym[i].name, "uct_base_", 9))
				continue;
			if (func_table_find(row_name(sym[i].name)) < 0)
				fail_msg("user/layers/uct/uct.def lacks %s", sym[i].name);
			found++;
		}
	}
	elf_file_close(lib);
	return found;
}

TEST(uct_exported)
{
	if (!exports_check(LIBUCT) || !exports_check(MODULE))
		skip_because("no " LIBUCT " or " MODULE);
	assert_true(exports_check(LIBUCT) > 20);
	assert_true(exports_check(MODULE) + exports_check(MLX5_MODULE) > 40);
}

/*
 * Returns the distance of an address after the first named function of a transport's source file.
 * It is very large before that function, or if there is no such file. Code compiled from one file
 * stays together.
 */
static uint64_t distance(const struct elf_file *lib, const char *transport, uint64_t addr)
{
	const struct elf_symbol *sym;
	char name[64];

	snprintf(name, sizeof(name), "uct_%s_ep_t_delete", transport);
	sym = elf_file_find(lib, name);
	return sym ? addr - sym->addr : UINT64_MAX;
}

static struct elf_file *module_open(const char *transport)
{
	static const char *const modules[] = {MODULE, MLX5_MODULE};
	struct elf_file *lib;

	for (size_t i = 0; i < 2; i++) {
		if (elf_file_open(modules[i], &lib))
			continue;
		if (uct_ops_has(lib, transport))
			return lib;
		elf_file_close(lib);
	}
	return NULL;
}

/*
 * Functions without a name are found for the transport that has them, each a different one, and no
 * others.
 */
TEST(uct_unnamed)
{
	static const char *const transports[] = {"ud_verbs", "ud_mlx5"};
	static const char *const operations[] = {"put_short", "am_short", "am_short_iov",
						 "am_bcopy", "am_zcopy"};
	struct elf_symbol sym;
	struct elf_file *lib;
	uint64_t addr[5];

	for (int t = 0; t < 2; t++) {
		lib = module_open(transports[t]);
		if (!lib)
			skip_because("no " MODULE);
		for (int o = 0; o < 5; o++) {
			assert_true(uct_ops_find(lib, transports[t], operations[o], &sym));
			for (int i = 0; i < o; i++)
				assert_int_not_equal(addr[i], sym.addr);
			assert_true(distance(lib, transports[t], sym.addr) <
				    distance(lib, transports[!t], sym.addr));
			addr[o] = sym.addr;
		}
		assert_false(uct_ops_find(lib, transports[t], "get_zcopy", &sym));
		assert_false(uct_ops_find(lib, "ud_none", "am_bcopy", &sym));
		assert_false(uct_ops_find(lib, "rc_verbs", "am_bcopy", &sym)); /* it has a name */
		elf_file_close(lib);
	}
}

static void end_is(const char *transport, const uint8_t device[24], const uint8_t address[16],
		   uint32_t host, const char *end, const char *dest)
{
	struct uct_end e;

	uct_end_make(transport, device, address, host, &e);
	assert_string_equal(e.end, end);
	assert_string_equal(e.dest, dest);
}

TEST(uct_addresses)
{
	static const uint8_t here[24] = {0xff, [7] = 0x7f, 0xff},
			     within[24] = {0xff, [7] = 0x80, 3, 1}, number[16] = {1, 2},
			     pid[16] = {0x39, 0x30}, pid_within[16] = {7, 0, 0, 0x80, 5, 1},
			     tcp4[24] = {0, 2, 10, 0, 0, 2}, tcp4_default[24] = {2, 2, 10, 0, 0, 2},
			     tcp6[24] = {0, 10, 0xfe, 0x80, [17] = 1},
			     loopback[24] = {1, 2, 0xff, 0xff, 0xff},
			     loopback_within[24] = {1, 2, [9] = 0x80, 3, 1},
			     loopback6[24] = {1, 10, 0xff, 0xff, 0xff}, old_tcp[24] = {10, 0, 0, 2},
			     port[16] = {0x12, 0x67, 0xff, 0xff}, qp[16] = {0x51, 2, 1, 0xff},
			     flags_qp[16] = {1, 0x51, 2, 1},
			     roce[24] = {0x28, [11] = 0xff, 0xff, 10, 0, 2, 15};

	end_is("posix", here, number, 0, "posix 0x201", "");
	end_is("posix", here, number, 2, "posix 0x201 on host 2", "");
	end_is("posix", within, number, 0, "posix 0x201 in namespace 259", "");
	end_is("posix", here, NULL, 0, "", "");
	end_is("posix", NULL, number, 0, "", "");
	end_is("self", NULL, number, 0, "self 0x201", "");
	end_is("cma", NULL, pid, 0, "pid 12345", "pid 12345");
	end_is("cma", NULL, pid, 1, "pid 12345 on host 1", "pid 12345 on host 1");
	end_is("cma", NULL, pid_within, 0, "pid 7 in namespace 261", "pid 7 in namespace 261");
	end_is("tcp", tcp4, port, 1, "10.0.0.2:4711", "10.0.0.2");
	end_is("tcp", tcp4_default, port, 0, "10.0.0.2:4711", "10.0.0.2");
	end_is("tcp", tcp6, port, 0, "[fe80::1]:4711", "fe80::1");
	end_is("tcp", loopback, port, 0, "127.0.0.1:4711", "127.0.0.1");
	end_is("tcp", loopback6, port, 3, "[::1]:4711 on host 3", "::1 on host 3");
	end_is("tcp", loopback_within, port, 0, "127.0.0.1:4711 in namespace 259", "127.0.0.1");
	end_is("tcp", old_tcp, port, 0, "", "");
	end_is("tcp", NULL, port, 0, "", "");
	end_is("ud_mlx5", roce, qp, 1, "10.0.2.15 qp 66129", "10.0.2.15");
	end_is("rc_verbs", roce, flags_qp, 0, "10.0.2.15 qp 66129", "10.0.2.15");
	end_is("ud_mlx5", NULL, qp, 0, "", "");
	end_is("knem", tcp4, number, 0, "", "");
}
