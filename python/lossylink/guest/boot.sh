#!/bin/sh
# The first process of a guest: prepares it, runs the script of its host, and switches it off.
# From the kernel's command line: LOSSYLINK_WORK, a directory that host and guest share, and LOSSYLINK_HERE, the
# directory that the host's user is in; and LOSSYLINK_REST, seconds.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
work=$LOSSYLINK_WORK
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t tmpfs tmpfs /run
mkdir -p /dev/shm && mount -t tmpfs tmpfs /dev/shm
# What is temporary is the guest's own, but for the directory of this run and the one that the user is in.
mount -t tmpfs tmpfs /mnt
mkdir /mnt/work /mnt/here
mount --bind "$work" /mnt/work
mount --bind "$LOSSYLINK_HERE" /mnt/here
mount -t tmpfs tmpfs /tmp
case $LOSSYLINK_HERE in
    /tmp | /tmp/*) mkdir -p "$LOSSYLINK_HERE" && mount --bind /mnt/here "$LOSSYLINK_HERE" ;;
esac
mkdir -p "$work" && mount --bind /mnt/work "$work"
sleep "$LOSSYLINK_REST"
sh "$work/script.sh" 2> /dev/tty1
echo $? > "$work/status"
# What the kernel says of its end is not for the user.
echo 0 > /proc/sys/kernel/printk
echo 1 > /sys/module/lossylink/parameters/power_off
