//! What is in a zip archive, by the directory at its end; of the rest nothing is read.

use halite_core::host::{Content, Host};
use std::io::{self, BufReader};
use std::path::Path;
use zip::ZipArchive;
use zip::result::ZipError;

/// An archive that is open.
pub type Zipped = ZipArchive<BufReader<Box<dyn Content>>>;

/// Something in it.
pub struct Member {
    pub name: String,
    /// Kind and rights, as stat(2) has them; 0: nothing is said of them.
    pub mode: u32,
    pub is_encrypted: bool,
}

/// Opens an archive; what is wrong is said in Python's words.
pub fn open(host: &dyn Host, path: &str) -> Result<Zipped, String> {
    let content = host.open(Path::new(path)).map_err(|error| words(&error, path))?;
    ZipArchive::new(BufReader::new(content)).map_err(|error| match error {
        ZipError::Io(error) if error.kind() != io::ErrorKind::UnexpectedEof => words(&error, path),
        _ => "File is not a zip file".to_owned(),
    })
}

/// In the order of the directory.
pub fn members(archive: &Zipped) -> Vec<Member> {
    let member = |at: usize| {
        let entry = archive.by_index_data(at).ok()?;
        let name = entry.name().map_or_else(|_| String::from_utf8_lossy(entry.name_raw()).into_owned(), Into::into);
        Some(Member { name, mode: entry.external_attributes() >> 16, is_encrypted: entry.encrypted() })
    };
    (0..archive.len()).filter_map(member).collect()
}

/// What is wrong with a file, as Python says it.
pub fn words(error: &io::Error, path: &str) -> String {
    match error.raw_os_error() {
        Some(number) => {
            let text = error.to_string();
            format!("[Errno {number}] {}: '{path}'", text.split(" (os error").next().unwrap_or(&text))
        }
        None => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_core::host::Machine;
    use halite_core::host::fake::{Directory, Fake};
    use std::io::{Seek, SeekFrom, Write};

    #[test]
    fn what_is_no_zip_archive_has_no_directory() {
        let count = "PK\u{5}\u{6}\0\0\0\0\u{1}\0\u{1}\0\0\0\0\0\0\0\0\0\0\0";
        let empty = format!("PK\u{5}\u{6}{}", "\0".repeat(18));
        let host =
            Fake::new().file("/none", "").file("/x", &"x".repeat(100)).file("/count", count).file("/empty", &empty);
        for path in ["/none", "/x", "/count"] {
            assert_eq!(open(&host, path).err().as_deref(), Some("File is not a zip file"), "{path}");
        }
        assert!(members(&open(&host, "/empty").unwrap()).is_empty());
        assert_eq!(open(&Machine, "/no/such").err().unwrap(), "[Errno 2] No such file or directory: '/no/such'");
    }

    /// A file of more than 4 GiB in it, all of zeros and sparse on the disk; what describes it needs 64 bits.
    #[test]
    fn an_archive_of_more_than_4_gib_was_no_zip_archive() {
        const SIZE: u64 = (4 << 30) + 5;
        let directory = Directory::new();
        let path = directory.path().join("large.zip");
        let mut file = std::fs::File::create(&path).unwrap();
        let numbers = |bytes: &[&[u8]]| bytes.concat();
        let extra = numbers(&[&1u16.to_le_bytes(), &16u16.to_le_bytes(), &SIZE.to_le_bytes(), &SIZE.to_le_bytes()]);
        let fixed = numbers(&[&45u16.to_le_bytes(), &[0; 12], &u32::MAX.to_le_bytes(), &u32::MAX.to_le_bytes()]);
        let names = numbers(&[&5u16.to_le_bytes(), &20u16.to_le_bytes()]);
        let local = [b"PK\x03\x04".as_slice(), &fixed, &names, b"large", &extra].concat();
        file.write_all(&local).unwrap();
        let at = file.seek(SeekFrom::Current(SIZE as i64)).unwrap();
        let entry = [
            b"PK\x01\x02".as_slice(),
            &[45, 3],
            &fixed,
            &names,
            &[0; 6],
            &(0o100_644u32 << 16).to_le_bytes(),
            &[0; 4],
            b"large",
            &extra,
        ]
        .concat();
        file.write_all(&entry).unwrap();
        let length = entry.len() as u64;
        let end64 = numbers(&[
            b"PK\x06\x06",
            &44u64.to_le_bytes(),
            &[45, 3, 45, 0],
            &[0; 8],
            &1u64.to_le_bytes(),
            &1u64.to_le_bytes(),
            &length.to_le_bytes(),
            &at.to_le_bytes(),
        ]);
        let locator = numbers(&[b"PK\x06\x07", &[0; 4], &(at + length).to_le_bytes(), &1u32.to_le_bytes()]);
        let end = numbers(&[b"PK\x05\x06", &[0; 4], &[0xff; 4], &[0xff; 8], &[0; 2]]);
        file.write_all(&[end64, locator, end].concat()).unwrap();
        let archive = open(&Machine, &path.to_string_lossy()).unwrap();
        let found = members(&archive);
        assert_eq!((found.len(), found[0].name.as_str(), found[0].mode), (1, "large", 0o100_644));
        assert_eq!(archive.by_index_data(0).unwrap().size(), SIZE);
    }
}
