//! The sending end's models: which frame travels whole, which becomes a model, and which refers to a model (RT-17).

use super::{LIFE, Layout, MOST_OCTETS, SLOTS};
use alloc::boxed::Box;
use alloc::vec;

/// The number of frames after which a flow gets a new model.
const RENEWAL: u64 = LIFE / 2;
/// The number of frames without a reference after which a model makes room for another.
const IDLE: u64 = 1024;
/// The fewest octets of contents that travel short. The padding of a short datagram would be taken for contents.
const LEAST_CONTENTS: usize = 128;
/// The number of an empty slot, whose key has no meaning.
const NONE: u64 = u64::MAX;

/// The form in which a frame leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// With all its headers.
    Whole,
    /// With all its headers, and as a model to which later frames will refer.
    Model,
    /// Without the headers that the frame with this number has told.
    Short(u64),
}

#[derive(Clone, Copy, Debug)]
struct Model {
    number: u64,
    layout: Option<Layout>,
    headers: [u8; MOST_OCTETS],
    /// The number of the last frame that was the model itself or referred to it.
    used: u64,
}

const EMPTY: Model = Model { number: NONE, layout: None, headers: [0; MOST_OCTETS], used: 0 };

impl Model {
    fn serves(&self, number: u64) -> bool {
        self.number < number && number - self.number < LIFE
    }

    /// Whether these contents are of the model's flow.
    fn is_of(&self, layout: Layout, contents: &[u8]) -> bool {
        self.layout == Some(layout) && layout.is_same_flow(&self.headers, contents)
    }
}

/// The models of one session. A model has the slot of its number.
#[derive(Debug)]
pub struct Models {
    slots: Box<[Model]>,
    keys: Box<[u32; SLOTS]>,
    /// The slot that was referred to last, because most frames follow a frame of their own flow.
    last: usize,
    /// The number before which the receiving end has settled all numbers.
    settled: u64,
}

impl Default for Models {
    fn default() -> Self {
        Self { slots: vec![EMPTY; SLOTS].into(), keys: Box::new([0; SLOTS]), last: 0, settled: 0 }
    }
}

impl Models {
    /// Begins a new session: numbers from zero, no models.
    pub fn start_over(&mut self) {
        self.slots.fill(EMPTY);
        self.settled = 0;
    }

    /// Takes note that the receiving end has settled all numbers before `next`: it has the models among them, or will never
    /// have them.
    pub fn settle(&mut self, next: u64) {
        self.settled = self.settled.max(next);
    }

    /// Returns the form in which the frame with this number leaves. Numbers only grow.
    pub fn choose(&mut self, number: u64, contents: &[u8], is_bare: bool) -> Choice {
        if contents.len() < LEAST_CONTENTS {
            return Choice::Whole;
        }
        let Some(layout) = Layout::of(contents, is_bare) else { return Choice::Whole };
        if !layout.follows(contents) {
            return Choice::Whole;
        }
        let last = &self.slots[self.last];
        if last.number < self.settled && number - last.number < RENEWAL && last.is_of(layout, contents) {
            return self.refer(self.last, number);
        }
        let key = layout.key(contents);
        // A flow has up to two models: the one in use, and the next one until the receiving end has it.
        let (mut settled, mut newest) = (None::<usize>, None::<u64>);
        for place in self.places(key, number, layout, contents) {
            let model = &self.slots[place];
            newest = newest.max(Some(model.number));
            if model.number < self.settled
                && settled.is_none_or(|place| self.slots[place].number < model.number)
            {
                settled = Some(place);
            }
        }
        let is_due = newest.is_none_or(|newest| number - newest >= RENEWAL);
        if is_due && self.make(number, key, layout, contents) {
            return Choice::Model;
        }
        settled.map_or(Choice::Whole, |place| self.refer(place, number))
    }

    /// Lets the frame with this number refer to the model in this slot.
    fn refer(&mut self, place: usize, number: u64) -> Choice {
        self.last = place;
        let model = &mut self.slots[place];
        model.used = number;
        Choice::Short(model.number)
    }

    /// Returns the slots of the models of a flow that serve this number.
    fn places(&self, key: u32, number: u64, layout: Layout, contents: &[u8]) -> impl Iterator<Item = usize> {
        let keys = self.keys.iter().enumerate().filter(move |(_, one)| **one == key);
        keys.map(|(place, _)| place).filter(move |place| {
            let model = &self.slots[*place];
            model.serves(number) && model.is_of(layout, contents)
        })
    }

