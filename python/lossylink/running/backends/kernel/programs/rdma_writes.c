// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * RDMA writes one after another between the two interfaces of a guest, each timed from its posting to its completion.
 *
 * Both ends of the connection are here: a responder of writes has nothing to do but to own the memory. Everything waits
 * in the kernel, since virtual time does not pass for a program that polls. `struct order` says what the program takes.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#define PORT 1
#define PSN_MASK 0xffffffu
/* A line for each so many writes that are done. */
#define WORD_EVERY 50

/* What the command line asks for. */
struct order {
	const char *devices[2];
	const char *addresses[2];
	uint64_t bytes;
	uint32_t mtu_bytes;
	/* The local ACK timer is 4.096 us times two to the power of this. */
	uint8_t timeout;
	uint8_t retries;
	/* A file with a line for each write: how long to rest before it, and what the interface adds to it, in ns. */
	const char *plan;
	/* A file for the results: nanoseconds of each write, or "failed". */
	const char *results;
};

/* One end of the connection. */
struct end {
	struct ibv_context *context;
	struct ibv_comp_channel *channel;
	struct ibv_cq *completions;
	struct ibv_mr *region;
	struct ibv_qp *pair;
	union ibv_gid gid;
	int gid_index;
};

static void fail(const char *what)
{
	fprintf(stderr, "rdma_writes: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void *needed(void *pointer, const char *what)
{
	if (!pointer)
		fail(what);
	return pointer;
}

static void check(int error, const char *what)
{
	if (error) {
		if (error > 0)
			errno = error;
		fail(what);
	}
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void sleep_until(int64_t at_ns)
{
	const struct timespec at = { .tv_sec = at_ns / 1000000000, .tv_nsec = at_ns % 1000000000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
		;
}

static struct ibv_context *open_device(const char *name)
{
	struct ibv_device **devices = needed(ibv_get_device_list(NULL), "list the RDMA devices");
	struct ibv_context *context = NULL;
	int i;

	for (i = 0; devices[i] && !context; i++)
		if (!strcmp(ibv_get_device_name(devices[i]), name))
			context = needed(ibv_open_device(devices[i]), name);
	ibv_free_device_list(devices);
	if (!context)
		errno = ENODEV;
	return needed(context, name);
}

/* An interface knows its IPv4 address as ::ffff:a.b.c.d. */
static void find_gid(struct end *end, const char *address)
{
	union ibv_gid wanted = { .raw = { [10] = 0xff, [11] = 0xff } };
	struct ibv_port_attr port;

	if (inet_pton(AF_INET, address, &wanted.raw[12]) != 1)
		errno = EINVAL, fail(address);
	check(ibv_query_port(end->context, PORT, &port), "query the port");
	for (end->gid_index = 0; end->gid_index < port.gid_tbl_len; end->gid_index++)
		if (!ibv_query_gid(end->context, PORT, end->gid_index, &end->gid) &&
		    !memcmp(&end->gid, &wanted, sizeof(wanted)))
			return;
	errno = EADDRNOTAVAIL;
	fail(address);
}

static void open_end(struct end *end, const struct order *order, int side)
{
	const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	/* Room for a message of no bytes, too. */
	void *memory = needed(calloc(1, order->bytes + 1), "take memory");
	struct ibv_qp_init_attr attributes = {
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};
	struct ibv_pd *domain;

	end->context = open_device(order->devices[side]);
	find_gid(end, order->addresses[side]);
	domain = needed(ibv_alloc_pd(end->context), "make a protection domain");
	end->region = needed(ibv_reg_mr(domain, memory, order->bytes + 1, access), "register memory");
	end->channel = needed(ibv_create_comp_channel(end->context), "make a completion channel");
	end->completions = needed(ibv_create_cq(end->context, 2, NULL, end->channel, 0), "make a completion queue");
	attributes.send_cq = attributes.recv_cq = end->completions;
	end->pair = needed(ibv_create_qp(domain, &attributes), "make a queue pair");
}

static enum ibv_mtu mtu_of(uint32_t bytes)
{
	enum ibv_mtu mtu = IBV_MTU_256;

	for (; bytes > 256; bytes /= 2)
		mtu++;
	return mtu;
}

/* Takes a queue pair from whatever state to the one in which it sends and receives. */
static void prepare(struct end *end, const struct end *peer, const struct order *order, uint32_t psn)
{
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };
	struct ibv_qp_attr init = {
		.qp_state = IBV_QPS_INIT, .port_num = PORT, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
	struct ibv_qp_attr receive = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = mtu_of(order->mtu_bytes),
		.dest_qp_num = peer->pair->qp_num,
		.rq_psn = psn,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.ah_attr = {
			.is_global = 1,
			.port_num = PORT,
			.grh = { .dgid = peer->gid, .sgid_index = end->gid_index, .hop_limit = 64 },
		},
	};
	struct ibv_qp_attr send = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = psn,
		.timeout = order->timeout,
		.retry_cnt = order->retries,
		.rnr_retry = 7,
		.max_rd_atomic = 1,
	};

	check(ibv_modify_qp(end->pair, &reset, IBV_QP_STATE), "reset a queue pair");
	check(ibv_modify_qp(end->pair, &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
	      "prepare a queue pair");
	check(ibv_modify_qp(end->pair, &receive,
			    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				    IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
	      "let a queue pair receive");
	check(ibv_modify_qp(end->pair, &send,
			    IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				    IBV_QP_MAX_QP_RD_ATOMIC),
	      "let a queue pair send");
}

/* The number of the first packet of a write tells which write it is, after a new connection, too. */
static void connect_ends(struct end ends[2], const struct order *order, uint64_t write)
{
	uint64_t packets = order->bytes ? (order->bytes + order->mtu_bytes - 1) / order->mtu_bytes : 1;
	uint32_t psn = write * packets & PSN_MASK;

	prepare(&ends[0], &ends[1], order, psn);
	prepare(&ends[1], &ends[0], order, psn);
}

static void post(struct end ends[2], const struct order *order)
{
	struct ibv_sge piece = {
		.addr = (uintptr_t)ends[0].region->addr, .length = order->bytes, .lkey = ends[0].region->lkey,
	};
	struct ibv_send_wr write = { .sg_list = &piece, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE }, *bad;

	write.wr.rdma.remote_addr = (uintptr_t)ends[1].region->addr;
	write.wr.rdma.rkey = ends[1].region->rkey;
	check(ibv_post_send(ends[0].pair, &write, &bad), "post a write");
}

/* Waits for the event of a completion, and returns whether the write has succeeded. */
static int completes(struct end *end)
{
	struct ibv_cq *queue;
	struct ibv_wc completion;
	void *unused;

	check(ibv_get_cq_event(end->channel, &queue, &unused), "wait for a completion");
	ibv_ack_cq_events(queue, 1);
	if (ibv_poll_cq(queue, 1, &completion) != 1)
		errno = ENOMSG, fail("take a completion");
	return completion.status == IBV_WC_SUCCESS;
}

static void write_all(struct end ends[2], const struct order *order)
{
	FILE *plan = needed(fopen(order->plan, "r"), order->plan);
	FILE *results = needed(fopen(order->results, "w"), order->results);
	long long rest_ns, adds_ns;
	int is_connected = 0;
	uint64_t done = 0;

	while (fscanf(plan, "%lld %lld", &rest_ns, &adds_ns) == 2) {
		int64_t posted_ns;

		sleep_until(now_ns() + rest_ns);
		if (!is_connected)
			connect_ends(ends, order, done);
		check(ibv_req_notify_cq(ends[0].completions, 0), "ask for an event");
		posted_ns = now_ns();
		if (adds_ns)
			sleep_until(posted_ns + adds_ns);
		post(ends, order);
		is_connected = completes(&ends[0]);
		if (is_connected)
			fprintf(results, "%lld\n", (long long)(now_ns() - posted_ns));
		else
			fprintf(results, "failed\n");
		if (++done % WORD_EVERY == 0) {
			printf("done %llu\n", (unsigned long long)done);
			fflush(stdout);
		}
	}
	fclose(plan);
	check(fclose(results), order->results);
}

int main(int count, char **words)
{
	struct end ends[2] = {};
	struct order order;

	if (count != 11) {
		fprintf(stderr, "rdma_writes: 10 arguments, not %d\n", count - 1);
		return 2;
	}
	order = (struct order){
		.devices = { words[1], words[2] },
		.addresses = { words[3], words[4] },
		.bytes = strtoull(words[5], NULL, 10),
		.mtu_bytes = strtoul(words[6], NULL, 10),
		.timeout = strtoul(words[7], NULL, 10),
		.retries = strtoul(words[8], NULL, 10),
		.plan = words[9],
		.results = words[10],
	};
	/* Sleeps end when they are due, and not up to 50 us later. */
	prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
	open_end(&ends[0], &order, 0);
	open_end(&ends[1], &order, 1);
	write_all(ends, &order);
	return 0;
}
