/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Two processes that post to each other by libfabric's calls for lists of buffers, and keep books:
 * ofi_ends PROVIDER FORMAT ROUNDS. FORMAT is that of completions: context, msg, data or tagged.
 * Each process prints "PID name function count bytes" for its calls, "PID completions - count
 * bytes" for the completions that it read, with the bytes as far as entries have them, and "PID
 * address TEXT".
 */
#define EXPECT_WITHOUT_MPI
#include "../expect.h"

#include <arpa/inet.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <sys/wait.h>

#define PIECES 3
#define BUFFER_BYTES 4096
#define NAME_BYTES 256
#define REMOTE_AT (BUFFER_BYTES / 2) /* target of the other side's writes */
#define ENTRIES 5

enum { SENDV, RECVV, SENDMSG, RECVMSG, TSENDV, TRECVV, TSENDMSG };
enum { TRECVMSG = 7, WRITEV, READMSG, CALLS };

static const char *const call_names[] = {"fi_sendv",  "fi_recvv",  "fi_sendmsg",  "fi_recvmsg",
					 "fi_tsendv", "fi_trecvv", "fi_tsendmsg", "fi_trecvmsg",
					 "fi_writev", "fi_readmsg"};

/* Data that each side sends to the other. */
struct hello {
	char name[NAME_BYTES];
	size_t name_bytes;
	uint64_t addr, key;
};

struct side {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_cq *cq;
	struct fid_av *av;
	struct fid_ep *ep;
	struct fid_mr *mr;
	enum fi_cq_format format;
	char buffer[BUFFER_BYTES];
	struct iovec iov[PIECES];
	void *desc[PIECES];
	fi_addr_t to;
	struct hello own, other;
	unsigned int posted, done;
	struct {
		unsigned long count, bytes;
	} call[CALLS], completions;
};

static struct fi_info *info_get(const char *provider)
{
	struct fi_info *hints = fi_allocinfo(), *info;

	hints->caps = FI_MSG | FI_TAGGED | FI_RMA;
	hints->mode = FI_CONTEXT;
	hints->ep_attr->type = FI_EP_RDM;
	hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED |
				      FI_MR_PROV_KEY;
	hints->domain_attr->threading = FI_THREAD_SAFE;
	hints->fabric_attr->prov_name = strdup(provider);
	MUST(!fi_getinfo(FI_VERSION(1, 10), NULL, NULL, 0, hints, &info));
	fi_freeinfo(hints);
	return info;
}

static void side_open(struct side *s, const char *provider)
{
	struct fi_cq_attr cq_attr = {.format = s->format, .size = 1024};
	struct fi_av_attr av_attr = {.type = FI_AV_TABLE};

	s->info = info_get(provider);
	MUST(!fi_fabric(s->info->fabric_attr, &s->fabric, NULL));
	MUST(!fi_domain(s->fabric, s->info, &s->domain, NULL));
	MUST(!fi_cq_open(s->domain, &cq_attr, &s->cq, NULL));
	MUST(!fi_av_open(s->domain, &av_attr, &s->av, NULL));
	MUST(!fi_endpoint(s->domain, s->info, &s->ep, NULL));
	MUST(!fi_ep_bind(s->ep, &s->av->fid, 0));
	MUST(!fi_ep_bind(s->ep, &s->cq->fid, FI_TRANSMIT | FI_RECV));
	MUST(!fi_enable(s->ep));
	MUST(!fi_mr_reg(s->domain, s->buffer, sizeof(s->buffer),
			FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE,
			0, (uint64_t)getpid(), 0, &s->mr, NULL));
	s->own.name_bytes = sizeof(s->own.name);
	MUST(!fi_getname(&s->ep->fid, s->own.name, &s->own.name_bytes));
	s->own.key = fi_mr_key(s->mr);
	s->own.addr = REMOTE_AT;
	if (s->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR)
		s->own.addr += (uint64_t)(uintptr_t)s->buffer;
	for (int i = 0; i < PIECES; i++)
		s->desc[i] = fi_mr_desc(s->mr);
}

static void sides_meet(struct side *s, int to)
{
	MUST(write(to, &s->own, sizeof(s->own)) == sizeof(s->own) &&
	     read(to, &s->other, sizeof(s->other)) == sizeof(s->other) &&
	     fi_av_insert(s->av, s->other.name, 1, &s->to, 0, NULL) == 1);
}

/* ---- posts ---- */

/* Makes pieces of different lengths with a given total. */
static void pieces_make(struct side *s, size_t pieces, size_t bytes)
{
	size_t at = 0;

	for (size_t i = 0; i < pieces; i++) {
		s->iov[i].iov_base = s->buffer + at;
		s->iov[i].iov_len = i + 1 < pieces ? bytes / (pieces + i) : bytes - at;
		at += s->iov[i].iov_len;
	}
}

static void completions_read(struct side *s)
{
	static const size_t entry_bytes[] = {
		[FI_CQ_FORMAT_CONTEXT] = sizeof(struct fi_cq_entry),
		[FI_CQ_FORMAT_MSG] = sizeof(struct fi_cq_msg_entry),
		[FI_CQ_FORMAT_DATA] = sizeof(struct fi_cq_data_entry),
		[FI_CQ_FORMAT_TAGGED] = sizeof(struct fi_cq_tagged_entry)};
	char entries[ENTRIES * sizeof(struct fi_cq_tagged_entry)];
	struct fi_cq_msg_entry e;
	ssize_t n = fi_cq_read(s->cq, entries, ENTRIES);

	if (n == -FI_EAGAIN)
		return;
	MUST(n > 0);
	s->done += n;
	s->completions.count += n;
	for (ssize_t i = 0; i < n && s->format != FI_CQ_FORMAT_CONTEXT; i++) {
		memcpy(&e, entries + i * entry_bytes[s->format], sizeof(e));
		s->completions.bytes += e.flags & FI_RECV ? e.len : 0;
	}
}

