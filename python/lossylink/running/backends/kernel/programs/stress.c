/*
 * Numbered frames from one host of a guest to the other, as fast as the link takes them, and their account.
 *
 *     stress NEAR FAR FRAMES FRAME_BYTES WINDOW STALL_MS SETTLE_MS      NEAR, FAR: NAMESPACE,INTERFACE,ADDRESS
 *
 * A packet socket of either host, and one loop that waits for the far one. What has come says how far the source may
 * go on: WINDOW frames beyond the highest number that arrived, so that the queue in front of the link never runs dry
 * and never grows beyond that. When nothing comes for STALL_MS, all of a window is lost, and the next one follows. The
 * kernel hands arrivals over in blocks of a ring, with the instant at which each frame came.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

/* IEEE 802: for experiments on one's own network. */
#define TYPE 0x88b5
#define HEADER_BYTES (ETH_HLEN + sizeof(uint64_t))
/* Frames that one system call sends at most. */
#define BATCH 256
/* Frames of a block, and blocks of the ring. */
#define BLOCK_FRAMES 64
#define BLOCKS 16
#define PAGE_BYTES 4096
/* What the kernel keeps beside a frame in a ring, and in its memory for a socket. */
#define RING_BYTES 128
#define SOCKET_BYTES 16384
#define FLUSH_MS 1
#define PROGRESS_FRAMES (1 << 18)
#define NS_PER_SECOND 1000000000ull

struct host {
	char space[64], interface[IF_NAMESIZE];
	unsigned char address[ETH_ALEN];
	int socket, index;
};

/* Parts of all frames by which losses are told (BATCHES of lossylink_core::binomial). */
#define PARTS 64

static struct host near_host, far_host;
static uint64_t frames, window;
static unsigned int frame_bytes;
static int stall_ms, settle_ms;

/* The ring of the far host. */
static unsigned char *ring;
static unsigned int block_bytes, block;

/* The source: the next number, and the number below which frames have come or will not come any more. */
static uint64_t next_number, settled;
static unsigned char (*batch)[];
static struct mmsghdr messages[BATCH];
static struct iovec pieces[BATCH];

/* The account. */
static unsigned char *seen;
static uint64_t highest, received, delivered, reordered, duplicated, altered, stalls;
static uint64_t first_ns, last_ns;

static void fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

static void read_host(struct host *host, const char *text)
{
	unsigned char *a = host->address;

	if (sscanf(text, "%63[^,],%15[^,],%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", host->space, host->interface, a, a + 1, a + 2,
		   a + 3, a + 4, a + 5) != 8) {
		fprintf(stderr, "%s is not NAMESPACE,INTERFACE,ADDRESS\n", text);
		exit(2);
	}
}

/* Opens a packet socket of a host, which takes nothing before it is bound. */
static void open_host(struct host *host)
{
	char name[96];
	int space;

	snprintf(name, sizeof(name), "/run/netns/%s", host->space);
	space = open(name, O_RDONLY | O_CLOEXEC);
	if (space < 0 || setns(space, CLONE_NEWNET))
		fail(name);
	close(space);
	host->socket = socket(AF_PACKET, SOCK_RAW, 0);
	if (host->socket < 0)
		fail("packet socket");
	host->index = if_nametoindex(host->interface);
	if (!host->index)
		fail(host->interface);
}

static void set(int socket, int level, int option, const void *value, socklen_t bytes, const char *what)
{
	if (setsockopt(socket, level, option, value, bytes))
		fail(what);
}

