//! The keys that the renderer `gpg` decrypts with: those in `gpg_keydir`, used through the host's `gpg`.
//!
//! The directory is one of GnuPG's own (`private-keys-v1.d`), or holds secret keys as `gpg --armor --export-secret-keys` writes
//! them. Those are taken into a directory below the cache for as long as a rendering lasts.

use halite_core::Ctx;
use halite_core::host::{Choice, Command, Finished, own};
use halite_lang::digest::hex;
use halite_lang::gpg::Decrypt;
use halite_lang::random;
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// GnuPG waits for its agent, and an agent for whoever knows a passphrase.
const TIMEOUT: Duration = Duration::from_secs(60);

const EXPORTED: &[u8] = b"-----BEGIN PGP PRIVATE KEY BLOCK-----";

/// One for each rendering: what was decrypted is remembered, since files include each other.
pub struct Keyring<'c> {
    ctx: &'c Ctx<'c>,
    home: OnceCell<Result<Home<'c>, String>>,
    known: RefCell<HashMap<String, Vec<u8>>>,
}

impl<'c> Keyring<'c> {
    pub fn of(ctx: &'c Ctx<'c>) -> Keyring<'c> {
        Keyring { ctx, home: OnceCell::new(), known: RefCell::default() }
    }

    /// `gpg_keydir`, else `gpgkeys` beside the configuration.
    fn directory(&self) -> PathBuf {
        let opts = self.ctx.opts;
        match opts.str_at("gpg_keydir").filter(|directory| !directory.is_empty()) {
            Some(directory) => PathBuf::from(directory),
            None => Path::new(opts.str_at("conf_file").unwrap_or("/etc/salt/minion")).with_file_name("gpgkeys"),
        }
    }

    fn home(&self) -> Result<&Path, String> {
        let open = || {
            let directory = self.directory();
            let exported = exported_keys(&directory)
                .map_err(|error| format!("the directory of the keys, {} (gpg_keydir): {error}", directory.display()))?;
            match exported.is_empty() {
                true => Ok(Home { directory, made: None }),
                false => self.import(&exported),
            }
        };
        self.home.get_or_init(open).as_ref().map(|home| home.directory.as_path()).map_err(String::clone)
    }

    fn import(&self, exported: &[PathBuf]) -> Result<Home<'c>, String> {
        let cachedir = Path::new(self.ctx.opts.str_at("cachedir").unwrap_or("/var/cache/salt/minion"));
        let directory = cachedir.join(format!("gpg-{}", hex(&random::bits().to_be_bytes())));
        let made = own::make_directories(&directory);
        made.map_err(|error| format!("{}: {error}", directory.display()))?;
        let home = Home { directory: directory.clone(), made: Some(self.ctx) };
        let mut words = vec!["--import".to_owned()];
        words.extend(exported.iter().map(|path| path.to_string_lossy().into_owned()));
        let done = self.gpg(&directory, words, None)?;
        let status = Status::of(&done.stderr);
        match status.has("IMPORT_OK") {
            true => Ok(home),
            false => Err(format!("the keys in {} cannot be imported: {}", self.directory().display(), status.words())),
        }
    }

    fn gpg(&self, home: &Path, words: Vec<String>, stdin: Option<&str>) -> Result<Finished, String> {
        let program = self.ctx.host.which("gpg").ok_or("gpg is not installed on this host")?;
        let mut argv = vec![program.to_string_lossy().into_owned(), "--homedir".into(), home.to_string_lossy().into()];
        // Nobody is there to be asked for a passphrase.
        argv.extend(["--batch", "--no-tty", "--pinentry-mode", "error", "--status-fd", "2"].map(str::to_owned));
        argv.extend(words);
        let stdin = Some(stdin.unwrap_or_default().as_bytes().to_vec());
        let command = Command { argv, stdin, timeout: Some(TIMEOUT), ..Command::default() };
        let finished = self.ctx.host.query(&command).map_err(|error| format!("{}: {error}", program.display()))?;
        match finished.timed_out {
            Choice::Yes => Err(format!("gpg did not end within {} seconds", TIMEOUT.as_secs())),
            Choice::No if finished.stdout_cut > 0 => Err("what gpg wrote is too long to be kept".to_owned()),
            Choice::No => Ok(finished),
        }
    }
}

impl Decrypt for Keyring<'_> {
    fn decrypt(&self, message: &str) -> Result<Vec<u8>, String> {
        if let Some(plain) = self.known.borrow().get(message) {
            return Ok(plain.clone());
        }
        let done = self.gpg(self.home()?, vec!["--decrypt".to_owned()], Some(message))?;
        let status = Status::of(&done.stderr);
        // Also 2 is a good end: a signature inside may be one that nobody here can judge.
        if !status.has("DECRYPTION_OKAY") {
            return Err(status.words());
        }
        self.known.borrow_mut().insert(message.to_owned(), done.stdout.clone());
        Ok(done.stdout)
    }

    fn must_succeed(&self) -> bool {
        self.ctx.opts.at("gpg_decrypt_must_succeed").is_none_or(halite_value::Value::truthy)
    }
}

/// A directory of keys as GnuPG has them.
struct Home<'c> {
    directory: PathBuf,
    /// It was made for this rendering and goes with it.
    made: Option<&'c Ctx<'c>>,
}

