// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Two network interfaces, and lossylink's simulated path between them.
 *
 * What one interface sends goes into the path, which says when it comes out at the other one. The path lives in
 * a library of the host (lossylink_user.c); it counts in the kernel's own time, which is virtual.
 */
#define pr_fmt(fmt) "lossylink: " fmt

#include <linux/etherdevice.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/reboot.h>
#include <linux/time-internal.h>
#include <linux/xarray.h>
#include <net/inet_ecn.h>
#include "lossylink.h"

#define SIDES 2
/* The path refers to a frame by its number here. */
#define NO_EVENT U64_MAX

struct side {
	struct net_device *dev;
	struct napi_struct napi;
	/* Frames that have come out of the path. */
	struct sk_buff_head arrived;
	/* Frames that the interface has not sent to their ends: their memory is charged to a socket. */
	struct sk_buff_head leaving;
};

struct frame_state {
	u64 leaves_at;
	u64 number;
};

#define STATE(skb) ((struct frame_state *)(skb)->cb)

static char *library = "", *configuration = "";
module_param(library, charp, 0444);
module_param(configuration, charp, 0444);

static struct side sides[SIDES];
static struct hrtimer timer;
static void lossylink_work(struct tasklet_struct *unused);
static DECLARE_TASKLET(work, lossylink_work);
/* When the path was last asked for what has come out. */
static u64 asked_ns;
static DEFINE_XARRAY(under_way);
static u64 first_number, next_number;
static u64 lost;
/* Frames sent so long ago have been lost. */
static u64 patience_ns;

/*
 * System calls since anybody slept. Work takes no time here, so a program that polls would wait for ever: the more
 * calls there were, the more time each one takes.
 */
static unsigned long awake_calls;
/* Read by the thread in lossylink_user.c that tells the host how far the guest is. */
unsigned long lossylink_sleeps;
unsigned long long lossylink_now_ns;
char lossylink_running[TASK_COMM_LEN];
#define FREE_CALLS 128
#define SLOWEST_CALL_NS 10000UL
/* What happens during a step waits for its end. */
#define STEP_NS 4UL
#define CALLS_BEFORE_WORD (1UL << 20)

void lossylink_after_syscall(void)
{
	unsigned long cost_ns;

	memcpy(lossylink_running, current->comm, TASK_COMM_LEN);
	awake_calls++;
	if (time_travel_mode != TT_MODE_INFCPU)
		return;
	cost_ns = min(awake_calls / FREE_CALLS, SLOWEST_CALL_NS);
	for (; cost_ns; cost_ns -= min(cost_ns, STEP_NS))
		ndelay(min(cost_ns, STEP_NS));
	if (awake_calls == CALLS_BEFORE_WORD)
		pr_warn("%s (process %d) polls and never sleeps\n", current->comm, current->pid);
}

void lossylink_before_sleep(void)
{
	awake_calls = 0;
	lossylink_sleeps++;
}

static u64 now_ns(void)
{
	lossylink_now_ns = ktime_get_ns();
	return lossylink_now_ns;
}

static void lossylink_set_timer(void)
{
	u64 at = lossylink_next();
	int i;

	for (i = 0; i < SIDES; i++) {
		struct sk_buff *skb = skb_peek(&sides[i].leaving);

		if (skb)
			at = min(at, STATE(skb)->leaves_at);
	}
	if (at != NO_EVENT)
		hrtimer_start(&timer, ns_to_ktime(at), HRTIMER_MODE_ABS_HARD);
}

/* An interface is done with frames: their sockets may send more. */
static void lossylink_complete(struct side *side, u64 now)
{
	struct sk_buff *skb;

	while ((skb = skb_peek(&side->leaving)) && STATE(skb)->leaves_at <= now) {
		__skb_unlink(skb, &side->leaving);
		consume_skb(skb);
	}
}

/* Forgets frames that never came out. */
static void lossylink_forget(u64 now)
{
	while (first_number < next_number) {
		struct sk_buff *skb = xa_load(&under_way, first_number);

		if (skb) {
			if (STATE(skb)->leaves_at + patience_ns > now)
				return;
			xa_erase(&under_way, first_number);
			kfree_skb(skb);
			lost++;
		}
		first_number++;
	}
}

static netdev_tx_t lossylink_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct side *side = *(struct side **)netdev_priv(dev);
	u64 now = now_ns(), leaves_at;
	struct sk_buff *copy;

	/*
	 * One of the two stays with the socket until the interface has sent it. The other one has a head of its own: a host
	 * that merges what arrives writes into it, and the sender may have to send what it has again.
	 */
	copy = pskb_copy(skb, GFP_ATOMIC);
	if (!copy || xa_err(xa_store(&under_way, next_number, copy, GFP_ATOMIC))) {
		kfree_skb(copy);
		dev->stats.tx_dropped++;
		kfree_skb(skb);
		return NETDEV_TX_OK;
	}
	leaves_at = lossylink_send(side - sides, now, next_number, skb->data, skb_headlen(skb), skb->len);
	STATE(copy)->leaves_at = leaves_at;
	next_number++;
	dev->stats.tx_packets++;
	dev->stats.tx_bytes += skb->len;
	if (leaves_at > now) {
		STATE(skb)->leaves_at = leaves_at;
		__skb_queue_tail(&side->leaving, skb);
	} else {
		consume_skb(skb);
	}
	lossylink_forget(now);
	/* Time passes for a thread of the kernel that sends many frames: what has come out meanwhile does not wait for it. */
	if (now == asked_ns)
		lossylink_set_timer();
	else
		tasklet_hi_schedule(&work);
	return NETDEV_TX_OK;
}

