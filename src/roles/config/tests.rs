use super::*;
use halite_lang::yaml;
use std::collections::HashSet;
use std::fs;

/// A directory that goes away with the test.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Directory {
        let path = std::env::temp_dir().join(format!("halite-config-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Directory(path)
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn load(&self, role: Role) -> Result<Config, ConfigError> {
        Config::load(role, &Surroundings { config_dir: Some(self.0.clone()), ..Surroundings::default() })
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn from_text(role: Role, text: &str) -> Result<Config, ConfigError> {
    Config::from_text(role, text, Path::new("/etc/salt/it"))
}

fn refusal(role: Role, text: &str) -> String {
    let config = from_text(role, text);
    config
        .and_then(|config| match role {
            Role::Master => config.master().map(|_| ()),
            Role::Minion => config.minion().map(|_| ()),
        })
        .unwrap_err()
        .to_string()
}

#[test]
fn every_option_is_declared_once_and_takes_its_own_default() {
    for role in [Role::Master, Role::Minion] {
        let mut names = HashSet::new();
        for option in role.options() {
            assert!(names.insert(option.name), "{} is declared twice for {role:?}", option.name);
            assert!(option.doc.ends_with('.') && option.doc.len() > 10, "{} has no doc", option.name);
            let default = option.default_value();
            if let option::Default::Yaml(text) = option.default {
                assert!(yaml::load(text).is_ok(), "{}: {text}", option.name);
            }
            assert_eq!(option.accept(default.clone()), Ok(default), "{} of {role:?}", option.name);
        }
    }
}

/// `ROLE NAME` a line: every option that Salt knows.
#[test]
fn every_option_of_salt_is_declared() {
    let declared: HashSet<String> = [Role::Master, Role::Minion]
        .into_iter()
        .flat_map(|role| role.options().map(move |option| format!("{} {}", role.name(), option.name)))
        .collect();
    let all = include_str!("../../../tests/data/config_options.txt");
    let missing: Vec<&str> = all.lines().filter(|line| !declared.contains(*line)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert!(all.lines().count() > 700);
}

#[test]
fn a_missing_file_leaves_the_defaults() {
    let directory = Directory::new("missing");
    let config = directory.load(Role::Master).unwrap();
    let master = config.master().unwrap();
    assert_eq!((master.interface.as_str(), master.publish_port, master.ret_port), ("0.0.0.0", 4505, 4506));
    assert_eq!(master.common.pki_dir, Path::new("/etc/salt/pki/master"));
    assert_eq!(master.keep_jobs, Some(std::time::Duration::from_secs(86_400)));
    assert!(!master.auto_accept && !master.open_mode);
    let minion = directory.load(Role::Minion).unwrap().minion().unwrap();
    assert_eq!((minion.masters, minion.master_port), (vec!["salt".to_owned()], 4506));
    assert_eq!(minion.common.sock_dir, Path::new("/var/run/salt/minion"));
}

#[test]
fn files_of_the_d_directory_and_includes_are_followed() {
    let directory = Directory::new("include");
    directory.file("master", "timeout: 7\nmine: {a: [1]}\ninclude: [extra.conf, 'more/*.yml']\n");
    directory.file("master.d/a.conf", "timeout: 8\npublisher_acl: {fred: ['.*']}\n");
    directory.file("master.d/b.conf", "publisher_acl: {anna: [test.ping]}\n");
    directory.file("master.d/.hidden.conf", "timeout: 99\n");
    directory.file("master.d/c.txt", "timeout: 99\n");
    let last = directory.file("extra.conf", "timeout: 9\nnew_thing: [x]\n");
    directory.file("more/1.yml", "include: ../deep.conf\n");
    directory.file("deep.conf", "max_minions: 3\n");
    let config = directory.load(Role::Master).unwrap();
    let master = config.master().unwrap();
    assert_eq!(master.timeout.as_secs(), 9);
    assert_eq!(master.max_minions, 3);
    assert_eq!(master.publisher_acl.len(), 2);
    assert_eq!(config.opts.at("new_thing"), Some(&Value::list(["x"])));
    assert_eq!(config.opts.at("mine").and_then(|mine| mine.traverse("a:0", ":")), Some(&Value::Int(1)));
    assert_eq!(config.origins["timeout"], Origin { file: last, line: 1, column: 1 });
}

#[test]
fn variables_name_the_file_and_the_directory() {
    let directory = Directory::new("variables");
    let own = directory.file("own.conf", "id: by-file\n");
    directory.file("minion", "id: by-directory\n");
    let id = |variables: &[(&str, &Path)]| {
        let variables = variables.iter().map(|(name, path)| (name.to_string(), path.to_string_lossy().into_owned()));
        let around = Surroundings { config_dir: None, variables: variables.collect() };
        Config::load(Role::Minion, &around).unwrap().text("id").to_owned()
    };
    assert_eq!(id(&[("SALT_CONFIG_DIR", &directory.0)]), "by-directory");
    assert_eq!(id(&[("SALT_CONFIG_DIR", &directory.0), ("SALT_MINION_CONFIG", &own)]), "by-file");
    assert_eq!(id(&[("SALT_CONFIG_DIR", &directory.0), ("SALT_MINION_CONFIG", Path::new("/no/such"))]), "by-directory");
}

#[test]
fn paths_are_put_below_root_dir() {
    let text = "root_dir: /tmp/r\npki_dir: keys\ncachedir: /tmp/r/cache\nlog_file: file:///dev/log\npidfile: /p.pid\n";
    let config = from_text(Role::Minion, text).unwrap();
    for (name, path) in [
        ("pki_dir", "/tmp/r/keys"),
        ("cachedir", "/tmp/r/cache"),
        ("sock_dir", "/tmp/r/var/run/salt/minion"),
        ("pidfile", "/tmp/r/p.pid"),
        ("log_file", "file:///dev/log"),
    ] {
        assert_eq!(config.text(name), path, "{name}");
    }
    assert_eq!(from_text(Role::Minion, "log_dir: /l\n").unwrap().text("log_file"), "/l/minion");
}

#[test]
fn what_does_not_fit_names_its_place_and_its_option() {
    let message = refusal(Role::Master, "a: 1\n  \npublish_port: many\n");
    assert_eq!(
        message,
        "/etc/salt/it, line 3, column 1: the option 'publish_port' wants a port from 1 to 65535, found 'many'"
    );
    assert!(refusal(Role::Master, "ret_port: 0\n").contains("'ret_port' wants a port"));
    assert!(refusal(Role::Master, "timeout: -1\n").contains("'timeout' wants seconds"));
    assert!(
        from_text(Role::Minion, "master: ['::1', 10.0.0.1]\nmaster_uri_format: ip_only\n").unwrap().minion().is_ok()
    );
    for place in ["salt", "10.0.0.1:4506", "'[::1]'"] {
        let refused = refusal(Role::Minion, &format!("master: {place}\nmaster_uri_format: ip_only\n"));
        assert!(refused.contains("'master' wants addresses without a port"), "{place}: {refused}");
    }
    assert!(refusal(Role::Minion, "master: []\n").contains("'master' wants a name"));
    assert!(refusal(Role::Master, "publisher_acl: yes\n").contains("'publisher_acl' wants a map"));
    let secret = refusal(Role::Minion, "proxy_password: [hunter2]\n");
    assert!(secret.contains("'proxy_password' wants text") && !secret.contains("hunter2"), "{secret}");
    assert!(refusal(Role::Master, "a: [1\n").contains("line 2, column 1"));
}

#[test]
fn what_opens_the_master_must_be_true_itself() {
    let auto_accept = |text| from_text(Role::Master, text).unwrap().master().unwrap().auto_accept;
    assert!(auto_accept("auto_accept: True\n"));
    assert!(!auto_accept("auto_accept: 'True'\n"));
    assert!(!auto_accept("auto_accept: 1\n"));
}

#[test]
fn several_options_together() {
    let keep = |text| from_text(Role::Master, text).unwrap().master().unwrap().keep_jobs.map(|time| time.as_secs());
    assert_eq!(keep("keep_jobs: 2\n"), Some(7200));
    assert_eq!(keep("keep_jobs: 2\nkeep_jobs_seconds: 60\n"), Some(60));
    assert_eq!(keep("keep_jobs_seconds: 0\n"), None);
    let config = from_text(Role::Master, "file_roots: {base: /srv/salt, dev: [/no/such/*]}\n").unwrap();
    let roots = config.opts.at("file_roots").unwrap().to_string();
    assert_eq!(roots, "{'base': ['/srv/salt'], 'dev': ['/no/such/*']}");
    assert!(refusal(Role::Master, "log_level: loud\n").contains("'log_level' wants one of all, garbage"));
    let config = from_text(Role::Master, "fileserver_backend: [git, roots]\nzmq_backlog: 5\n").unwrap();
    assert_eq!(config.list("fileserver_backend")[0], "gitfs".into());
    assert_eq!(config.without_effect().next().map(|(name, ..)| name), Some("zmq_backlog"));
    let minion = from_text(Role::Minion, "master: [a, 'b:4510']\nping_interval: 2\nmaster_port: '4510'\n").unwrap();
    let minion = minion.minion().unwrap();
    assert_eq!((minion.masters.len(), minion.ping_interval.as_secs(), minion.master_port), (2, 120, 4510));
}

#[test]
fn the_id_is_set_kept_or_guessed() {
    let directory = Directory::new("id");
    let root = format!("root_dir: {}\n", directory.0.display());
    let names = id::Names { hostname: "Web1.Example.com".to_owned(), ..id::Names::default() };
    let resolve = |role, text: &str, keep| {
        let mut config = from_text(role, &format!("{root}{text}")).unwrap();
        config.resolve_id(&names, keep).map_err(|error| error.to_string())
    };
    let ok = |id: &str| Ok(id.to_owned());
    assert_eq!(resolve(Role::Minion, "id: 15\n", KeepId::No), ok("15"));
    assert_eq!(resolve(Role::Minion, "minion_id_lowercase: true\n", KeepId::No), ok("web1.example.com"));
    assert_eq!(resolve(Role::Minion, "minion_id_remove_domain: true\n", KeepId::No), ok("Web1"));
    assert_eq!(resolve(Role::Minion, "minion_id_remove_domain: example.COM\n", KeepId::No), ok("Web1"));
    assert_eq!(resolve(Role::Minion, "id: x\nappend_domain: y.z\n", KeepId::No), ok("x.y.z"));
    assert_eq!(resolve(Role::Master, "", KeepId::No), ok("Web1.Example.com_master"));
    let by_function = "append_domain: lan\nid_function: {test.echo: {text: Web9}}\n";
    assert_eq!(resolve(Role::Minion, by_function, KeepId::No), ok("Web9.lan"));
    assert_eq!(resolve(Role::Minion, &format!("{by_function}minion_id_lowercase: true\n"), KeepId::No), ok("web9.lan"));
    assert_eq!(resolve(Role::Minion, &format!("{by_function}id: own\n"), KeepId::No), ok("own.lan"));
    let number = resolve(Role::Minion, "id_function: test.ping\n", KeepId::No).unwrap_err();
    assert!(number.contains("line 2, column 1: the option 'id_function' names test.ping"), "{number}");
    let unknown = resolve(Role::Minion, "id_function: no.such\n", KeepId::No).unwrap_err();
    assert!(unknown.contains("'no.such' is not available"), "{unknown}");
    assert!(resolve(Role::Minion, "id: ../x\n", KeepId::No).unwrap_err().contains("line 2, column 1"));
    assert_eq!(resolve(Role::Minion, "minion_id_remove_domain: true\n", KeepId::Yes), ok("Web1"));
    assert_eq!(resolve(Role::Minion, "", KeepId::No), ok("Web1"));
    assert_eq!(resolve(Role::Minion, "minion_id_caching: false\n", KeepId::No), ok("Web1.Example.com"));
}

#[test]
fn an_option_that_is_said_to_act_is_read_somewhere() {
    let mut sources = String::new();
    let mut directories = vec![Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("src")];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).unwrap().flatten() {
            let path = entry.path();
            match path.is_dir() {
                true if !path.ends_with("config/options") => directories.push(path),
                false => sources.push_str(&std::fs::read_to_string(&path).unwrap()),
                _ => {}
            }
        }
    }
    let unread = |option: &&Opt| option.effect == Effect::Acts && !sources.contains(&format!("\"{}\"", option.name));
    let unread: Vec<&str> =
        Role::Master.options().chain(Role::Minion.options()).filter(unread).map(|option| option.name).collect();
    assert!(unread.is_empty(), "nothing reads {unread:?}");
}
