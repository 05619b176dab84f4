// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The host's side of lossylink_kern.c: hands frames to the path in lossylink's library. */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>
#include "lossylink.h"

static void *path;
static void *(*open_path)(const char *, unsigned long long *, char *, unsigned long);
static unsigned long long (*send_frame)(void *, unsigned int, unsigned long long, unsigned long long, const void *,
					unsigned int, unsigned int);
static unsigned long long (*next_event)(void *);
static int (*take_arrival)(void *, unsigned long long, struct lossylink_arrival *);
static void (*close_path)(void *, unsigned long long);

static void *symbol(void *library, const char *name)
{
	return library ? dlsym(library, name) : NULL;
}

/* Tells the host ten times a second how often the guest has slept, what time it is there and who runs. */
static void *tell(void *name)
{
	const struct timespec pause = { .tv_nsec = 100 * 1000 * 1000 };
	char line[128];

	for (;;) {
		FILE *file = fopen(name, "r+");

		if (file) {
			snprintf(line, sizeof(line), "%lu %llu %.16s", lossylink_sleeps, lossylink_now_ns,
				 lossylink_running);
			fprintf(file, "%-80s\n", line);
			fclose(file);
		}
		nanosleep(&pause, NULL);
	}
	return NULL;
}

/* The kernel's signals are for the kernel's own thread. */
static void start_telling(char *name)
{
	sigset_t all, before;
	pthread_t thread;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_create(&thread, NULL, tell, name);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void lossylink_open(const char *library, const char *configuration, unsigned long long *patience_ns)
{
	char problem[512] = "";
	char *status = getenv("LOSSYLINK_STATUS");
	void *handle;

	/* Whoever started the guest may be killed: then nobody needs it any more. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (status)
		start_telling(status);
	handle = dlopen(library, RTLD_NOW);
	open_path = symbol(handle, "lossylink_path_open");
	send_frame = symbol(handle, "lossylink_path_send");
	next_event = symbol(handle, "lossylink_path_next");
	take_arrival = symbol(handle, "lossylink_path_take");
	close_path = symbol(handle, "lossylink_path_close");
	if (!open_path || !send_frame || !next_event || !take_arrival || !close_path) {
		fprintf(stderr, "%s\n", dlerror());
		_exit(1);
	}
	path = open_path(configuration, patience_ns, problem, sizeof(problem));
	if (!path) {
		/* Nobody has a use for the guest. */
		fprintf(stderr, "%s\n", problem);
		_exit(1);
	}
}

unsigned long long lossylink_send(unsigned int side, unsigned long long now_ns, unsigned long long number,
				  const void *head, unsigned int head_bytes, unsigned int bytes)
{
	return send_frame(path, side, now_ns, number, head, head_bytes, bytes);
}

unsigned long long lossylink_next(void)
{
	return next_event(path);
}

int lossylink_take(unsigned long long now_ns, struct lossylink_arrival *arrival)
{
	return take_arrival(path, now_ns, arrival);
}

void lossylink_close(unsigned long long now_ns)
{
	close_path(path, now_ns);
}

/* SplitMix64 (Steele, Lea and Flood, OOPSLA 2014). */
static uint64_t next_word(uint64_t *state)
{
	uint64_t word = *state += 0x9e3779b97f4a7c15;

	word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
	word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
	return word ^ (word >> 31);
}

/* The kernel's only source of chance: the seed in the environment, so that the same seed gives the same bytes. */
long lossylink_random(void *buffer, unsigned long bytes)
{
	static uint64_t state;
	static int is_seeded;
	unsigned char *out = buffer;
	unsigned long i;
	uint64_t word = 0;

	if (!is_seeded) {
		const char *seed = getenv("LOSSYLINK_SEED");

		if (!seed)
			return getrandom(buffer, bytes, 0);
		state = strtoull(seed, NULL, 0);
		is_seeded = 1;
	}
	for (i = 0; i < bytes; i++) {
		if (i % 8 == 0)
			word = next_word(&state);
		out[i] = word >> (8 * (i % 8));
	}
	return bytes;
}
