/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Fabrics read from text, routes through them, and what flows put on their links. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unit/test.h"
#include "base/log.h"
#include "fabric/read.h"
#include "fabric/route.h"
#include "fabric/tables.h"
#include "fabric/traffic.h"

/* Two leaves with a host each, one spine; host 2 (two LIDs) is at the spine. */
static const char topology[] =
	"vendid=0x0\nSwitch\t3 \"S-00000000000000a0\"\t\t# \"leaf \"0\" x\" base port 0 lid 20 lmc 0\n"
	"[1]\t\"H-0000000000000001\"[1](11) \t\t# \"h0 mlx5_0\" lid 1 4xEDR\n"
	"[2]\t\"S-00000000000000b0\"[1]\t\t# \"spine\" lid 30 4xHDR\n"
	"\nSwitch\t3 \"S-00000000000000a1\"\t\t# \"leaf1\" base port 0 lid 21 lmc 0\n"
	"[1]\t\"H-0000000000000002\"[2](12) \t\t# \"h1 mlx5_0\" lid 2 4xEDR\n"
	"[2]\t\"S-00000000000000b0\"[2]\t\t# \"spine\" lid 30 4xHDR\n"
	"\nSwitch\t3 \"S-00000000000000b0\"\t\t# \"spine\" base port 0 lid 30 lmc 0\n"
	"[1]\t\"S-00000000000000a0\"[2]\t\t# \"leaf0\" lid 20 4xHDR\n"
	"[2]\t\"S-00000000000000a1\"[2]\t\t# \"leaf1\" lid 21 4xHDR\n"
	"[3]\t\"H-0000000000000003\"[1](13) \t\t# \"h2 mlx5_0\" lid 4 1xNDR\n"
	"\nCa\t1 \"H-0000000000000001\"\t\t# \"h0 mlx5_0\"\n"
	"[1](11) \t\"S-00000000000000a0\"[1]\t\t# lid 1 lmc 0 \"leaf0\" lid 20 4xEDR\n"
	"\nCa\t2 \"H-0000000000000002\"\t\t# \"h1 mlx5_0\"\n"
	"[2](12) \t\"S-00000000000000a1\"[1]\t\t# lid 2 lmc 0 \"leaf1\" lid 21 4xEDR\n"
	"\nCa\t1 \"H-0000000000000003\"\t\t# \"h2 mlx5_0\"\n"
	"[1](13) \t\"S-00000000000000b0\"[3]\t\t# lid 4 lmc 1 \"spine\" lid 30 1xNDR\n";

/* leaf1 sends LID 5 round in circles, and has none for LID 6. */
static const char tables[] =
	"Unicast lids [0x0-0x1e] of switch Lid 20 guid 0x00000000000000a0 (leaf0):\n  Lid  Out   Destination\n"
	"0x0001 001 : (x)\n0x0002 002 : (x)\n0x0004 002 : (x)\n0x0005 002\n0x0014 000 : (x)\n0x0006 003\n"
	"Multicast mlids [0xc000] of switch guid 0x00000000000000a0 (leaf0):\n0xc001 001\n"
	"Unicast lids [0-30] of switch Lid 30 guid 0x00000000000000b0 ('spine'):\n"
	"0x0001 001 # x\n0x0002 002\n0x0004 003\n0x0005 002\n"
	"Unicast lids [0-30] of switch Lid 21 guid 0x00000000000000a1 ('leaf1'):\n"
	"0x0001 002\n0x0002 001\n0x0004 002\n0x0005 002\n0x0007 ??? no path\n";

static const char host_table[] = "# ranks\n0 h0\n1 h1 2\n2 h2\n3 h0\n";

static FILE *text_open(const char *text)
{
	return fmemopen((void *)text, strlen(text), "r");
}

static int topology_read(const char *text, struct fabric *f)
{
	struct fabric_build b = {0};
	FILE *in = text_open(text);
	int err = fabric_read_topology(&b, in, "topology");

	fclose(in);
	if (err)
		fabric_build_release(&b);
	return err ? err : fabric_build_finish(&b, f);
}

static int tables_read(const char *text, struct fabric *f)
{
	FILE *in = text_open(text);
	int err = fabric_read_tables(f, in, "tables");

	fclose(in);
	return err;
}

static void made(struct fabric *f)
{
	assert_int_equal(topology_read(topology, f), 0);
	assert_int_equal(tables_read(tables, f), 0);
}

static int hosts_read(const char *text, const struct fabric *f, struct fabric_hosts *h)
{
	FILE *in = text_open(text);
	int err = fabric_hosts_read(h, f, in, "hosts");

	fclose(in);
	return err;
}

