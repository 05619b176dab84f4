//! Headers and frames with the bytes that this crate makes of them, compared with those of a program.

use super::layout::Values;
use super::program::Program;
use lossylink_core::wire::MINIMUM_FRAME;

/// A header: values for the fields of the program's header, and the bytes that they should make.
pub(crate) struct Header {
    pub(crate) name: &'static str,
    pub(crate) values: Values,
    pub(crate) bytes: Vec<u8>,
}

/// A frame: its headers by the names of their instances, in any order, and its bytes.
pub(crate) struct Frame {
    pub(crate) name: &'static str,
    pub(crate) headers: Vec<(&'static str, Values)>,
    pub(crate) bytes: Vec<u8>,
    /// Whether the frame carries no other frame and is padded.
    pub(crate) is_control: bool,
}

impl Header {
    /// Returns how the header of the program differs.
    pub(crate) fn defect(&self, program: &Program) -> Option<String> {
        let Some(layout) = program.headers.get(self.name) else {
            return Some(format!("{} is not in the program", self.name));
        };
        match layout.bytes(&self.values) {
            Err(reason) => Some(format!("{} {reason}", self.name)),
            Ok(bytes) => (bytes != self.bytes)
                .then(|| format!("{} makes {bytes:02x?}, not {:02x?}", self.name, self.bytes)),
        }
    }
}

impl Frame {
    /// Returns how the frame of the program differs. Every structure of headers that has all headers of the
    /// frame must make the frame.
    pub(crate) fn defect(&self, program: &Program) -> Option<String> {
        let has = |order: &[(String, String)], name: &str| order.iter().any(|(instance, _)| instance == name);
        let mut orders = program
            .orders
            .iter()
            .filter(|(_, order)| self.headers.iter().all(|(name, _)| has(order, name)))
            .peekable();
        if orders.peek().is_none() {
            return Some(format!("{}: a header is in no headers_t", self.name));
        }
        orders.find_map(|(structure, order)| match self.made_by(program, order) {
            Err(reason) => Some(format!("{} of {structure}: {reason}", self.name)),
            Ok(bytes) => (bytes != self.bytes)
                .then(|| format!("{} of {structure}: {bytes:02x?}, not {:02x?}", self.name, self.bytes)),
        })
    }

    /// Returns the bytes of the frame's headers in this order. A control frame is made of another frame:
    /// the rest of that frame stands behind the headers, and the whole is cut.
    fn made_by(&self, program: &Program, order: &[(String, String)]) -> Result<Vec<u8>, String> {
        let mut made = Vec::new();
        for (instance, header) in order {
            let Some((_, values)) = self.headers.iter().find(|(name, _)| name == instance) else { continue };
            let layout = program.headers.get(header).ok_or(format!("{header} is not in the program"))?;
            made.extend(layout.bytes(values).map_err(|reason| format!("{header} {reason}"))?);
        }
        if self.is_control {
            made.extend([0xee; 2 * MINIMUM_FRAME.0 as usize]);
            let length = program.constants.get("MINIMUM_FRAME_BYTES").copied().unwrap_or_default();
            made.truncate(length as usize);
        }
        Ok(made)
    }
}
