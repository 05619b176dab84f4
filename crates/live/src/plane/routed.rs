//! The differences of a guard whose link is a path of datagrams (RT-1).

use crate::config::GuardPortsConfig;
use crate::error::{Error, Result};
use crate::lines;
use crate::port::{Port, PortKind};
use crate::values;
use lossylink_core::guard::{Guard, GuardConfig, Peer};
use lossylink_core::protection::Protection;
use lossylink_core::rng::Stream;

/// Whether the link of a guard is a path of datagrams.
///
/// # Errors
/// If a port cannot be read, or its kind has no place on its side.
pub(super) fn is_path(ports: &GuardPortsConfig) -> Result<bool> {
    let (lan, link) = (values::port(&ports.lan)?, values::port(&ports.link)?);
    match (lan.kind, link.kind) {
        (PortKind::Udp, _) => {
            Err(Error::Usage("a path of datagrams is no LAN: give it as the link".to_owned()))
        }
        (_, PortKind::Tun) => Err(Error::Usage("a TUN is no link: give it as the LAN".to_owned())),
        (PortKind::Tun, kind) if kind != PortKind::Udp => {
            Err(Error::Usage("a TUN needs a path: give --udp PEER:PORT".to_owned()))
        }
        (_, kind) => Ok(kind == PortKind::Udp),
    }
}

/// Builds the guard of a path.
///
/// # Errors
/// Without a secret, or with a protection for links.
pub(super) fn guard(config: GuardConfig, protection: Option<&Protection>, rng: Stream) -> Result<Guard> {
    if config.secret.is_none() {
        let mend = "give both guards the same --key-file";
        return Err(Error::Usage(format!("everybody can send datagrams to a guard with --udp: {mend}")));
    }
    let protection = protection.unwrap_or(&Protection::None);
    lines::check_routed(protection)?;
    Ok(Guard::closed(config, lines::routed(), protection.clone(), rng))
}

/// Returns the protection that a guard of a path is asked for; `None` if the guard has a link.
pub(super) fn chosen(guard: &Guard, protection: Option<&Protection>) -> Option<Result<Protection>> {
    let is_path = guard.session().is_some_and(|state| state.is_closed);
    let wanted = protection.unwrap_or(&Protection::None);
    is_path.then(|| lines::check_routed(wanted).map(|()| wanted.clone()))
}

/// Shows the LAN whether the peer is there. While the peer is away, a TUN leaves its routes to other
/// interfaces.
pub(super) fn show_carrier(guard: &Guard, lan: &mut dyn Port) {
    if let Some(state) = guard.session().filter(|state| state.is_closed) {
        lan.set_carrier(state.peer == Peer::Agreed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lossylink_core::guard::{QueueLimits, Secret};
    use lossylink_core::protection::Llr;
    use lossylink_core::rng::Streams;
    use lossylink_core::units::Bytes;

    fn config(secret: Option<Secret>) -> GuardConfig {
        let queue = QueueLimits { capacity: Bytes(1000), mark_from: None };
        GuardConfig { queue, longest_frame: 1514, frames: 10, secret }
    }

    // RT-1
    #[test]
    fn a_path_needs_a_secret_and_its_own_protection() {
        let rng = || Streams::new(1).stream("guard");
        let refusal = guard(config(None), Some(&Protection::Routed), rng()).unwrap_err();
        assert!(refusal.is_usage() && refusal.to_string().contains("--key-file"), "{refusal}");
        let secret = Secret::new(&[7; 32]);
        let llr = Protection::Llr(Llr::default());
        assert!(guard(config(secret.clone()), Some(&llr), rng()).unwrap_err().is_usage());
        let closed = guard(config(secret), None, rng()).unwrap();
        assert!(closed.session().unwrap().is_closed);
        assert!(chosen(&closed, Some(&llr)).unwrap().is_err());
        assert_eq!(chosen(&closed, None).unwrap().unwrap(), Protection::None);
        assert_eq!(chosen(&closed, Some(&Protection::Routed)).unwrap().unwrap(), Protection::Routed);
    }

    #[test]
    fn each_port_has_its_place() {
        let at = |lan: &str, link: &str| {
            is_path(&GuardPortsConfig {
                lan: lan.to_owned(),
                link: link.to_owned(),
                rate_bps: None,
                protection: None,
            })
            .map_err(|error| error.to_string())
        };
        assert_eq!(at("eth1", "udp:192.0.2.7:5000"), Ok(true));
        assert_eq!(at("tun:over0", "udp:192.0.2.7:5000"), Ok(true));
        assert_eq!(at("eth1", "eth2"), Ok(false));
        assert!(at("tun:over0", "eth2").unwrap_err().contains("--udp"));
        assert!(at("udp:192.0.2.7:5000", "eth2").is_err() && at("eth1", "tun:over0").is_err());
    }
}
