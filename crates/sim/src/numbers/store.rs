//! A store of words: it keeps words in memory as long as there is room, and the other words in a file.
//!
//! The file has no name. Nobody else sees it, and it is gone with its last reader, however that reader ends. The file lies where
//! `TMPDIR` says, else in `/var/tmp`, which is a disk where `/tmp` may be memory, else in `/tmp`. A system that gives no file, or
//! no room in it, costs memory and not the run: the words then stay in memory. A browser is such a system.

#[cfg_attr(not(unix), path = "store/no_file.rs")]
mod file;

use std::borrow::Cow;
use std::fmt::Debug;
use std::io;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// Octets of a word.
const WORD: usize = size_of::<u64>();

/// The place where words are kept. A copy is the same store. The default store keeps all words in memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Store(Option<Arc<Shelf>>);

/// Room in memory, and the file behind it.
#[derive(Debug)]
pub(super) struct Shelf {
    /// Octets for which memory still has room.
    room: AtomicUsize,
    /// The file. It is opened for the first words for which memory has no room; `None` if the system gives no file.
    medium: OnceLock<Option<Box<dyn Medium>>>,
    open: fn() -> io::Result<Box<dyn Medium>>,
    /// Octets that were handed to the file.
    end: AtomicU64,
}

/// A medium to which octets are written and from which they are read, at any place.
trait Medium: Debug + Send + Sync {
    fn write(&self, octets: &[u8], at: u64) -> io::Result<()>;
    fn read(&self, octets: &mut [u8], at: u64) -> io::Result<()>;
}

/// Words that a store keeps.
#[derive(Debug)]
pub(super) enum Kept {
    Memory(Box<[u64]>),
    /// `words` words from the octet `at` of the file.
    File {
        shelf: Arc<Shelf>,
        at: u64,
        words: usize,
    },
}

impl Store {
    /// Builds a store that keeps `room` octets in memory, and the rest in a file.
    pub(crate) fn new(room: usize) -> Self {
        Self::on(room, file::temporary)
    }

    fn on(room: usize, open: fn() -> io::Result<Box<dyn Medium>>) -> Self {
        let (room, end) = (AtomicUsize::new(room), AtomicU64::new(0));
        Self(Some(Arc::new(Shelf { room, medium: OnceLock::new(), open, end })))
    }

    /// Keeps words.
    pub(super) fn keep(&self, words: &[u64]) -> Kept {
        let aside = self.0.as_ref().and_then(|shelf| Some((shelf, shelf.lay_aside(words)?)));
        match aside {
            Some((shelf, at)) => Kept::File { shelf: Arc::clone(shelf), at, words: words.len() },
            None => Kept::Memory(words.into()),
        }
    }
}

impl Shelf {
    /// Writes words to the file, and returns their place; `None` if the words are to stay in memory.
    fn lay_aside(&self, words: &[u64]) -> Option<u64> {
        let octets = size_of_val(words);
        let (any, less) = (Ordering::Relaxed, |room: usize| room.checked_sub(octets));
        if self.room.fetch_update(any, any, less).is_ok() {
            return None;
        }
        let medium = self.medium.get_or_init(|| (self.open)().ok()).as_ref()?;
        let at = self.end.fetch_add(octets as u64, any);
        let mut image = vec![0; octets];
        image
            .as_chunks_mut::<WORD>()
            .0
            .iter_mut()
            .zip(words)
            .for_each(|(slot, word)| *slot = word.to_ne_bytes());
        medium.write(&image, at).is_ok().then_some(at)
    }

    fn read(&self, at: u64, words: usize) -> io::Result<Vec<u64>> {
        let medium = self.medium.get().and_then(Option::as_ref).expect("words in a file have one");
        let mut image = vec![0; words * WORD];
        medium.read(&mut image, at).map_err(|error| {
            let words = format!("what was laid aside in a temporary file cannot be read back: {error}");
            io::Error::new(error.kind(), words)
        })?;
        Ok(image.as_chunks::<WORD>().0.iter().copied().map(u64::from_ne_bytes).collect())
    }
}

impl Kept {
    /// Returns the words, from memory or from the file.
    pub(super) fn read(&self) -> io::Result<Cow<'_, [u64]>> {
        Ok(match self {
            Self::Memory(words) => (&**words).into(),
            Self::File { shelf, at, words } => shelf.read(*at, *words)?.into(),
        })
    }

    /// Returns the octets of memory that the words take.
    #[cfg(test)]
    pub(super) fn octets(&self) -> usize {
        match self {
            Self::Memory(words) => size_of_val(&**words),
            Self::File { .. } => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    fn kept(store: &Store) -> [Kept; 3] {
        [[1, u64::MAX], [3, 4], [5, 6]].map(|words| store.keep(&words))
    }

    fn read(kept: &[Kept]) -> Vec<u64> {
        kept.iter().flat_map(|kept| kept.read().unwrap().into_owned()).collect()
    }

    fn octets(kept: &[Kept]) -> Vec<usize> {
        kept.iter().map(Kept::octets).collect()
    }

    #[test]
    fn what_memory_has_no_room_for_lies_in_the_file() {
        for (room, held) in [(0, [0, 0, 0]), (31, [16, 0, 0]), (32, [16, 16, 0]), (48, [16, 16, 16])] {
            let kept = kept(&Store::new(room));
            assert_eq!(
                (read(&kept), octets(&kept)),
                (vec![1, u64::MAX, 3, 4, 5, 6], held.to_vec()),
                "{room}"
            );
        }
        assert_eq!(octets(&kept(&Store::default())), [16, 16, 16]);
    }

    #[test]
    fn a_file_outlives_its_store() {
        let store = Store::new(0);
        let kept = kept(&store);
        drop(store);
        assert_eq!(read(&kept), [1, u64::MAX, 3, 4, 5, 6]);
    }

    /// A medium that takes the first words, and nothing more.
    #[derive(Debug)]
    struct Full(File);

    impl Medium for Full {
        fn write(&self, octets: &[u8], at: u64) -> io::Result<()> {
            if at > 0 { Err(io::ErrorKind::StorageFull.into()) } else { Medium::write(&self.0, octets, at) }
        }

        fn read(&self, octets: &mut [u8], at: u64) -> io::Result<()> {
            Medium::read(&self.0, octets, at)
        }
    }

    #[test]
    fn what_no_file_takes_stays_in_memory() {
        let words = vec![1, u64::MAX, 3, 4, 5, 6];
        let refused = kept(&Store::on(16, || Err(io::ErrorKind::PermissionDenied.into())));
        assert_eq!((read(&refused), octets(&refused)), (words.clone(), vec![16, 16, 16]));
        let full = kept(&Store::on(0, || Ok(Box::new(Full(tempfile::tempfile()?)))));
        assert_eq!((read(&full), octets(&full)), (words, vec![0, 16, 16]));
    }

    /// A medium that forgets all words.
    #[derive(Debug)]
    struct Lost;

    impl Medium for Lost {
        fn write(&self, _octets: &[u8], _at: u64) -> io::Result<()> {
            Ok(())
        }

        fn read(&self, _octets: &mut [u8], _at: u64) -> io::Result<()> {
            Err(io::ErrorKind::UnexpectedEof.into())
        }
    }

    #[test]
    fn what_cannot_be_read_is_told() {
        let [kept, ..] = kept(&Store::on(0, || Ok(Box::new(Lost))));
        assert_eq!(kept.read().unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
}