static ssize_t post_once(struct side *s, int call, size_t n, void *context)
{
	struct fi_rma_iov rma = {.addr = s->other.addr, .len = 0, .key = s->other.key};
	struct fi_msg_tagged tagged = {s->iov, s->desc, n, s->to, 7, 0, context, 0};
	struct fi_msg msg = {s->iov, s->desc, n, s->to, context, 0};
	struct fi_msg_rma far = {s->iov, s->desc, n, s->to, &rma, 1, context, 0};

	for (size_t i = 0; i < n; i++)
		rma.len += s->iov[i].iov_len;
	switch (call) {
	case SENDV:
		return fi_sendv(s->ep, s->iov, s->desc, n, s->to, context);
	case RECVV:
		return fi_recvv(s->ep, s->iov, s->desc, n, s->to, context);
	case SENDMSG:
		return fi_sendmsg(s->ep, &msg, FI_COMPLETION);
	case RECVMSG:
		return fi_recvmsg(s->ep, &msg, FI_COMPLETION);
	case TSENDV:
		return fi_tsendv(s->ep, s->iov, s->desc, n, s->to, 7, context);
	case TRECVV:
		return fi_trecvv(s->ep, s->iov, s->desc, n, s->to, 7, 0, context);
	case TSENDMSG:
		return fi_tsendmsg(s->ep, &tagged, FI_COMPLETION);
	case TRECVMSG:
		return fi_trecvmsg(s->ep, &tagged, FI_COMPLETION);
	case WRITEV:
		return fi_writev(s->ep, s->iov, s->desc, n, s->to, s->other.addr, s->other.key,
				 context);
	default:
		return fi_readmsg(s->ep, &far, FI_COMPLETION);
	}
}

static void post(struct side *s, int call, size_t pieces, size_t bytes)
{
	static struct fi_context contexts[2 * CALLS];
	ssize_t err;

	pieces_make(s, pieces, bytes);
	while ((err = post_once(s, call, pieces, &contexts[call])) == -FI_EAGAIN)
		completions_read(s);
	MUST(!err);
	s->posted++;
	s->call[call].count++;
	s->call[call].bytes += bytes;
}

/* Waits until both sides have finished the round. Meanwhile each makes progress for the other. */
static void round_end(struct side *s, int to)
{
	char byte = 0;

	MUST(write(to, &byte, 1) == 1);
	while (recv(to, &byte, 1, MSG_DONTWAIT) != 1)
		completions_read(s);
}

static void rounds(struct side *s, int to, int n)
{
	static const struct {
		int first, second;
		size_t pieces, bytes, second_bytes;
	} pairs[] = {{RECVV, SENDV, 2, 211, 211},
		     {RECVMSG, SENDMSG, 3, 1009, 1009},
		     {TRECVV, TSENDV, 2, 307, 307},
		     {TRECVMSG, TSENDMSG, 3, 503, 503},
		     {WRITEV, READMSG, 2, 101, 97}};

	for (int i = 0; i < n; i++) {
		for (size_t p = 0; p < ARRAY_SIZE(pairs); p++) {
			post(s, pairs[p].first, pairs[p].pieces, pairs[p].bytes);
			post(s, pairs[p].second, 5 - pairs[p].pieces, pairs[p].second_bytes);
			while (s->done < s->posted)
				completions_read(s);
		}
		round_end(s, to);
	}
}

static void books_print(const struct side *s)
{
	struct sockaddr_in in;
	char text[INET_ADDRSTRLEN];

	for (int i = 0; i < CALLS; i++)
		printf("%d %s %lu %lu\n", getpid(), call_names[i], s->call[i].count,
		       s->call[i].bytes);
	printf("%d completions %lu %lu\n", getpid(), s->completions.count, s->completions.bytes);
	memcpy(&in, s->own.name, sizeof(in));
	if (in.sin_family == AF_INET)
		printf("%d address %s:%d\n", getpid(),
		       inet_ntop(AF_INET, &in.sin_addr, text, sizeof(text)), ntohs(in.sin_port));
	else
		printf("%d address %s\n", getpid(), s->own.name);
}

static int side_run(const char *provider, const char *format, int n, int to)
{
	static const char *const formats[] = {"unspec", "context", "msg", "data", "tagged"};
	static struct side s;

	while (s.format < 4 && strcmp(formats[s.format], format))
		s.format++;
	side_open(&s, provider);
	sides_meet(&s, to);
	rounds(&s, to, n);
	books_print(&s);
	fi_close(&s.ep->fid);
	return 0;
}

int main(int argc, char **argv)
{
	int pair[2], status;
	pid_t child;

	if (argc != 4 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		return 2;
	child = fork();
	if (child <= 0)
		return child ? 1 : side_run(argv[1], argv[2], atoi(argv[3]), pair[1]);
	if (side_run(argv[1], argv[2], atoi(argv[3]), pair[0]))
		return 1;
	return waitpid(child, &status, 0) == child && !status ? 0 : 1;
}