static void lossylink_arrive(struct lossylink_arrival *arrival)
{
	struct side *side = &sides[arrival->side];
	struct sk_buff *skb = xa_erase(&under_way, arrival->number);

	if (WARN_ON_ONCE(!skb))
		return;
	if (arrival->marked) {
		skb_set_network_header(skb, ETH_HLEN);
		skb->protocol = eth_hdr(skb)->h_proto;
		INET_ECN_set_ce(skb);
	}
	__skb_queue_tail(&side->arrived, skb);
	napi_schedule(&side->napi);
}

static void lossylink_work(struct tasklet_struct *unused)
{
	struct lossylink_arrival arrival;
	u64 now = now_ns();
	int i;

	asked_ns = now;
	while (lossylink_take(now, &arrival))
		lossylink_arrive(&arrival);
	for (i = 0; i < SIDES; i++)
		lossylink_complete(&sides[i], now);
	lossylink_set_timer();
}

/*
 * An interrupt, as that of any interface. A timer of the kind that TCP's own are would take those along whose time has
 * come but that may still wait: a receiver's summary of duplicate acknowledgements would leave with the next frame.
 */
static enum hrtimer_restart lossylink_due(struct hrtimer *unused)
{
	tasklet_hi_schedule(&work);
	return HRTIMER_NORESTART;
}

static int lossylink_poll(struct napi_struct *napi, int budget)
{
	struct side *side = container_of(napi, struct side, napi);
	struct net_device *dev = side->dev;
	struct sk_buff *skb;
	int done = 0;

	while (done < budget && (skb = __skb_dequeue(&side->arrived))) {
		skb_scrub_packet(skb, true);
		memset(skb->cb, 0, sizeof(skb->cb));
		dev->stats.rx_packets++;
		dev->stats.rx_bytes += skb->len;
		skb->protocol = eth_type_trans(skb, dev);
		napi_gro_receive(napi, skb);
		done++;
	}
	if (done < budget)
		napi_complete_done(napi, done);
	return done;
}

static int lossylink_dev_open(struct net_device *dev)
{
	struct side *side = *(struct side **)netdev_priv(dev);

	napi_enable(&side->napi);
	netif_start_queue(dev);
	return 0;
}

static int lossylink_dev_stop(struct net_device *dev)
{
	struct side *side = *(struct side **)netdev_priv(dev);

	netif_stop_queue(dev);
	napi_disable(&side->napi);
	__skb_queue_purge(&side->arrived);
	return 0;
}

static const struct net_device_ops operations = {
	.ndo_open = lossylink_dev_open,
	.ndo_stop = lossylink_dev_stop,
	.ndo_start_xmit = lossylink_xmit,
	.ndo_set_mac_address = eth_mac_addr,
};

static int lossylink_make(int i)
{
	struct side *side = &sides[i];
	struct net_device *dev = alloc_etherdev(sizeof(struct side *));
	int err;

	if (!dev)
		return -ENOMEM;
	*(struct side **)netdev_priv(dev) = side;
	side->dev = dev;
	__skb_queue_head_init(&side->arrived);
	__skb_queue_head_init(&side->leaving);
	snprintf(dev->name, IFNAMSIZ, "lossy%d", i);
	dev->netdev_ops = &operations;
	dev->max_mtu = ETH_MAX_MTU;
	/* Nothing in between harms a byte: checksums cost no time. */
	dev->features = dev->hw_features = NETIF_F_SG | NETIF_F_HW_CSUM | NETIF_F_RXCSUM | NETIF_F_HIGHDMA;
	eth_hw_addr_random(dev);
	netif_napi_add(dev, &side->napi, lossylink_poll);
	err = register_netdev(dev);
	if (err)
		free_netdev(dev);
	return err;
}

static int at_end(struct notifier_block *unused, unsigned long action, void *data)
{
	lossylink_close(now_ns());
	return NOTIFY_DONE;
}

static struct notifier_block end = { .notifier_call = at_end };

/* The first process may not end, and there may be no program that switches the machine off. */
static int power_off(const char *value, const struct kernel_param *unused)
{
	kernel_power_off();
	return 0;
}

static const struct kernel_param_ops power_off_ops = { .set = power_off };
module_param_cb(power_off, &power_off_ops, NULL, 0200);

static int __init lossylink_init(void)
{
	int i, err;

	if (!*library)
		return 0;
	lossylink_open(library, configuration, &patience_ns);
	hrtimer_init(&timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_HARD);
	timer.function = lossylink_due;
	for (i = 0; i < SIDES; i++) {
		err = lossylink_make(i);
		if (err)
			return err;
	}
	register_reboot_notifier(&end);
	return 0;
}
device_initcall(lossylink_init);