static void open_ring(void)
{
	struct sockaddr_ll at = { .sll_family = AF_PACKET, .sll_protocol = htons(TYPE), .sll_ifindex = far_host.index };
	struct tpacket_req3 request = { .tp_block_nr = BLOCKS, .tp_frame_nr = BLOCKS, .tp_retire_blk_tov = FLUSH_MS };
	int version = TPACKET_V3;

	block_bytes = (BLOCK_FRAMES * (frame_bytes + RING_BYTES) + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
	request.tp_block_size = request.tp_frame_size = block_bytes;
	set(far_host.socket, SOL_PACKET, PACKET_VERSION, &version, sizeof(version), "version of the ring");
	set(far_host.socket, SOL_PACKET, PACKET_RX_RING, &request, sizeof(request), "ring");
	ring = mmap(NULL, (size_t)BLOCKS * block_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, far_host.socket, 0);
	if (ring == MAP_FAILED)
		fail("memory of the ring");
	if (bind(far_host.socket, (struct sockaddr *)&at, sizeof(at)))
		fail("bind at the far host");
}

/* Every byte of a frame is known: its place in the frame decides it, but for the number. */
static void prepare(unsigned char *frame)
{
	static const uint16_t type = TYPE;
	unsigned int i;

	memcpy(frame, far_host.address, ETH_ALEN);
	memcpy(frame + ETH_ALEN, near_host.address, ETH_ALEN);
	frame[12] = type >> 8;
	frame[13] = type & 0xff;
	for (i = HEADER_BYTES; i < frame_bytes; i++)
		frame[i] = i * 167 + (i >> 8);
}

static void open_source(void)
{
	static struct sockaddr_ll to = { .sll_family = AF_PACKET, .sll_halen = ETH_ALEN };
	int room = window * SOCKET_BYTES < INT32_MAX / 2 ? window * SOCKET_BYTES : INT32_MAX / 2;
	int yes = 1, i;

	to.sll_protocol = htons(TYPE);
	to.sll_ifindex = near_host.index;
	memcpy(to.sll_addr, far_host.address, ETH_ALEN);
	set(near_host.socket, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room), "buffer of the source");
	set(near_host.socket, SOL_PACKET, PACKET_QDISC_BYPASS, &yes, sizeof(yes), "way to the interface");
	batch = malloc((size_t)BATCH * frame_bytes);
	seen = calloc(frames / 8 + 1, 1);
	if (!batch || !seen)
		fail("memory of the account");
	for (i = 0; i < BATCH; i++) {
		pieces[i] = (struct iovec){ .iov_base = *batch + (size_t)i * frame_bytes, .iov_len = frame_bytes };
		messages[i].msg_hdr = (struct msghdr){
			.msg_iov = pieces + i, .msg_iovlen = 1, .msg_name = &to, .msg_namelen = sizeof(to),
		};
		prepare(pieces[i].iov_base);
	}
}

/* Sends what the window allows; blocks if the socket's buffer is full. */
static void send_frames(void)
{
	while (next_number < frames && next_number - settled < window) {
		uint64_t count = window - (next_number - settled);
		int sent, i;

		count = count < BATCH ? count : BATCH;
		count = count < frames - next_number ? count : frames - next_number;
		for (i = 0; i < (int)count; i++) {
			uint64_t number = next_number + i;

			memcpy((unsigned char *)pieces[i].iov_base + ETH_HLEN, &number, sizeof(number));
		}
		sent = sendmmsg(near_host.socket, messages, count, 0);
		if (sent < 0)
			fail("send");
		for (i = 0; i < sent; i++, next_number++) {
			if (next_number % PROGRESS_FRAMES == 0 && next_number > 0)
				printf("sent %llu\n", (unsigned long long)next_number);
		}
		fflush(stdout);
	}
}

static void take_frame(const unsigned char *frame, unsigned int bytes, uint64_t at_ns)
{
	uint64_t number;

	received++;
	memcpy(&number, frame + ETH_HLEN, sizeof(number));
	if (bytes != frame_bytes || number >= next_number || memcmp(frame, *batch, ETH_HLEN) ||
	    memcmp(frame + HEADER_BYTES, *batch + HEADER_BYTES, frame_bytes - HEADER_BYTES)) {
		altered++;
		return;
	}
	last_ns = at_ns;
	if (!first_ns)
		first_ns = at_ns;
	if (seen[number / 8] >> number % 8 & 1) {
		duplicated++;
		return;
	}
	seen[number / 8] |= 1 << number % 8;
	delivered++;
	if (number < highest)
		reordered++;
	else
		highest = number + 1;
}

