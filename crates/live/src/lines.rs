//! The line protocols of a live guard, and the needs of each protection on the link. Only this file knows
//! which line protocols exist. A new one is entered here and in the core's list of protections, nowhere else.

use crate::error::{Error, Result};
use lossylink_codec::{FecLine, Gf256};
use lossylink_core::engine::linkguardian::{FORGOTTEN, SenderConfig};
use lossylink_core::guard::routed::RoutedLine;
use lossylink_core::guard::{LineProtocol, LinkGuardianLine, LlrLine};
use lossylink_core::loss::LossLaw;
use lossylink_core::protection::Protection;
use lossylink_core::units::{BitRate, Bytes};

/// The rate from which times are computed when the configuration gives none.
const ASSUMED_RATE: BitRate = BitRate::from_gbps(1);

/// Builds one line protocol of each kind, for a guard on a link of this rate whose frames are no longer than
/// `longest` without FCS.
pub fn lines(rate: Option<BitRate>, longest: Bytes) -> Vec<Box<dyn LineProtocol>> {
    let rate = rate.unwrap_or(ASSUMED_RATE);
    vec![
        Box::new(LinkGuardianLine::new()),
        Box::new(FecLine::new(rate, longest)),
        Box::new(LlrLine::new(rate, longest)),
    ]
}

/// Builds the line protocol of a guard on a path (RT-1).
pub fn routed() -> Box<dyn LineProtocol> {
    Box::new(RoutedLine::new(Box::new(Gf256)))
}

/// Refuses a protection that a guard on a path does not have: such a guard chooses by itself, or is told to
/// repair nothing.
///
/// # Errors
/// If the protection is for links; the message says how to mend it.
pub fn check_routed(protection: &Protection) -> Result<()> {
    match protection {
        Protection::None | Protection::Routed => Ok(()),
        other => {
            let mend = "leave the protection out, or give none to repair nothing";
            Err(Error::Usage(format!("{other} is for links, and a guard with --udp tunes itself: {mend}")))
        }
    }
}

/// Returns by how much the longest frame of any of these line protocols is longer than the longest frame of
/// the LAN (G-4).
pub fn headroom(lines: &[Box<dyn LineProtocol>]) -> usize {
    lines.iter().map(|line| line.headroom()).max().unwrap_or(0)
}

/// Refuses a protection that no guard of a link has.
///
/// # Errors
/// If the protection is not live; the message says how to mend it.
pub fn check(protection: &Protection) -> Result<()> {
    protection.check_live().map_err(|error| Error::Usage(error.to_string()))
}

/// The copies that an end sends of the frames whose loss is costly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copies {
    /// Copies of each retransmission.
    pub frames: u8,
    /// Copies of each control frame about the frames of the other end (G-26).
    pub control: u8,
}

/// Returns the copies of an end whose direction loses full frames by `law`; `None` where the protection sends
/// no copies.
pub fn copies(protection: &Protection, law: impl Into<LossLaw>) -> Option<Copies> {
    let law = law.into();
    match protection {
        Protection::LinkGuardian(options) => {
            let frames = options.sender(law, FORGOTTEN, SenderConfig::PUBLISHED_DUMMIES).copies;
            Some(Copies { frames, control: options.control_copies(law) })
        }
        Protection::None
        | Protection::Fec(_)
        | Protection::FecModel(_)
        | Protection::Llr(_)
        | Protection::Routed => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lossylink_core::protection::{Fec, FecModel, LinkGuardian, Llr, MOST_COPIES};

    #[test]
    fn every_live_protection_has_its_line() {
        let live = [
            Protection::LinkGuardian(LinkGuardian::ORDERED),
            Protection::LinkGuardian(LinkGuardian::NON_BLOCKING),
            Protection::Fec(Fec::new(25, 5)),
            Protection::Llr(Llr::default()),
        ];
        for protection in live {
            assert!(check(&protection).is_ok());
            let carriers = lines(None, Bytes(1514)).iter().filter(|line| line.carries(&protection)).count();
            assert_eq!(carriers, 1, "{protection}");
        }
    }

    #[test]
    fn the_rule_for_copies_ends_where_retransmissions_flood() {
        let follows = Protection::LinkGuardian(LinkGuardian::ORDERED);
        // 0.3^16 is 4.3e-9, 0.34^17 is 1.1e-8.
        let frames = [0.3, 0.34, 1.0].map(|loss: f64| copies(&follows, loss).map(|copies| copies.frames));
        assert_eq!(frames, [Some(15), Some(16), Some(16)]);
    }

    // G-26
    #[test]
    fn control_frames_are_counted_by_the_same_law() {
        let given = LinkGuardian { copies: Some(2), ..LinkGuardian::ORDERED };
        let copies_at = |loss: f64| copies(&Protection::LinkGuardian(given), loss);
        assert_eq!(copies_at(0.0), Some(Copies { frames: 2, control: 1 }));
        assert_eq!(copies_at(1e-2), Some(Copies { frames: 2, control: 3 }));
        assert_eq!(copies_at(0.9), Some(Copies { frames: 2, control: MOST_COPIES }));
    }

    // RT-1
    #[test]
    fn a_path_and_a_link_are_protected_by_different_means() {
        assert!(check_routed(&Protection::Routed).is_ok() && check_routed(&Protection::None).is_ok());
        let refusal = check_routed(&Protection::Llr(Llr::default())).unwrap_err();
        assert!(refusal.is_usage() && refusal.to_string().starts_with("llr is for links"), "{refusal}");
        let refusal = check(&Protection::Routed).unwrap_err();
        assert_eq!(refusal.to_string(), "routed is for guards with --udp; on a link, use lg, fec or llr");
    }

    #[test]
    fn what_is_not_live_is_refused_with_its_mend() {
        let refusal = check(&Protection::FecModel(FecModel::new(5, 5))).unwrap_err();
        assert!(refusal.is_usage());
        assert_eq!(refusal.to_string(), "fec-model is a model of the simulator; live, use fec:K/H");
    }
}
