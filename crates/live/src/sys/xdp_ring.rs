//! A ring of descriptors that an XDP socket shares with the kernel: one side produces, the other consumes.

use std::io;
use std::marker::PhantomData;
use std::mem::{align_of, size_of};
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

/// A mapping of memory, which is unmapped when this value is dropped.
#[derive(Debug)]
pub(super) struct Mapping {
    start: *mut u8,
    bytes: usize,
}

// SAFETY: a mapping belongs to its value alone; nothing else in the process points into it.
unsafe impl Send for Mapping {}

impl Mapping {
    /// Maps new memory of this process, every page present.
    pub(super) fn anonymous(bytes: usize) -> io::Result<Self> {
        Self::make(bytes, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_POPULATE, -1, 0)
    }

    /// Maps memory that the kernel shares through a descriptor.
    fn shared(fd: &OwnedFd, offset: libc::off_t, bytes: usize) -> io::Result<Self> {
        Self::make(bytes, libc::MAP_SHARED | libc::MAP_POPULATE, fd.as_raw_fd(), offset)
    }

    fn make(bytes: usize, flags: libc::c_int, fd: libc::c_int, offset: libc::off_t) -> io::Result<Self> {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping at an address of the kernel's choice; nothing else is touched.
        let start = unsafe { libc::mmap(ptr::null_mut(), bytes, protection, flags, fd, offset) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Self { start: start.cast(), bytes })
    }

    /// Returns the address of the first byte.
    pub(super) fn start(&self) -> *mut u8 {
        self.start
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping was made with this length and nothing points into it any more.
        unsafe { libc::munmap(self.start.cast(), self.bytes) };
    }
}

/// A ring of `T`. The side on which this process is decides which methods it may use.
#[derive(Debug)]
pub(super) struct Ring<T> {
    mapping: Mapping,
    offsets: libc::xdp_ring_offset,
    entries: u32,
    /// The place up to which this side has written or read.
    place: u32,
    kind: PhantomData<T>,
}

impl<T: Copy> Ring<T> {
    /// Maps a ring of `entries`, a power of two, that the socket `fd` has made at `page_offset`.
    pub(super) fn map(
        fd: &OwnedFd,
        page_offset: libc::off_t,
        offsets: libc::xdp_ring_offset,
        entries: u32,
    ) -> io::Result<Self> {
        let bytes = ring_bytes::<T>(&offsets, entries)
            .ok_or_else(|| io::Error::other("the kernel places an XDP ring where none can be"))?;
        let mapping = Mapping::shared(fd, page_offset, bytes)?;
        Ok(Self { mapping, offsets, entries, place: 0, kind: PhantomData })
    }

    fn word(&self, offset: u64) -> &AtomicU32 {
        // SAFETY: the kernel placed an aligned word here, which both sides access atomically only.
        unsafe { AtomicU32::from_ptr(self.mapping.start().add(offset as usize).cast()) }
    }

    fn descriptor(&self, place: u32) -> *mut T {
        let index = (place & (self.entries - 1)) as usize;
        // SAFETY: the index is below `entries`, for which the mapping has room.
        unsafe { self.mapping.start().add(self.offsets.desc as usize).cast::<T>().add(index) }
    }

    /// Returns how many descriptors the producer may write.
    fn room(&self) -> u32 {
        let consumed = self.word(self.offsets.consumer).load(Ordering::Acquire);
        self.entries.saturating_sub(self.place.wrapping_sub(consumed))
    }

    /// Writes the producer's next descriptor; [`Self::publish`] shows it.
    ///
    /// # Panics
    /// Without room.
    pub(super) fn write(&mut self, value: T) {
        assert!(self.room() > 0, "the ring has room for what is written");
        // SAFETY: the other side has given this descriptor back and reads none beyond what is published.
        unsafe { self.descriptor(self.place).write(value) };
        self.place = self.place.wrapping_add(1);
    }

    /// Shows the consumer the descriptors that the producer has written.
    pub(super) fn publish(&self) {
        self.word(self.offsets.producer).store(self.place, Ordering::Release);
    }

    /// Returns how many descriptors wait for the consumer.
    pub(super) fn waiting(&self) -> u32 {
        self.word(self.offsets.producer).load(Ordering::Acquire).wrapping_sub(self.place).min(self.entries)
    }

    /// Returns the descriptor `ahead` places behind the consumer's oldest one.
    ///
    /// # Panics
    /// When fewer wait.
    pub(super) fn peek(&self, ahead: u32) -> T {
        assert!(ahead < self.waiting(), "only what waits can be read");
        // SAFETY: the other side has published this descriptor and leaves it alone until it is given back.
        unsafe { self.descriptor(self.place.wrapping_add(ahead)).read() }
    }

    /// Gives the consumer's oldest `count` descriptors back to the producer.
    pub(super) fn give_back(&mut self, count: u32) {
        self.place = self.place.wrapping_add(count);
        self.word(self.offsets.consumer).store(self.place, Ordering::Release);
    }
}

/// Returns the bytes of a ring's mapping; `None` if its words or its descriptors could not be read where the
/// kernel says.
fn ring_bytes<T>(offsets: &libc::xdp_ring_offset, entries: u32) -> Option<usize> {
    let descriptors = usize::try_from(offsets.desc).ok()?;
    let bytes = descriptors.checked_add((entries as usize).checked_mul(size_of::<T>())?)?;
    let word = size_of::<AtomicU32>();
    let is_word = |offset: u64| {
        usize::try_from(offset)
            .is_ok_and(|offset| offset.is_multiple_of(word) && offset + word <= descriptors)
    };
    let fits = is_word(offsets.producer) && is_word(offsets.consumer);
    // The mapping begins at a page, so a multiple is aligned.
    (fits && entries.is_power_of_two() && descriptors.is_multiple_of(align_of::<T>())).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offsets(producer: u64, consumer: u64, desc: u64) -> libc::xdp_ring_offset {
        libc::xdp_ring_offset { producer, consumer, desc, flags: 0 }
    }

    #[test]
    fn a_ring_lies_inside_its_mapping() {
        assert_eq!(ring_bytes::<u64>(&offsets(0, 64, 128), 2048), Some(128 + 2048 * 8));
        for wrong in [
            offsets(126, 64, 128),
            offsets(0, 1 << 40, 128),
            offsets(2, 64, 128),
            offsets(0, 64, 132),
            offsets(0, 64, u64::MAX),
        ] {
            assert_eq!(ring_bytes::<u64>(&wrong, 2048), None, "{wrong:?}");
        }
        assert_eq!(ring_bytes::<u64>(&offsets(0, 64, 128), 2000), None);
    }
}
