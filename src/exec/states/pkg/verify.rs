//! `pkg_verify` of `pkg.installed`: whether the files of packages are as they were installed.

use halite_core::{Ctx, Fault};
use halite_node::outputters::{Colors, Style, nested};
use halite_value::record::Arguments;
use halite_value::{Map, Value};

/// What is passed over when files are checked.
#[derive(Debug, Default, PartialEq)]
pub struct Verify {
    ignore_types: Value,
    verify_options: Value,
    root: Option<String>,
}

/// The altered files of packages, as `pkg.verify` shows them.
pub type Altered = Vec<(String, Map)>;

impl Verify {
    /// What an SLS has written: `True`, or a list of `ignore_types` and `verify_options`; nothing where it asks for no check.
    pub fn asked(given: &Value, root: Option<&str>) -> Result<Option<Verify>, String> {
        let root = root.map(str::to_owned);
        let items = match given {
            Value::Null | Value::Bool(false) => return Ok(None),
            Value::Bool(true) => return Ok(Some(Verify { root, ..Verify::default() })),
            Value::List(items) if items.is_empty() => return Ok(None),
            Value::List(items) => items,
            other => return Err(format!("pkg_verify is True or a list of options, not {}", other.to_text())),
        };
        let mut verify = Verify { root, ..Verify::default() };
        for (name, value) in items.iter().filter_map(Value::as_map).flat_map(Map::iter) {
            match name.as_str() {
                Some("ignore_types") => verify.ignore_types = value.clone(),
                Some("verify_options") => verify.verify_options = value.clone(),
                _ => return Err(format!("pkg_verify has no option '{}'", name.to_text())),
            }
        }
        Ok(Some(verify))
    }

    /// The files of a package that are not as they were installed.
    pub fn altered(&self, ctx: &Ctx, name: &str) -> Result<Map, Fault> {
        let mut arguments = Arguments::positional([name])
            .with("ignore_types", self.ignore_types.clone())
            .with("verify_options", self.verify_options.clone());
        if let Some(root) = &self.root {
            arguments = arguments.with("root", root.as_str());
        }
        Ok(ctx.run("pkg.verify", arguments)?.as_map().cloned().unwrap_or_default())
    }
}