/* Takes the blocks that the kernel is done with; whether there was one. */
static int take_blocks(void)
{
	int any = 0;

	for (;; block = (block + 1) % BLOCKS, any = 1) {
		struct tpacket_block_desc *desc = (void *)(ring + (size_t)block * block_bytes);
		struct tpacket3_hdr *frame = (void *)((unsigned char *)desc + desc->hdr.bh1.offset_to_first_pkt);
		unsigned int left;

		if (!(__atomic_load_n(&desc->hdr.bh1.block_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER))
			return any;
		for (left = desc->hdr.bh1.num_pkts; left; left--) {
			take_frame((unsigned char *)frame + frame->tp_mac, frame->tp_len,
				   frame->tp_sec * NS_PER_SECOND + frame->tp_nsec);
			frame = (void *)((unsigned char *)frame + frame->tp_next_offset);
		}
		__atomic_store_n(&desc->hdr.bh1.block_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
	}
}

static void run(void)
{
	struct pollfd arrivals = { .fd = far_host.socket, .events = POLLIN };

	for (;;) {
		int is_over, ready;

		send_frames();
		is_over = next_number == frames;
		ready = poll(&arrivals, 1, is_over ? settle_ms : stall_ms);
		if (ready < 0 && errno != EINTR)
			fail("wait for arrivals");
		if (take_blocks()) {
			settled = highest > settled ? highest : settled;
		} else if (ready == 0) {
			if (is_over)
				return;
			stalls++;
			settled = next_number;
		}
	}
}

/* How many frames never came, and how many were sent, in each of as many parts of all as the simulator has. */
static void print_losses(void)
{
	uint64_t parts = next_number < PARTS ? next_number : PARTS, part, number = 0;

	for (part = 0; part < parts; part++) {
		uint64_t end = (part + 1) * next_number / parts, begin = number, lost = 0;

		for (; number < end; number++)
			lost += !(seen[number / 8] >> number % 8 & 1);
		printf("%s[%llu, %llu]", part ? ", " : "", (unsigned long long)lost, (unsigned long long)(end - begin));
	}
}

int main(int count, char **words)
{
	struct tpacket_stats_v3 ring_stats;
	socklen_t bytes = sizeof(ring_stats);

	if (count != 8) {
		fprintf(stderr, "usage: stress NEAR FAR FRAMES FRAME_BYTES WINDOW STALL_MS SETTLE_MS\n");
		return 2;
	}
	read_host(&near_host, words[1]);
	read_host(&far_host, words[2]);
	frames = strtoull(words[3], NULL, 10);
	frame_bytes = strtoul(words[4], NULL, 10);
	window = strtoull(words[5], NULL, 10);
	stall_ms = atoi(words[6]);
	settle_ms = atoi(words[7]);
	open_host(&near_host);
	open_host(&far_host);
	open_ring();
	open_source();
	run();
	if (getsockopt(far_host.socket, SOL_PACKET, PACKET_STATISTICS, &ring_stats, &bytes))
		fail("account of the ring");
	printf("account {\"sent\": %llu, \"received\": %llu, \"delivered\": %llu, \"reordered\": %llu, "
	       "\"duplicated\": %llu, \"altered\": %llu, \"stalls\": %llu, \"missed\": %u, \"span_ns\": %llu, \"lost_by_batch\": [",
	       (unsigned long long)next_number, (unsigned long long)received, (unsigned long long)delivered,
	       (unsigned long long)reordered, (unsigned long long)duplicated, (unsigned long long)altered,
	       (unsigned long long)stalls, ring_stats.tp_drops, (unsigned long long)(last_ns - first_ns));
	print_losses();
	printf("]}\n");
	return 0;
}