impl Drop for Home<'_> {
    fn drop(&mut self) {
        let Some(ctx) = self.made else { return };
        if let Some(program) = ctx.host.which("gpgconf") {
            let words = ["--homedir", &*self.directory.to_string_lossy(), "--kill", "all"].map(str::to_owned);
            let argv = std::iter::once(program.to_string_lossy().into_owned()).chain(words).collect();
            let _ = ctx.host.query(&Command { argv, timeout: Some(TIMEOUT), ..Command::default() });
        }
        if let Err(error) = own::remove_directory(&self.directory) {
            log::warn!("{}: keys were left behind: {error}", self.directory.display());
        }
    }
}

/// The exported secret keys in a directory; none where GnuPG keeps its own.
fn exported_keys(directory: &Path) -> Result<Vec<PathBuf>, std::io::Error> {
    let mut paths: Vec<PathBuf> =
        own::entries(directory)?.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    let has = |name: &str| own::exists(&directory.join(name));
    if has("private-keys-v1.d") || has("secring.gpg") {
        return Ok(Vec::new());
    }
    paths.retain(|path| own::is_file(path) && own::read(path).is_ok_and(|bytes| bytes.starts_with(EXPORTED)));
    paths.sort();
    Ok(paths)
}

/// What gpg says on standard error: lines for programs and lines for people.
struct Status {
    lines: Vec<String>,
}

impl Status {
    fn of(stderr: &[u8]) -> Status {
        Status { lines: String::from_utf8_lossy(stderr).lines().map(str::to_owned).collect() }
    }

    fn has(&self, keyword: &str) -> bool {
        self.lines.iter().any(|line| line.split_whitespace().nth(1) == Some(keyword) && line.starts_with("[GNUPG:]"))
    }

    /// The lines for people, in one.
    fn words(&self) -> String {
        let lines = self.lines.iter().filter(|line| !line.starts_with("[GNUPG:]"));
        let words: Vec<&str> = lines.map(|line| line.trim().trim_start_matches("gpg: ")).collect();
        if words.is_empty() { "gpg gave no reason".to_owned() } else { words.join("; ") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::World;
    use halite_core::NoMaster;
    use halite_core::host::{Machine, Processes};
    use halite_core::testing::{Need, host_has};
    use std::fs::{self, DirBuilder};
    use std::os::unix::fs::DirBuilderExt as _;

    const MESSAGE: &str = include_str!("../../../tests/data/gpg/message.asc");
    const KEY: &str = include_str!("../../../tests/data/gpg/secret-key.asc");

    /// A directory that goes with the test, and short: a socket of GnuPG's agent may have to fit in.
    struct Directory(PathBuf);

    impl Directory {
        fn new() -> Directory {
            let path = std::env::temp_dir().join(format!("hk-{}", hex(&random::bits().to_be_bytes()[..4])));
            DirBuilder::new().mode(0o700).create(&path).unwrap();
            Directory(path)
        }

        fn below(&self, name: &str) -> String {
            self.0.join(name).to_string_lossy().into_owned()
        }
    }

    impl Drop for Directory {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn world(directory: &Directory) -> World {
        let mut world = World::new();
        world.opts.insert("gpg_keydir", directory.below("keys"));
        world.opts.insert("cachedir", directory.below("cache"));
        world
    }

    /// Where there is no gpg, that is what is said.
    fn assert_decrypts(world: &World) {
        let machine = Machine;
        let ctx = world.ctx_on(&machine, &NoMaster);
        let answer = Keyring::of(&ctx).decrypt(MESSAGE);
        match host_has(&[Need::Program("gpg")]) {
            true => assert_eq!(answer, Ok(b"the secret of halite\n".to_vec())),
            false => assert_eq!(answer, Err("gpg is not installed on this host".to_owned())),
        }
    }

    #[test]
    fn exported_keys_are_taken_in_and_leave_nothing() {
        let directory = Directory::new();
        fs::create_dir(directory.below("keys")).unwrap();
        fs::write(directory.below("keys/pillar.asc"), KEY).unwrap();
        assert_decrypts(&world(&directory));
        let left = fs::read_dir(directory.below("cache")).map_or(0, Iterator::count);
        assert_eq!(left, 0);
    }

    #[test]
    fn a_directory_of_gnupg_is_used_as_it_is() {
        let directory = Directory::new();
        DirBuilder::new().mode(0o700).create(directory.below("keys")).unwrap();
        fs::write(directory.below("key.asc"), KEY).unwrap();
        let world = world(&directory);
        let machine = Machine;
        let ctx = world.ctx_on(&machine, &NoMaster);
        let keyring = Keyring::of(&ctx);
        let imported =
            keyring.gpg(Path::new(&directory.below("keys")), vec!["--import".into(), directory.below("key.asc")], None);
        assert_eq!(imported.is_ok(), machine.which("gpg").is_some());
        assert_decrypts(&world);
        let home = Home { directory: PathBuf::from(directory.below("keys")), made: Some(&ctx) };
        drop(home);
    }

    #[test]
    fn what_is_missing_is_told() {
        let directory = Directory::new();
        let world = world(&directory);
        let machine = Machine;
        let ctx = world.ctx_on(&machine, &NoMaster);
        if !host_has(&[Need::Program("gpg")]) {
            return;
        }
        let error = Keyring::of(&ctx).decrypt(MESSAGE).unwrap_err();
        assert!(error.contains("(gpg_keydir): No such file"), "{error}");
        DirBuilder::new().mode(0o700).create(directory.below("keys")).unwrap();
        let error = Keyring::of(&ctx).decrypt(MESSAGE).unwrap_err();
        assert!(error.contains("No secret key"), "{error}");
    }
}