/// Altered files as comments show them.
pub fn listed(ctx: &Ctx, files: &Map) -> String {
    let style = Style { colors: Colors::Off, indent: None, retcode: 0, opts: ctx.opts };
    nested::text(&files.clone().into(), &style).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::World;
    use crate::testing::{both, planned};
    use halite_core::host::Finished;
    use halite_core::host::fake::Fake;
    use halite_core::state::Plan;
    use halite_lang::yaml;

    const FORMAT: &str = "%{NAME}\t%{EPOCH}\t%{VERSION}\t%{RELEASE}\t%{ARCH}\t%{INSTALLTIME}\n";
    const INSTALLED: &str = "hello\t(none)\t1.0\t1\tnoarch\t1700000000\n";
    const CHANGED: &str = "S.5....T.    /usr/share/hello/v\nS.5....T.  c /etc/hello.conf\n";

    fn host() -> Fake {
        Fake::new()
            .program("/usr/bin/dnf")
            .answers(["rpm", "-qa", "--nodigest", "--nosignature", "--queryformat", FORMAT], INSTALLED)
    }

    fn verified(argv: &[&str], stdout: &str) -> (Vec<String>, Finished) {
        let code = i32::from(!stdout.is_empty());
        let finished = Finished { code, stdout: stdout.as_bytes().to_vec(), ..Finished::default() };
        (argv.iter().map(|word| (*word).to_owned()).collect(), finished)
    }

    fn on(host: Fake, os_family: &str) -> World {
        let mut world = World::on(host);
        world.grains.insert("os_family", os_family);
        world.grains.insert("osarch", "x86_64");
        world
    }

    fn arguments(text: &str) -> Arguments {
        Arguments::keywords(yaml::load(text).unwrap().as_map().unwrap().clone())
    }

    #[test]
    fn an_sls_says_what_counts_not() {
        let of = |text: &str| Verify::asked(&yaml::load(text).unwrap(), None);
        assert_eq!(of("false"), Ok(None));
        assert_eq!(of("[]"), Ok(None));
        assert_eq!(of("true"), Ok(Some(Verify::default())));
        let kinds = of("[{ignore_types: [config, doc]}, {verify_options: nodeps}]").unwrap().unwrap();
        assert_eq!(kinds.ignore_types, Value::list(["config", "doc"]));
        assert_eq!(kinds.verify_options, "nodeps".into());
        assert_eq!(of("[{ignore: config}]"), Err("pkg_verify has no option 'ignore'".to_owned()));
        assert!(of("maybe").is_err());
    }

    #[test]
    fn a_package_with_altered_files_is_to_be_installed_again() {
        let (argv, finished) = verified(&["rpm", "-V", "hello"], CHANGED);
        let world = on(host().scripted(argv, finished), "RedHat");
        let plan = planned(&world, "pkg.installed", arguments("{name: hello, pkg_verify: true}")).unwrap();
        let Plan::Changes { would, .. } = plan else { panic!("nothing to do") };
        assert_eq!(would.result, None);
        let begin = "Package 'hello' would be reinstalled because the following files have been altered:\n";
        assert!(would.comment.starts_with(begin), "{}", would.comment);
        assert!(would.comment.contains("/usr/share/hello/v:"), "{}", would.comment);
        assert_eq!(Value::from(would.changes).to_json(), r#"{"hello": {}}"#);
    }

    #[test]
    fn what_is_still_altered_after_another_installation_is_a_failure() {
        let (argv, finished) = verified(&["rpm", "-V", "hello"], "S.5....T.  c /etc/hello.conf\n");
        let host =
            host().program("/usr/bin/dnf5").scripted(argv, finished).answers(["dnf5", "-y", "reinstall", "hello"], "");
        let world = on(host, "RedHat");
        let text = "{name: hello, version: '>=1', pkg_verify: true, refresh: false}";
        let (_, done) = both(&world, planned(&world, "pkg.installed", arguments(text)));
        assert_eq!(done.result, Some(false));
        let begin =
            "Reinstall was not successful for package hello>=1. The following files could not be remediated:\n/etc";
        assert!(done.comment.starts_with(begin), "{}", done.comment);
        assert_eq!(
            done.changes.at("hello").map(Value::to_json).as_deref(),
            Some(r#"{"old": "1.0-1", "new": "1.0-1"}"#)
        );
    }

    #[test]
    fn what_may_be_altered_is_left_alone() {
        let (argv, finished) = verified(&["rpm", "--nodeps", "-V", "hello"], "S.5....T.  c /etc/hello.conf\n");
        let world = on(host().scripted(argv, finished), "RedHat");
        let text = "{name: hello, version: 1.0-1, pkg_verify: [{ignore_types: [config]}, {verify_options: [nodeps]}]}";
        let (_, done) = both(&world, planned(&world, "pkg.installed", arguments(text)));
        assert_eq!(done.result, Some(true));
        assert_eq!(done.comment, "All specified packages are already installed and are at the desired version");
    }

    #[test]
    fn what_cannot_be_checked_is_a_failure() {
        let argv = ["rpm", "--nosuch", "-V", "hello"];
        let finished = Finished { code: 1, stderr: b"rpm: --nosuch: unknown option\n".to_vec(), ..Finished::default() };
        let world = on(host().command(argv, finished), "RedHat");
        let text = "{name: hello, pkg_verify: [{verify_options: [nosuch]}]}";
        let (_, done) = both(&world, planned(&world, "pkg.installed", arguments(text)));
        assert_eq!(done.result, Some(false));
        assert_eq!(done.comment, "Failed to verify package(s): rpm: --nosuch: unknown option");

        let world = on(Fake::new(), "Debian");
        let (_, done) = both(&world, planned(&world, "pkg.installed", arguments("{name: hello, pkg_verify: true}")));
        assert_eq!(done.comment, "pkg.verify not implemented");
    }
}