TEST(topology)
{
	const struct fabric_node *n;
	struct fabric_place place;
	struct fabric f;
	uint32_t at;

	made(&f);
	assert_int_equal(f.nnode, 6);
	assert_int_equal(f.nport, 10);
	assert_int_equal(f.nlink, 5);
	assert_int_equal(f.nsubnet, 1);
	/* The spine has an adapter of its own: all switches are of level 1. */
	assert_int_equal(f.levels, 2);
	at = fabric_node_by_guid(&f, 0xa0);
	n = &f.node[at];
	assert_string_equal(n->name, "leaf \"0\" x");
	assert_int_equal(n->lid, 20);
	assert_int_equal(n->nport, 2);
	fabric_place_init(&place, &f, "h1");
	assert_int_equal(place.nnode, 1);
	assert_string_equal(f.node[place.node[0]].name, "h1 mlx5_0");
	fabric_place_release(&place);
	fabric_place_init(&place, &f, "nobody");
	assert_int_equal(place.nnode, 0);
	fabric_place_release(&place);
	assert_int_equal(fabric_node_by_guid(&f, 7), FABRIC_NONE);
	/* 2^1 LIDs from 4 on. */
	assert_int_equal(fabric_port_by_lid(&f, 0, 5), fabric_port_by_lid(&f, 0, 4));
	assert_int_equal(fabric_port_by_lid(&f, 0, 6), FABRIC_NONE);
	assert_int_equal(fabric_port_by_lid(&f, 0, 20), FABRIC_NONE);
	assert_int_equal(fabric_port_by_lid(&f, 0, UINT16_MAX), FABRIC_NONE);
	for (uint32_t i = 0; i < f.nport; i++)
		assert_int_equal(f.port[f.port[i].far].far, i);
	for (uint32_t i = 0; i < f.nlink; i++)
		assert_true(fabric_port_node(&f, f.link[i].port[0])->level <=
			    fabric_port_node(&f, f.link[i].port[1])->level);
	at = f.port[fabric_port_by_lid(&f, 0, 4)].link;
	assert_string_equal(f.link[at].speed, "1xNDR");
	assert_true(f.link[at].gbit_per_s == 100);
	fabric_release(&f);
}

TEST(damaged)
{
	static const char *const texts[] = {
		"",
		"no fabric\n",
		"[1]\t\"H-01\"[1]\t# \"x\" lid 1 4xEDR\n",
		"Switch\t3 \"S-a0\"\n",
		"Switch\t3 \"S-zz\"\t# \"x\" base port 0 lid 1 lmc 0\n",
		"Switch\t3 \"S-a0\"\t# \"x\" base port 0 lid 1 lmc 0\n[0]\t\"S-a0\"[1]\n",
		"Switch\t3 \"S-a0\"\t# \"x\" base port 0 lid 1 lmc 0\n[1]\t\"S-a1\"[1]\t# \"y\" lid 2 4xSDR\n",
		"Switch\t3 \"S-a0\"\t# \"x\" base port 0 lid 1 lmc 0\nSwitch\t3 \"S-a0\"\t# \"x\" base port 0 lid 1 lmc 0\n",
		"Ca\t1 \"H-1\"\t# \"x\"\n[1](11)\t\"S-a0\"[1]\t# \"y\" lmc 0\n",
		/* Port 1 of a1 is linked to two ports. */
		("Switch\t3 \"S-a0\"\t# \"x\" base port 0 lid 1 lmc 0\n[1]\t\"S-a1\"[1]\t# \"y\" lid 2 4xSDR\n"
		 "[2]\t\"S-a1\"[1]\t# \"y\" lid 2 4xSDR\nSwitch\t3 \"S-a1\"\t# \"y\" base port 0 lid 2 lmc 0\n"),
	};
	struct fabric f;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_int_equal(topology_read(*texts[i] ? texts[i] : "\n", &f), -EBADMSG);
	made(&f);
	assert_int_equal(tables_read("x\n", &f), -EBADMSG);
	assert_int_equal(tables_read("Unicast lids of switch guid 0x99 (x):\n", &f), -EBADMSG);
	assert_int_equal(tables_read("Unicast lids of switch guid 0xa0 (x):\n0xc000 001\n", &f),
			 -EBADMSG);
	assert_int_equal(tables_read("Unicast lids of switch guid 0xa0 (x):\n0x0001 256\n", &f),
			 -EBADMSG);
	fabric_release(&f);
}

static void route_is(const struct fabric *f, uint16_t from, uint16_t lid, enum fabric_route_end end,
		     uint32_t links)
{
	struct fabric_route r;

	fabric_route_find(f, fabric_port_by_lid(f, 0, from), lid, &r);
	assert_int_equal(r.end, end);
	assert_int_equal(r.n, links);
}

