//! Tables as Parquet files: a part for each protection, one under the other.

use super::Columns;
use super::column::{Column, Reader};
use crate::numbers::RUN;
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};
use std::io::{self, Write};
use std::sync::Arc;

/// Rows of a row group. A reader must hold the rows of a group of a column at once, and may leave whole groups out.
const GROUP_ROWS: usize = 1 << 18;
/// Rows that are handed to the writer at once.
const BATCH: usize = 1 << 12;
/// The column that names the part of a row.
const LABEL: &str = "protection";

/// Writes the parts of a table, each under its label, and returns the file. The first column is `protection`. A column that a
/// part lacks is null there. `facts` are kept as the file's metadata.
///
/// # Errors
/// The system's error when it cannot write.
///
/// # Panics
/// If the columns of a part differ in length.
pub fn write_parquet<W: Write + Send>(
    mut file: W,
    parts: &[(&str, &Columns)],
    facts: &[(String, String)],
) -> io::Result<W> {
    let written = write(&mut file, parts, facts).map_err(|error| match error {
        ParquetError::External(cause) => match cause.downcast::<io::Error>() {
            Ok(cause) => *cause,
            Err(cause) => io::Error::other(cause),
        },
        other => io::Error::other(other),
    });
    written.map(|()| file)
}

fn write<W: Write + Send>(
    file: &mut W,
    parts: &[(&str, &Columns)],
    facts: &[(String, String)],
) -> Result<(), ParquetError> {
    let names = names(parts);
    let facts = facts.iter().map(|(key, value)| KeyValue::new(key.clone(), value.clone())).collect();
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_key_value_metadata(Some(facts))
        .build();
    let mut file = SerializedFileWriter::new(file, schema(&names)?, Arc::new(properties))?;
    for &(label, columns) in parts {
        let rows = columns.first().map_or(0, |(_, column)| column.len());
        assert!(
            columns.iter().all(|(_, column)| column.len() == rows),
            "columns of {label} differ in length"
        );
        let found = names.iter().map(|(name, _)| column(columns, name).map(Ahead::of));
        let mut values: Vec<Option<Ahead<'_>>> = found.collect();
        for first in (0..rows).step_by(GROUP_ROWS) {
            let last = rows.min(first + GROUP_ROWS);
            let mut group = file.next_row_group()?;
            write_label(&mut group, label, last - first)?;
            for (&(_, is_everywhere), values) in names.iter().zip(&mut values) {
                write_values(&mut group, values.as_mut(), is_everywhere, last - first)?;
            }
            group.close()?;
        }
    }
    file.finish()?;
    // The file is not taken back by `into_inner`, which loses the error of the last octets.
    Ok(file.flush()?)
}

/// A column that is read a batch at a time.
struct Ahead<'a> {
    reader: Reader<'a>,
    /// Numbers that were read and belong to the next batch.
    left: Vec<f64>,
}

impl<'a> Ahead<'a> {
    fn of(column: &'a Column) -> Self {
        Self { reader: column.reader(), left: Vec::new() }
    }

    /// Returns the next `count` numbers. The column has at least `count` left.
    fn take(&mut self, count: usize) -> io::Result<Vec<f64>> {
        let mut taken = std::mem::take(&mut self.left);
        taken.reserve_exact(count + RUN);
        while taken.len() < count {
            let numbers = self.reader.next()?.expect("columns have as many numbers as they say");
            taken.extend(numbers);
        }
        self.left = taken.split_off(count);
        Ok(taken)
    }
}

/// Returns every column of any part, in the order in which the columns come, and whether all parts have it.
fn names<'a>(parts: &[(&str, &'a Columns)]) -> Vec<(&'a str, bool)> {
    let mut names: Vec<(&str, bool)> = Vec::new();
    for (name, _) in parts.iter().flat_map(|(_, columns)| columns.iter()) {
        if !names.iter().any(|(known, _)| known == name) {
            names.push((name, parts.iter().all(|(_, columns)| column(columns, name).is_some())));
        }
    }
    names
}

fn column<'a>(columns: &'a Columns, name: &str) -> Option<&'a Column> {
    columns.iter().find(|(known, _)| known == name).map(|(_, column)| column)
}

fn schema(names: &[(&str, bool)]) -> Result<TypePtr, ParquetError> {
    let label = Type::primitive_type_builder(LABEL, Physical::BYTE_ARRAY)
        .with_repetition(Repetition::REQUIRED)
        .with_logical_type(Some(LogicalType::String))
        .build()?;
    let mut fields = vec![Arc::new(label)];
    for &(name, is_everywhere) in names {
        let repetition = if is_everywhere { Repetition::REQUIRED } else { Repetition::OPTIONAL };
        let field = Type::primitive_type_builder(name, Physical::DOUBLE).with_repetition(repetition);
        fields.push(Arc::new(field.build()?));
    }
    Type::group_type_builder("table").with_fields(fields).build().map(Arc::new)
}

