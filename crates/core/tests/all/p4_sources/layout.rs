//! The place of each field of a header, bit by bit, and the bytes that values make there.

use std::collections::BTreeMap;

/// A value for each field.
pub(crate) type Values = BTreeMap<&'static str, u128>;

/// A field: its first bit, counted from the most significant one of the header, and its width.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) offset: usize,
    pub(crate) width: usize,
}

/// The fields of a header in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Layout(Vec<Field>);

impl Layout {
    /// Appends a field.
    pub(crate) fn push(&mut self, name: String, width: usize) {
        self.0.push(Field { name, offset: self.bits(), width });
    }

    /// Returns the fields in order.
    pub(crate) fn fields(&self) -> &[Field] {
        &self.0
    }

    /// Returns the length of the whole header.
    pub(crate) fn bits(&self) -> usize {
        self.0.last().map_or(0, |field| field.offset + field.width)
    }

    /// Returns the header with these values, or the defect of these values.
    pub(crate) fn bytes(&self, values: &Values) -> Result<Vec<u8>, String> {
        if let Some(name) = values.keys().find(|name| self.0.iter().all(|field| field.name != **name)) {
            return Err(format!("has no field {name}"));
        }
        if !self.bits().is_multiple_of(8) {
            return Err(format!("has {} bits, which are no whole bytes", self.bits()));
        }
        let mut bytes = vec![0; self.bits() / 8];
        for field in &self.0 {
            let value = *values.get(field.name.as_str()).ok_or(format!("has a new field {}", field.name))?;
            let held = field.width.min(128);
            if held < 128 && value >> held != 0 {
                return Err(format!("has {} bits in {}, too few for {value:#x}", field.width, field.name));
            }
            let end = field.offset + field.width;
            for bit in (0..held).filter(|bit| value >> bit & 1 == 1) {
                let place = end - 1 - bit;
                bytes[place / 8] |= 0x80 >> (place % 8);
            }
        }
        Ok(bytes)
    }
}

#[test]
fn the_first_field_has_the_most_significant_bits() {
    let mut layout = Layout::default();
    for (name, width) in [("a", 2), ("b", 5), ("c", 9)] {
        layout.push(name.into(), width);
    }
    let of = |a, b, c| layout.bytes(&[("a", a), ("b", b), ("c", c)].into());
    assert_eq!(of(0b10, 0b00001, 0b1_0000_0011), Ok(vec![0b1000_0011, 0b0000_0011]));
    assert_eq!(of(4, 0, 0), Err("has 2 bits in a, too few for 0x4".into()));
    assert_eq!(layout.bytes(&[("a", 0), ("b", 0)].into()), Err("has a new field c".into()));
    assert_eq!(layout.bytes(&[("d", 0)].into()), Err("has no field d".into()));
    layout.push("d".into(), 1);
    assert_eq!(layout.bytes(&Values::new()), Err("has 17 bits, which are no whole bytes".into()));
}
