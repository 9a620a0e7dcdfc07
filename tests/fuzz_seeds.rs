//! No decoder panics on the seeds of its fuzz target, on a cut of one, or on one with a byte changed.

#[path = "../fuzz/decoders.rs"]
mod decoders;

use decoders::DECODERS;
use std::fs;
use std::path::Path;

#[test]
fn no_seed_makes_a_decoder_panic() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/fuzz");
    let mut seeds = 0;
    for (name, _) in DECODERS {
        for entry in fs::read_dir(directory.join(name)).unwrap_or_else(|_| panic!("{name} has no seeds")) {
            let bytes = fs::read(entry.unwrap().path()).unwrap();
            decoders::run(name, &bytes);
            for at in 0..bytes.len().min(200) {
                decoders::run(name, &bytes[..at]);
                let mut bent = bytes.clone();
                bent[at] = bent[at].wrapping_add(1);
                decoders::run(name, &bent);
            }
            seeds += 1;
        }
    }
    assert!(seeds > 60, "only {seeds} seeds");
}

#[test]
fn every_decoder_has_its_fuzz_target() {
    let targets = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/fuzz_targets");
    let mut named: Vec<String> = fs::read_dir(targets)
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    named.sort();
    assert_eq!(named, DECODERS.iter().map(|(name, _)| *name).collect::<Vec<_>>());
}
