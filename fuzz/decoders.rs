//! Every decoder that sees bytes from the network or from a user's file, under one name each. The fuzz targets and the
//! tests of their seeds both run these: none may panic, whatever the bytes.

use halite_core::Fault;
use halite_keys::epoch::Epoch;
use halite_keys::{Identity, PublicKey};
use halite_lang::jinja::{Dialect, Environment, Functions, Loaded, Loader, Options};
use halite_lang::regex::Regex;
use halite_lang::target::Target;
use halite_lang::yaml;
use halite_roles::config::{Config, Role};
use halite_value::record::Arguments;
use halite_value::{Map, Value, parse_json};
use halite_wire::cbor;
use halite_wire::frame::Notice;
use halite_wire::handshake::{Claim, Trust, answer, greet};
use halite_wire::message::{Answer, Ask, Job, LocalAnswer, LocalAsk, Numbered, Return};
use halite_wire::publication::verify;
use halite_wire::seal;
use halite_wire::seal::{Key, Shared};
use halite_wire::session::{Session, SessionId};
use std::path::Path;

/// A name, and what is done with bytes under it.
pub type Decoder = (&'static str, fn(&[u8]));

pub const DECODERS: &[Decoder] = &[
    ("cbor", messages),
    ("config", configuration),
    ("handshake", handshake),
    ("jinja", jinja),
    ("json", json),
    ("pem", pem),
    ("publication", publication),
    ("regex", regex),
    ("session", session),
    ("target", target),
    ("yaml", yaml_text),
];

pub fn run(name: &str, bytes: &[u8]) {
    let _ = seal::start();
    if let Some((_, decode)) = DECODERS.iter().find(|(known, _)| *known == name) {
        decode(bytes);
    }
}

/// Each message of the handshake, as each side receives it.
fn handshake(bytes: &[u8]) {
    let (minion, master) = (Identity::generate(), Identity::generate());
    let _ = Notice::decode(bytes);
    let _ = answer(bytes, &master, None);
    let (greeted, m1) = greet();
    let _ = greeted.receive(bytes, &Trust::default());
    let Ok((half_open, _)) = answer(&m1, &master, None) else {
        return;
    };
    let _ = half_open.receive(bytes);
    let (greeted, m1) = greet();
    let Ok((_, m2)) = answer(&m1, &master, None) else {
        return;
    };
    if let Ok(known) = greeted.receive(&m2, &Trust::default()) {
        let claim = Claim {
            id: "a".to_owned(),
            instance: cbor::Bytes([0; 16]),
            boot: cbor::Bytes([0; 16]),
            autosign: Map::new(),
            purpose: Default::default(),
        };
        let (waiting, _) = known.claim(&minion, &claim).unwrap();
        let _ = waiting.receive(bytes);
    }
}

fn session(bytes: &[u8]) {
    let keys = || Shared { up: Key::from_bytes([1; 32]), down: Key::from_bytes([2; 32]) };
    let mut session = Session::new(SessionId::of_request(bytes).unwrap_or_else(SessionId::fresh), keys());
    let _ = session.open_request(bytes);
    let _ = session.open_reply(1, bytes);
}

fn publication(bytes: &[u8]) {
    let master = Identity::generate();
    let epoch = Epoch::begin();
    if let Some(signed) = verify(bytes, master.public()) {
        let _ = signed.open::<Job>(&epoch.key);
    }
}

/// What is inside a seal, on a local socket and in the spool.
fn messages(bytes: &[u8]) {
    let _ = cbor::decode::<Ask>(bytes);
    let _ = cbor::decode::<Answer>(bytes);
    let _ = cbor::decode::<Claim>(bytes);
    let _ = cbor::decode::<Job>(bytes);
    let _ = cbor::decode::<LocalAsk>(bytes);
    let _ = cbor::decode::<LocalAnswer>(bytes);
    let _ = cbor::decode::<Numbered>(bytes);
    let _ = cbor::decode::<Return>(bytes);
    if let Ok(value) = cbor::decode::<Value>(bytes) {
        let _ = (value.repr(), value.to_json(), yaml::dump(&value));
        assert!(cbor::encode(&value).is_ok_and(|bytes| cbor::decode::<Value>(&bytes).is_ok()));
    }
}

/// A template, parsed and rendered, in jinja2's and in Salt's way; it can include and import itself, and call functions.
fn jinja(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let host = TemplateHost { text };
    let context = Map::from_iter([
        ("grains", Value::Map(Map::from_iter([("os", Value::from("Debian")), ("num", 4.into())]))),
        ("pillar", Value::Map(Map::from_iter([("users", Value::list(["a", "b"]))]))),
    ]);
    for dialect in [Dialect::Plain, Dialect::Salt] {
        let options = Options { dialect, ..Options::default() };
        let environment = Environment::new(options, &host, &host).with_work_limit(200_000);
        if let Err(error) = environment.render("t", text, &context) {
            let _ = error.to_string();
        }
    }
}

struct TemplateHost<'t> {
    text: &'t str,
}

impl Loader for TemplateHost<'_> {
    fn load(&self, name: &str) -> Result<Option<Loaded>, Fault> {
        Ok((name == "t").then(|| Loaded { text: self.text.to_owned(), path: "t".to_owned() }))
    }
}

impl Functions for TemplateHost<'_> {
    fn call(&self, _: &str, arguments: Arguments) -> Result<Value, Fault> {
        Ok(arguments.positional.into())
    }

    fn exists(&self, fun: &str) -> bool {
        fun.starts_with("test.")
    }

    fn names(&self) -> Vec<String> {
        vec!["test.arg".to_owned()]
    }
}

fn json(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = parse_json(text);
    }
}

fn pem(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes)
        && let Some(key) = PublicKey::from_pem(text)
    {
        assert_eq!(PublicKey::from_pem(&key.to_pem()), Some(key));
    }
}

fn regex(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes)
        && let Ok(pattern) = Regex::new(text)
    {
        let _ = pattern.search("web1.example.net\nweb2");
    }
}

fn target(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let grains = Map::from_iter([("os", Value::from("Debian")), ("ipv4", Value::list(["127.0.0.1", "192.0.2.1"]))]);
    for kind in ["glob", "pcre", "list", "grain", "grain_pcre", "ipcidr", "compound", "nodegroup"] {
        if let Ok(target) = Target::parse(kind, &Value::from(text), None) {
            let minion = halite_lang::target::Minion { id: "web1", grains: &grains, pillar: &grains };
            let _ = target.matches(&minion);
        }
    }
}

fn yaml_text(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let read = yaml::load(text);
    // The places of things are libyaml's to tell, so this goes the whole way, where the other may take a short one.
    assert_eq!(read, yaml::load_document(text).map(|document| document.value), "{text:?}");
    if let Ok(value) = read {
        let _ = yaml::dump(&value);
    }
}

fn configuration(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        for role in [Role::Master, Role::Minion] {
            if let Ok(config) = Config::from_text(role, text, Path::new("master")) {
                let _ = (config.master(), config.minion());
            }
        }
    }
}