fn write_label<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    label: &str,
    rows: usize,
) -> Result<(), ParquetError> {
    let labels = vec![ByteArray::from(label); rows.min(BATCH)];
    next(group, |writer| {
        let writer = writer.typed::<ByteArrayType>();
        batches(rows).try_for_each(|count| writer.write_batch(&labels[..count], None, None).map(drop))
    })
}

/// Writes `count` numbers of a column, or nulls if the part lacks the column.
fn write_values<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    mut column: Option<&mut Ahead<'_>>,
    is_everywhere: bool,
    rows: usize,
) -> Result<(), ParquetError> {
    next(group, |writer| {
        let writer = writer.typed::<DoubleType>();
        batches(rows).try_for_each(|count| {
            let values = column.as_mut().map(|column| column.take(count)).transpose()?;
            let levels = (!is_everywhere).then(|| vec![i16::from(values.is_some()); count]);
            writer.write_batch(&values.unwrap_or_default(), levels.as_deref(), None).map(drop)
        })
    })
}

/// Returns how many rows each batch has.
fn batches(rows: usize) -> impl Iterator<Item = usize> {
    (0..rows).step_by(BATCH).map(move |first| BATCH.min(rows - first))
}

/// Writes the next column of a row group.
fn next<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    write: impl FnOnce(&mut SerializedColumnWriter<'_>) -> Result<(), ParquetError>,
) -> Result<(), ParquetError> {
    let mut writer = group.next_column()?.expect("the schema has a column for each name");
    write(&mut writer)?;
    writer.close()
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;

    fn columns(named: &[(&str, &[f64])]) -> Columns {
        named.iter().map(|&(name, values)| (name.to_owned(), values.iter().copied().collect())).collect()
    }

    /// Returns the contents of a file, as text.
    fn read(file: Vec<u8>) -> (Vec<String>, Vec<Vec<String>>) {
        let reader = SerializedFileReader::new(bytes::Bytes::from(file)).unwrap();
        let names = reader.metadata().file_metadata().schema_descr().columns().iter();
        let names = names.map(|column| column.name().to_owned()).collect();
        let text = |field: &Field| match field {
            Field::Str(text) => text.clone(),
            Field::Double(number) => number.to_string(),
            Field::Null => "null".to_owned(),
            other => panic!("{other} has a type of its own"),
        };
        let rows = reader.get_row_iter(None).unwrap().map(|row| {
            let row = row.unwrap();
            row.get_column_iter().map(|(_, field)| text(field)).collect()
        });
        (names, rows.collect())
    }

    #[test]
    fn parts_stand_under_each_other_and_lack_what_they_lack() {
        let none = columns(&[("fct_us", &[1.5, f64::INFINITY]), ("timeouts", &[0.0, 2.0])]);
        let lg = columns(&[("fct_us", &[1.25]), ("copies", &[3.0])]);
        let facts = [("lossylink.seed".to_owned(), "7".to_owned())];
        let file = write_parquet(Vec::new(), &[("none", &none), ("lg", &lg)], &facts).unwrap();
        let kept = SerializedFileReader::new(bytes::Bytes::from(file.clone())).unwrap();
        let kept = kept.metadata().file_metadata().key_value_metadata().unwrap().clone();
        assert!(kept.contains(&KeyValue::new("lossylink.seed".to_owned(), "7".to_owned())));
        let (names, rows) = read(file);
        assert_eq!(names, ["protection", "fct_us", "timeouts", "copies"]);
        let expected =
            [["none", "1.5", "0", "null"], ["none", "inf", "2", "null"], ["lg", "1.25", "null", "3"]];
        assert_eq!(rows, expected);
    }

    #[test]
    fn a_table_without_rows_has_its_columns() {
        let empty = columns(&[("fct_us", &[])]);
        let (names, rows) = read(write_parquet(Vec::new(), &[("none", &empty)], &[]).unwrap());
        assert_eq!((names.join(" "), rows.len()), ("protection fct_us".to_owned(), 0));
    }

    #[test]
    fn many_rows_are_several_groups() {
        let values: Vec<f64> = (0..GROUP_ROWS + 5).map(|value| (value % 77) as f64).collect();
        let many = columns(&[("fct_us", &values)]);
        let file = write_parquet(Vec::new(), &[("none", &many)], &[]).unwrap();
        let reader = SerializedFileReader::new(bytes::Bytes::from(file)).unwrap();
        assert_eq!(reader.num_row_groups(), 2);
        assert_eq!(reader.metadata().row_group(1).num_rows(), 5);
    }

    #[test]
    fn a_full_disk_is_told_as_the_system_tells_it() {
        /// A file that refuses all but a few octets.
        struct Full(usize);
        impl Write for Full {
            fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
                self.0 = self.0.checked_sub(octets.len()).ok_or(io::ErrorKind::StorageFull)?;
                Ok(octets.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let part = columns(&[("fct_us", &[1.0; 10])]);
        let refused = write_parquet(Full(100), &[("none", &part)], &[]).map(drop).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::StorageFull);
    }
}
