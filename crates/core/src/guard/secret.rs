//! A secret that both guards of a link know, and the keys that are made from it (G-27).

use core::fmt;
use hkdf::Hkdf;
use sha2::Sha256;

/// The word that tells the keys of this protocol from other keys made from one secret.
const PURPOSE: &[u8] = b"lossylink guard";

/// A secret that two guards share and nobody else knows.
///
/// Keys are derived by HKDF with SHA-256 (RFC 5869): one for the messages, one for each direction of each session.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret([u8; 32]);

impl Secret {
    /// The fewest bytes of a secret: to guess them all is as much work as to guess one key.
    pub const SHORTEST: usize = 16;

    /// Returns a secret of any bytes; `None` if they are fewer than [`Secret::SHORTEST`].
    pub fn new(bytes: &[u8]) -> Option<Self> {
        (bytes.len() >= Self::SHORTEST).then(|| Self(Hkdf::<Sha256>::extract(Some(PURPOSE), bytes).0.into()))
    }

    /// Returns the key for the purpose that these words name.
    pub(super) fn key(&self, words: &[&[u8]]) -> [u8; 16] {
        let mut key = [0; 16];
        let root = Hkdf::<Sha256>::from_prk(&self.0).expect("the root is as long as a hash");
        root.expand_multi_info(words, &mut key).expect("sixteen bytes are fewer than 255 hashes");
        key
    }
}

/// Prints no byte of the secret.
impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Secret(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // G-27
    #[test]
    fn a_key_depends_on_every_bit_of_the_secret_and_of_what_it_is_for() {
        let mut bytes = [7; 40];
        let secret = Secret::new(&bytes).unwrap();
        let key = secret.key(&[b"frames", &[1, 2]]);
        assert_eq!(key, Secret::new(&bytes).unwrap().key(&[b"frames", &[1, 2]]));
        assert_ne!(key, secret.key(&[b"frames", &[1, 3]]));
        assert_ne!(key, secret.key(&[b"messages"]));
        bytes[39] ^= 1;
        assert_ne!(key, Secret::new(&bytes).unwrap().key(&[b"frames", &[1, 2]]));
    }

    // G-27
    #[test]
    fn short_secrets_are_refused_and_none_is_printed() {
        assert_eq!(Secret::new(&[1; 15]), None);
        let secret = Secret::new(&[1; 16]).unwrap();
        assert_eq!(alloc::format!("{secret:?}"), "Secret(..)");
    }
}