    /// Makes a frame a model, if its slot is free. Returns whether it is.
    fn make(&mut self, number: u64, key: u32, layout: Layout, contents: &[u8]) -> bool {
        let place = number as usize % SLOTS;
        let slot = &mut self.slots[place];
        if slot.serves(number) && number - slot.used < IDLE {
            return false;
        }
        *slot = Model { number, layout: Some(layout), used: number, ..EMPTY };
        let octets = layout.octets();
        slot.headers[..octets].copy_from_slice(&contents[..octets]);
        self.keys[place] = key;
        true
    }

    /// Returns the layout and headers of a model that was just chosen.
    pub fn headers(&self, number: u64) -> Option<(Layout, &[u8])> {
        let model = &self.slots[number as usize % SLOTS];
        model.layout.filter(|_| model.number == number).map(|layout| (layout, &model.headers[..]))
    }

    /// Forgets the model with this number, because the receiving end does not have the frame, and will not get it.
    pub fn forget(&mut self, number: u64) {
        let slot = &mut self.slots[number as usize % SLOTS];
        if slot.number == number {
            *slot = EMPTY;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::segment;
    use super::*;

    fn choose(models: &mut Models, number: u64, port: u16) -> Choice {
        models.choose(number, &segment(port, number as u16, 76), true)
    }

    // RT-17
    #[test]
    fn a_flow_is_short_once_its_model_has_arrived() {
        let mut models = Models::default();
        assert_eq!(choose(&mut models, 0, 80), Choice::Model);
        assert_eq!(choose(&mut models, 1, 80), Choice::Whole);
        assert_eq!(choose(&mut models, 2, 81), Choice::Model);
        models.settle(1);
        assert_eq!(choose(&mut models, 3, 80), Choice::Short(0));
        assert_eq!(choose(&mut models, 4, 81), Choice::Whole);
        models.settle(3);
        assert_eq!(choose(&mut models, 5, 81), Choice::Short(2));
        assert_eq!(choose(&mut models, 6, 80), Choice::Short(0));
        let mut wrong = segment(80, 7, 76);
        wrong[10] ^= 1;
        assert_eq!(models.choose(7, &wrong, true), Choice::Whole, "a checksum that does not follow");
        models.start_over();
        assert_eq!(choose(&mut models, 0, 80), Choice::Model);
        assert_eq!(choose(&mut models, 1, 80), Choice::Whole);
    }

    // RT-17
    #[test]
    fn a_model_is_renewed_before_its_life_ends_and_never_outlives_it() {
        let mut models = Models::default();
        choose(&mut models, 0, 80);
        models.settle(1);
        let mut made = 0;
        for number in 1..200_000 {
            match choose(&mut models, number, 80) {
                Choice::Model => made = number,
                Choice::Short(model) => assert!(number - model < LIFE && model < models.settled),
                Choice::Whole => panic!("{number} was whole"),
            }
            // A frame that is sent has settled a thousand numbers later.
            models.settle((number + 1).saturating_sub(1000).max(1));
        }
        assert!(made > 200_000 - RENEWAL - 1);
        // No further number settles.
        let last = (200_000..300_000).filter(|number| choose(&mut models, *number, 80) != Choice::Whole);
        let last = last.filter(|number| (number % RENEWAL) > 300).max();
        assert!(last.is_none_or(|last| last < made + LIFE), "{last:?} refers to {made}");
    }

    // RT-17
    #[test]
    fn flows_that_are_in_use_keep_their_models() {
        let mut models = Models::default();
        let mut number = 0;
        let mut short = 0;
        for round in 0..20u64 {
            for flow in 0..400 {
                match choose(&mut models, number, flow) {
                    Choice::Short(_) => short += u64::from(round >= 3),
                    Choice::Whole | Choice::Model => {}
                }
                number += 1;
                models.settle(number);
            }
        }
        assert_eq!(short, 17 * SLOTS as u64, "as many as there are slots");
        // The flows in use end: other flows get their slots.
        let others = (number..number + 4000).filter(|number| {
            models.settle(*number);
            matches!(choose(&mut models, *number, 1000 + *number as u16 % 200), Choice::Short(_))
        });
        assert!(others.count() > 2000);
    }

    // RT-17
    #[test]
    fn a_model_that_the_other_end_does_not_have_is_given_up() {
        let mut models = Models::default();
        choose(&mut models, 0, 80);
        models.settle(1);
        assert_eq!(choose(&mut models, 1, 80), Choice::Short(0));
        models.forget(256);
        assert_eq!(choose(&mut models, 2, 80), Choice::Short(0), "another of its slot");
        models.forget(0);
        assert_eq!(choose(&mut models, 3, 80), Choice::Model);
        assert_eq!(choose(&mut models, 4, 80), Choice::Whole);
    }
}
