//! What is in a tar archive, read from its beginning to its end and packed as it may be; nothing of it is kept but names.

use super::list::Listing;
use halite_core::host::{Content, Host};
use std::io::{self, BufReader, Read, Seek};
use std::path::Path;

/// What a program that packs with LZMA may want of memory to unpack it, in KiB: xz -9 makes archives that need 64 MiB.
const MEMORY: u32 = 256 * 1024;

/// Lists an archive that is plain or packed by gzip, bzip2, xz or lzma.
pub fn list(host: &dyn Host, path: &str) -> io::Result<Listing> {
    let mut archive = tar::Archive::new(unpacked(host.open(Path::new(path))?)?);
    let mut listing = Listing::default();
    for entry in archive.entries()? {
        let entry = entry?;
        let kind = entry.header().entry_type();
        if kind.is_pax_global_extensions() {
            continue;
        }
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        // Old archives know no directories: a file whose name ends so is one.
        match () {
            () if kind.is_dir() || kind.is_file() && name.ends_with('/') => {
                listing.dirs.push(format!("{}/", name.trim_end_matches('/')));
            }
            () if kind.is_symlink() => listing.links.push(name),
            () => listing.files.push(name),
        }
    }
    Ok(listing)
}

fn unpacked(mut content: Box<dyn Content>) -> io::Result<Box<dyn Read>> {
    let mut start = Vec::new();
    content.by_ref().take(6).read_to_end(&mut start)?;
    content.rewind()?;
    let packed = BufReader::with_capacity(64 * 1024, content);
    Ok(match start.as_slice() {
        [0x1f, 0x8b, ..] => Box::new(flate2::bufread::MultiGzDecoder::new(packed)),
        [b'B', b'Z', b'h', ..] => Box::new(bzip2::bufread::MultiBzDecoder::new(packed)),
        [0xfd, b'7', b'z', b'X', b'Z', 0] => Box::new(lzma_rust2::XzReader::new_mem_limit(packed, true, MEMORY)),
        [0x5d, 0, 0, ..] => Box::new(lzma_rust2::LzmaReader::new_mem_limit(packed, MEMORY, None)?),
        _ => Box::new(packed),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_core::host::Machine;
    use halite_core::host::fake::Directory;
    use halite_core::testing::{Need, host_has};
    use std::process::Command;

    /// An archive with a directory, a file, a link, a long name and a name that looks like what tar prints of links.
    fn made(directory: &Directory) -> Vec<u8> {
        let mut builder = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_gnu();
        let mut add = |name: &str, kind: tar::EntryType, content: &[u8]| {
            header.set_entry_type(kind);
            header.set_size(content.len() as u64);
            header.set_mode(0o644);
            match kind {
                tar::EntryType::Symlink => builder.append_link(&mut header, name, "one").unwrap(),
                _ => builder.append_data(&mut header, name, content).unwrap(),
            }
        };
        add("a/", tar::EntryType::Directory, b"");
        add("a/one", tar::EntryType::Regular, b"1");
        add("a/link", tar::EntryType::Symlink, b"");
        add(&format!("a/{}", "x".repeat(150)), tar::EntryType::Regular, &[0; 2000]);
        add("a/b -> c\nd", tar::EntryType::Regular, b"");
        let bytes = builder.into_inner().unwrap();
        std::fs::write(directory.path().join("plain"), &bytes).unwrap();
        bytes
    }

    fn listed(directory: &Directory, name: &str) -> io::Result<[Vec<String>; 3]> {
        let listing = list(&Machine, &directory.path().join(name).to_string_lossy())?;
        Ok([listing.dirs, listing.files, listing.links])
    }

    #[test]
    fn names_with_arrows_and_line_ends_were_cut_out_of_what_tar_prints() {
        let directory = Directory::new();
        made(&directory);
        let long = format!("a/{}", "x".repeat(150));
        let expected = [vec!["a/"], vec!["a/one", &long, "a/b -> c\nd"], vec!["a/link"]];
        assert_eq!(listed(&directory, "plain").unwrap(), expected);
    }

    #[test]
    fn packed_archives_are_read_where_the_host_can_make_them() {
        let directory = Directory::new();
        made(&directory);
        let plain = listed(&directory, "plain").unwrap();
        for program in ["gzip", "bzip2", "xz", "lzma"] {
            if !host_has(&[Need::Program(program)]) {
                continue;
            }
            let made = Command::new("sh")
                .args(["-c", &format!("{program} <plain >{program}")])
                .current_dir(directory.path())
                .status();
            assert!(made.unwrap().success(), "{program}");
            assert_eq!(listed(&directory, program).unwrap(), plain, "{program}");
        }
    }

    #[test]
    fn what_is_damaged_or_no_archive_is_an_error() {
        let directory = Directory::new();
        let bytes = made(&directory);
        let write = |name: &str, bytes: &[u8]| std::fs::write(directory.path().join(name), bytes).unwrap();
        write("cut", &bytes[..bytes.len() - 2500]);
        write("words", b"nonsense\n");
        write("more", &[b'x'; 4096]);
        write("gzip", b"\x1f\x8bnonsense");
        write("xz", b"\xfd7zXZ\0nonsense");
        for name in ["cut", "words", "more", "gzip", "xz"] {
            assert!(listed(&directory, name).is_err(), "{name}");
        }
    }
}
