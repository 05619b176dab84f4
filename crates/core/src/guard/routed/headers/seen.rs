//! The receiving end's models: the headers that it keeps of the frames that others refer to (RT-17).

use super::{LIFE, Layout, MOST_OCTETS, SLOTS};
use crate::wire::routed::NUMBER_BITS;
use alloc::boxed::Box;
use alloc::vec;

#[derive(Clone, Copy, Debug)]
struct Model {
    number: u64,
    layout: Layout,
    headers: [u8; MOST_OCTETS],
}

/// The models of one session, each in the slot of its number.
#[derive(Debug)]
pub struct Seen {
    slots: Box<[Option<Model>]>,
}

impl Default for Seen {
    fn default() -> Self {
        Self { slots: vec![None; SLOTS].into() }
    }
}

impl Seen {
    /// Begins a new session: no models.
    pub fn start_over(&mut self) {
        self.slots.fill(None);
    }

    /// Takes in a model: the frame with this number, which arrived or was rebuilt.
    pub fn note(&mut self, number: u64, contents: &[u8], is_bare: bool) {
        let slot = &mut self.slots[number as usize % SLOTS];
        if slot.is_some_and(|model| model.number >= number) {
            return;
        }
        let Some(layout) = Layout::of(contents, is_bare) else { return };
        let mut headers = [0; MOST_OCTETS];
        let octets = layout.octets();
        headers[..octets].copy_from_slice(&contents[..octets]);
        *slot = Some(Model { number, layout, headers });
    }

    /// Returns the layout and headers of the model whose number ends in these sixteen bits and to which the frame with this
    /// number may refer; `None` if the model is not known.
    pub fn model(&self, number: u64, bits: u16) -> Option<(Layout, &[u8])> {
        const { assert!(NUMBER_BITS > u16::BITS) };
        let model = self.slots[usize::from(bits) % SLOTS].as_ref()?;
        let serves = model.number < number && number - model.number < LIFE && model.number as u16 == bits;
        serves.then_some((model.layout, &model.headers[..]))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::segment;
    use super::*;

    // RT-17
    #[test]
    fn a_model_is_found_by_its_number_and_no_other() {
        let mut seen = Seen::default();
        seen.note(70_000, &segment(80, 1, 10), true);
        let bits = (70_000 % 65_536) as u16;
        let (layout, headers) = seen.model(70_001, bits).unwrap();
        assert_eq!(headers[20..22], [0, 80]);
        assert!(layout.is_bare());
        assert!(seen.model(70_000 + LIFE - 1, bits).is_some());
        assert!(seen.model(70_000 + LIFE, bits).is_none(), "too old");
        assert!(seen.model(70_000, bits).is_none(), "itself");
        assert!(seen.model(69_999, bits).is_none(), "a frame before it");
        assert!(seen.model(70_001, bits ^ 0x100).is_none(), "another in its slot");
        assert!(seen.model(70_001, bits ^ 1).is_none(), "an empty slot");
        seen.note(70_000 - 256, &segment(81, 1, 10), true);
        assert!(seen.model(70_001, bits).is_some(), "an older one comes late");
        seen.note(70_000 + 256, &segment(81, 1, 10), true);
        assert!(seen.model(70_300, bits).is_none(), "its slot was given away");
        seen.note(70_001, &[0; 60], true);
        assert!(seen.model(70_002, bits + 1).is_none(), "no headers that have a layout");
        seen.start_over();
        assert!(seen.model(70_300, bits + 256).is_none());
    }
}