TEST(route)
{
	struct fabric f;

	made(&f);
	route_is(&f, 1, 2, ROUTE_ARRIVED, 4);
	route_is(&f, 2, 1, ROUTE_ARRIVED, 4);
	route_is(&f, 1, 4, ROUTE_ARRIVED, 3);
	route_is(&f, 1, 1, ROUTE_ARRIVED, 0);
	route_is(&f, 1, 20, ROUTE_ARRIVED, 1);
	route_is(&f, 1, 5, ROUTE_LOOP, FABRIC_HOPS_MAX);
	route_is(&f, 1, 6, ROUTE_NO_LINK, 1);
	route_is(&f, 2, 7, ROUTE_NO_ENTRY, 1);
	fabric_release(&f);
	assert_int_equal(topology_read(topology, &f), 0);
	route_is(&f, 1, 2, ROUTE_NO_TABLE, 1);
	fabric_release(&f);
}

static int matrix_read(struct fabric_load *l, const struct fabric_hosts *h, const char *text)
{
	FILE *in = text_open(text);
	int err = fabric_traffic_read_matrix(l, h, "m", in, "matrix");

	fclose(in);
	return err;
}

static uint64_t leaves(const struct fabric_load *l, uint32_t context, uint16_t lid)
{
	const struct fabric *f = l->fabric;
	uint32_t port = fabric_port_by_lid(f, 0, lid);

	return fabric_load_half(l, context, f->port[port].link, fabric_direction(f, port))->bytes;
}

static uint64_t reaches(const struct fabric_load *l, uint32_t context, uint16_t lid)
{
	const struct fabric *f = l->fabric;
	uint32_t port = fabric_port_by_lid(f, 0, lid);

	return fabric_load_half(l, context, f->port[port].link, !fabric_direction(f, port))->bytes;
}

TEST(matrix)
{
	struct fabric_conflicts c;
	struct fabric_hosts h;
	struct fabric_level *row;
	struct fabric_load l;
	struct fabric_hot *hot;
	struct fabric f;
	uint32_t n;

	made(&f);
	assert_int_equal(hosts_read(host_table, &f, &h), 0);
	fabric_load_begin(&l, &f);
	/* Ranks 0 and 3 share a host: what they send to each other is on no link. */
	assert_int_equal(matrix_read(&l, &h, "0 10 100 7\n1000 0 0 5\n# x\n0,0,0,0\n9 20 0 0\n"),
			 0);
	fabric_load_finish(&l);
	assert_int_equal(l.ncontext, 2);
	for (n = 0; n < 2; n++) {
		assert_int_equal(leaves(&l, n, 1), 130);
		assert_int_equal(reaches(&l, n, 1), 1005);
		assert_int_equal(leaves(&l, n, 2), 1005);
		assert_int_equal(reaches(&l, n, 2), 30);
		assert_int_equal(reaches(&l, n, 4), 100);
		assert_int_equal(leaves(&l, n, 4), 0);
	}
	assert_int_equal(l.local.bytes, 16);
	assert_int_equal(l.unrouted.flows, 0);
	/* Pairs of ports, not of ranks. */
	assert_int_equal(l.nflow, 2 * 3);
	hot = fabric_hottest(&l, 1, false, &n);
	assert_int_equal(n, 9);
	assert_int_equal(hot[0].sum.bytes, 1005);
	free(hot);
	c = fabric_conflicts_of(&l, 1);
	assert_int_equal(c.used, 4);
	assert_int_equal(c.shared, 1);
	assert_int_equal(c.most, 2);
	row = fabric_levels(&l, 1, &n);
	assert_int_equal(n, 3);
	assert_int_equal(row[0].from, 0);
	assert_int_equal(row[0].links, 3);
	assert_int_equal(row[0].used, 2);
	assert_int_equal(row[0].bytes, 1135);
	assert_int_equal(row[0].max_bytes, 1005);
	assert_int_equal(row[0].min_bytes, 0);
	free(row);
	fabric_load_release(&l);
	fabric_hosts_release(&h);
	fabric_release(&f);
}

#define HEAD                                                                                                    \
	"rank,job,pid,device,destination,carrier,context,function,group,phase,region,sent_messages,sent_bytes," \
	"read_messages,read_bytes\r\n"

static int csv_read(struct fabric_load *l, const struct fabric_hosts *h, enum fabric_by by,
		    const char *text)
{
	FILE *in = text_open(text);
	int err = fabric_traffic_read_csv(l, h, by, in, "csv");

	fclose(in);
	return err;
}

