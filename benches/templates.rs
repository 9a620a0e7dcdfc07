//! What a rendering costs: `cargo bench --bench templates`.
//!
//! An SLS of 195 lines with loops, macros and a map, by Halite, and by minijinja (with its Python methods), which gives the
//! same text: rendered when both have read the templates before, and read and rendered. And 2,000 lines of YAML: loaded,
//! and only parsed to events by the crate below. Microseconds, the median of many.

use halite_core::Fault;
use halite_lang::jinja::{Environment, Functions, Loaded, Loader, Options};
use halite_lang::yaml;
use halite_value::record::Arguments;
use halite_value::{Value, parse_json};
use libyaml_safer::{EventData, Parser};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use std::hint::black_box;
use std::time::{Duration, Instant};

const SLS: &str = include_str!("templates/site/init.sls");
const FILES: [(&str, &str); 2] = [
    ("site/map.jinja", include_str!("templates/site/map.jinja")),
    ("site/macros.jinja", include_str!("templates/site/macros.jinja")),
];
const DATA: &str = include_str!("templates/data.json");

fn main() {
    let data = parse_json(DATA).expect("the data is JSON");
    let context = data.as_map().expect("the data is a map").clone();
    assert_eq!(SLS.lines().count(), 195);

    let pillar = context.at("pillar").expect("there is a pillar");
    let ours = |version: usize| {
        let site = Site { pillar, version };
        let environment = Environment::new(Options::default(), &site, &site);
        environment.render("site/init.sls", &versioned(SLS, version), &context).expect("it renders")
    };
    let read = || {
        let mut environment = minijinja::Environment::new();
        environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
        environment.set_syntax(SyntaxConfig::builder().keep_trailing_newline(true).build().expect("it is one"));
        for (name, text) in FILES {
            environment.add_template(name, text).expect("it parses");
        }
        environment.add_template("site/init.sls", SLS).expect("it parses");
        environment
    };
    let render = |environment: &minijinja::Environment| {
        let pillar = minijinja::Value::from(Serde(context.at("pillar")));
        let grains = minijinja::Value::from(Serde(context.at("grains")));
        let whole = pillar.clone();
        let get = minijinja::Value::from_function(move |path: String| found(&whole, &path));
        let salt = minijinja::Value::from_pairs([("pillar.get", get)]);
        let context = minijinja::context! { pillar => pillar, grains => grains, salt => salt };
        environment.get_template("site/init.sls").expect("it is there").render(context).expect("it renders")
    };
    let known = read();
    let (one, other) = (ours(0), render(&known));
    if let Some((mine, yours)) = one.lines().zip(other.lines()).find(|(mine, yours)| mine != yours) {
        panic!("the two differ:\n{mine}\n{yours}");
    }
    assert_eq!(one.lines().count(), other.lines().count());
    yaml::load(&one).expect("what was rendered is YAML");

    let text = many_lines();
    assert_eq!(text.lines().count(), 2000);
    let (warm, their_warm) = alternating(|| ours(0), || render(&known));
    let mut version = 0;
    let anew = || {
        version += 1;
        ours(version)
    };
    let (cold, their_cold) = alternating(anew, || render(&read()));
    let (load, events) = alternating(|| yaml::load(&text).expect("it loads"), || count_events(&text));
    println!(
        "sls_us {warm:.1}\nminijinja_us {their_warm:.1}\nsls_read_us {cold:.1}\nminijinja_read_us {their_cold:.1}"
    );
    println!("yaml_us {load:.1}\nevents_us {events:.1}");
}

/// Microseconds of each, the median: they take turns, so that whatever else the machine does falls on both.
fn alternating<A, B>(mut a: impl FnMut() -> A, mut b: impl FnMut() -> B) -> (f64, f64) {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    let start = Instant::now();
    while first.len() < 50 || start.elapsed() < Duration::from_secs(3) {
        first.push(timed(&mut a));
        second.push(timed(&mut b));
    }
    (median(first), median(second))
}

fn timed<T>(run: &mut impl FnMut() -> T) -> f64 {
    let start = Instant::now();
    // What came out is dropped behind the clock.
    let result = black_box(run());
    let time = start.elapsed().as_secs_f64() * 1e6;
    drop(result);
    time
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// The same template in another version, so that it is not known yet.
fn versioned(text: &str, version: usize) -> String {
    format!("{text}{{# {version} #}}")
}

struct Site<'p> {
    pillar: &'p Value,
    version: usize,
}

impl Loader for Site<'_> {
    fn load(&self, name: &str) -> Result<Option<Loaded>, Fault> {
        let file = FILES.iter().find(|(own, _)| *own == name);
        Ok(file.map(|(name, text)| Loaded { text: versioned(text, self.version), path: (*name).to_owned() }))
    }
}

impl Functions for Site<'_> {
    fn call(&self, _: &str, arguments: Arguments) -> Result<Value, Fault> {
        let path = arguments.positional.first().and_then(Value::as_str).unwrap_or_default();
        Ok(self.pillar.traverse(path, ":").cloned().unwrap_or_default())
    }

    fn exists(&self, fun: &str) -> bool {
        fun == "pillar.get"
    }

    fn names(&self) -> Vec<String> {
        vec!["pillar.get".to_owned()]
    }
}

fn found(pillar: &minijinja::Value, path: &str) -> minijinja::Value {
    path.split(':').try_fold(pillar.clone(), |value, step| value.get_attr(step)).unwrap_or_default()
}

/// States as they look once they are rendered: maps in lists in maps, short texts, some of them quoted, some numbers.
fn many_lines() -> String {
    let state = |number: usize| {
        format!(
            "/etc/site/conf-{number}.d:\n  file.managed:\n    - source: salt://site/files/{number}.conf\n    - user: root\n    - mode: \
             '0644'\n    - makedirs: True\n    - defaults: {{port: {}, name: web{number}}}\n    - require:\n      - pkg: \
             site_package\n      - file: \"/etc/site\"\n",
            8000 + number
        )
    };
    (0..200).map(state).collect()
}

fn count_events(text: &str) -> usize {
    let mut input = text.as_bytes();
    let mut parser = Parser::new();
    parser.set_input_string(&mut input);
    let mut events = 0;
    loop {
        let event = parser.parse().expect("it parses");
        events += 1;
        if matches!(event.data, EventData::StreamEnd) {
            return events;
        }
    }
}
