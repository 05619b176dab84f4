#!/bin/sh
# The first process of a guest: prepares it, runs the script of its host, and switches it off.
# From the kernel's command line: LOSSYLINK_WORK, a directory that host and guest share, and LOSSYLINK_REST, seconds.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
# In a user namespace the host's root has another number. The set-user-ID bit of mount would turn the guest's root into that user.
[ "$1" = no-new-privileges ] || exec setpriv --no-new-privs "$0" no-new-privileges
work=$LOSSYLINK_WORK
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t tmpfs tmpfs /run
mkdir -p /dev/shm && mount -t tmpfs tmpfs /dev/shm
# What is temporary is the guest's own, but for the directory of this run and what it names in `seen`, a line each.
mount -t tmpfs tmpfs /mnt
mkdir /mnt/work
mount --bind "$work" /mnt/work
number=0
while IFS= read -r path; do
    number=$((number + 1))
    if [ -d "$path" ]; then mkdir "/mnt/$number"; else : > "/mnt/$number"; fi
    mount --bind "$path" "/mnt/$number"
done < /mnt/work/seen
mount -t tmpfs tmpfs /tmp
number=0
while IFS= read -r path; do
    number=$((number + 1))
    # A file below a directory that is there already is the host's: it is not made anew.
    if [ -d "/mnt/$number" ]; then mkdir -p "$path"; else mkdir -p "${path%/*}" && { [ -e "$path" ] || : > "$path"; }; fi
    mount --bind "/mnt/$number" "$path"
done < /mnt/work/seen
mkdir -p "$work" && mount --bind /mnt/work "$work"
sleep "$LOSSYLINK_REST"
sh "$work/script.sh" 2> /dev/tty1
echo $? > "$work/status"
# What the kernel says of its end is not for the user.
echo 0 > /proc/sys/kernel/printk
echo 1 > /sys/module/lossylink/parameters/power_off