TEST(csv)
{
	static const char rows[] = HEAD
		"0,0,9,mlx5_0:1,lid 2,nic,call,\"MPI_Send, \"\"x\"\"\",p2p,one,,1,100,,\r\n"
		"0,0,9,mlx5_0:1,lid 2,nic,background,,,two,,2,10,0,0\r\n"
		"1,0,9,mlx5_0:2,lid 4,nic,call,MPI_Get,rma,one,,0,0,3,1000\r\n" /* read: from LID 4 */
		"0,0,9,eth0,10.0.0.1,socket,call,MPI_Send,p2p,one,,1,5,0,0\r\n"
		"0,0,9,mlx5_0:1,lid 99,nic,call,MPI_Send,p2p,one,,1,6,0,0\r\n"
		"0,0,9,mlx5_0:1,lid 6,nic,call,MPI_Send,p2p,one,,1,0,0,0\r\n";
	static const char unknown[] =
		"sent_of_unknown_size,read_of_unknown_size," HEAD
		"3,4,0,0,9,mlx5_0:1,lid 2,nic,call,MPI_Send,p2p,one,,3,0,4,0\r\n"
		"5,0,0,0,9,eth0,10.0.0.1,socket,call,MPI_Send,p2p,one,,5,0,0,0\r\n";
	static const char *const wrong[] = {
		"a,b\r\n",
		HEAD "0,0,9,mlx5_0:1,lid 2,nic,call,MPI_Send,p2p,one,,1,x,0,0\r\n",
		HEAD "7,0,9,mlx5_0:1,lid 2,nic,call,MPI_Send,p2p,one,,1,1,0,0\r\n",
		HEAD "0,0,9,mlx5_0:1,lid x,nic,call,MPI_Send,p2p,one,,1,1,0,0\r\n",
		HEAD "0,0,9,\"mlx5_0:1,lid 2,nic,call,MPI_Send,p2p,one,,1,1,0,0\r\n",
		HEAD "0,0,9,mlx5_0:9,lid 2,nic,call,MPI_Send,p2p,one,,1,1,0,0\r\n",
	};
	struct fabric_hosts h;
	struct fabric_load l;
	struct fabric f;

	made(&f);
	assert_int_equal(hosts_read(host_table, &f, &h), 0);
	fabric_load_begin(&l, &f);
	assert_int_equal(csv_read(&l, &h, FABRIC_BY_FUNCTION, rows), 0);
	fabric_load_finish(&l);
	assert_int_equal(l.ncontext, 4);
	assert_string_equal(l.context[1], "MPI_Send, \"x\"");
	assert_string_equal(l.context[2], "background");
	assert_string_equal(l.context[3], "MPI_Get");
	assert_int_equal(leaves(&l, 0, 1), 110);
	assert_int_equal(leaves(&l, 1, 1), 100);
	assert_int_equal(leaves(&l, 3, 4), 1000);
	assert_int_equal(reaches(&l, 3, 2), 1000);
	assert_int_equal(l.outside.bytes, 11);
	assert_int_equal(l.outside.flows, 2);
	fabric_load_release(&l);
	fabric_load_begin(&l, &f);
	assert_int_equal(csv_read(&l, &h, FABRIC_BY_FUNCTION, unknown), 0);
	assert_int_equal(l.unknown_messages, 3 + 4);
	fabric_load_release(&l);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		fabric_load_begin(&l, &f);
		assert_int_equal(csv_read(&l, &h, FABRIC_BY_PHASE, wrong[i]), -EBADMSG);
		fabric_load_release(&l);
	}
	fabric_hosts_release(&h);
	fabric_release(&f);
}

TEST(hosts)
{
	static const char *const wrong[] = {"0\n",	 "x h0\n",	"0 nobody\n",
					    "0 h0 99\n", "0 h0 word\n", "0 h0\n0 h1\n"};
	struct fabric_hosts h;
	struct fabric f;

	made(&f);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(hosts_read(wrong[i], &f, &h), -EBADMSG);
		fabric_hosts_release(&h);
	}
	assert_int_equal(hosts_read("1:3 h1\n", &f, &h), 0);
	assert_null(fabric_hosts_find(&h, 0, 3));
	assert_int_equal(fabric_hosts_find(&h, 1, 3)->nnode, 1);
	assert_string_equal(f.node[fabric_hosts_find(&h, 1, 3)->node[0]].host, "h1");
	assert_int_equal(fabric_place_port(&f, fabric_hosts_find(&h, 1, 3), "mlx5_0:2",
					   FABRIC_NONE),
			 fabric_port_by_lid(&f, 0, 2));
	assert_int_equal(fabric_place_port(&f, fabric_hosts_find(&h, 1, 3), "rxe0:2", FABRIC_NONE),
			 fabric_port_by_lid(&f, 0, 2));
	assert_int_equal(fabric_place_port(&f, fabric_hosts_find(&h, 1, 3), NULL, 1), FABRIC_NONE);
	fabric_hosts_release(&h);
	fabric_release(&f);
}

ALL_TESTS(unit_quiet, NULL);
