/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef LOSSYLINK_H
#define LOSSYLINK_H

struct lossylink_arrival {
	unsigned long long number;
	unsigned int side;
	unsigned int marked;
};

void lossylink_open(const char *library, const char *configuration, unsigned long long *patience_ns);
unsigned long long lossylink_send(unsigned int side, unsigned long long now_ns, unsigned long long number,
				  const void *head, unsigned int head_bytes, unsigned int bytes);
unsigned long long lossylink_next(void);
int lossylink_take(unsigned long long now_ns, struct lossylink_arrival *arrival);
void lossylink_close(unsigned long long now_ns);

extern unsigned long lossylink_sleeps;
extern unsigned long long lossylink_now_ns;
extern char lossylink_running[];

long lossylink_random(void *buffer, unsigned long bytes);
void lossylink_after_syscall(void);
void lossylink_before_sleep(void);

#endif
