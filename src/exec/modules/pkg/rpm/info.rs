//! `pkg.info_installed` of rpm.

use super::{compare, rpm};
use halite_core::{Ctx, Fault};
use halite_value::{Map, Value};

/// Keys of the answer, with the queries of rpm. What is empty is not shown.
const FIELDS: [(&str, &str); 20] = [
    ("relocations", "%|PREFIXES?{[%{PREFIXES} ]}:{(not relocatable)}|"),
    ("version", "%{VERSION}"),
    ("vendor", "%{VENDOR}"),
    ("release", "%{RELEASE}"),
    ("epoch", "%|EPOCH?{%{EPOCH}}|"),
    ("build_date_time_t", "%{BUILDTIME}"),
    ("build_date", "%{BUILDTIME}"),
    ("install_date_time_t", "%|INSTALLTIME?{%{INSTALLTIME}}|"),
    ("install_date", "%|INSTALLTIME?{%{INSTALLTIME}}|"),
    ("build_host", "%{BUILDHOST}"),
    ("group", "%{GROUP}"),
    ("source", "%{SOURCERPM}"),
    ("size", "%{LONGSIZE}"),
    ("arch", "%{ARCH}"),
    ("license", "%|LICENSE?{%{LICENSE}}|"),
    (
        "signature",
        "%|DSAHEADER?{%{DSAHEADER:pgpsig}}:{%|RSAHEADER?{%{RSAHEADER:pgpsig}}:{%|SIGGPG?{%{SIGGPG:pgpsig}}:\
         {%|SIGPGP?{%{SIGPGP:pgpsig}}:{(none)}|}|}|}|",
    ),
    ("packager", "%|PACKAGER?{%{PACKAGER}}|"),
    ("url", "%|URL?{%{URL}}|"),
    ("summary", "%{SUMMARY}"),
    ("description", "%{DESCRIPTION}"),
];

/// Which versions of a package are told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    Newest,
    All,
}

/// What is known of packages that are installed, or of all; `asked`: the keys that are wanted, none: all.
pub fn info(ctx: &Ctx, names: &[String], asked: &[String], which: Which, root: Option<&str>) -> Result<Map, Fault> {
    let name_of = |key: &str| if key == "source_rpm" { "source".to_owned() } else { key.to_owned() };
    let asked: Vec<String> = asked.iter().map(|key| name_of(key)).collect();
    let is_known = |key: &String| FIELDS.iter().any(|(known, _)| known == key) || key == "name" || key == "edition";
    if !asked.is_empty() && !asked.iter().any(|key| is_known(key) && key != "description") {
        return Err(Fault::execution("No valid attributes found."));
    }
    let fields = FIELDS.iter().filter(|(key, _)| asked.is_empty() || asked.iter().any(|asked| asked == key));
    let fields: Vec<&(&str, &str)> = fields.collect();
    // Separators that no field has.
    let queries: String = fields.iter().map(|(_, query)| format!("\u{1f}{query}")).collect();
    let format = format!("%{{NAME}}\u{1f}%|EPOCH?{{%{{EPOCH}}:}}|%{{VERSION}}-%{{RELEASE}}{queries}\u{1e}");
    let program = rpm(root).arg(if names.is_empty() { "-qa" } else { "-q" });
    let program = program.args(names.iter().map(String::as_str)).args(["--queryformat", &format]);
    let told = program.env("TZ", "UTC").query(ctx)?;
    let mut found: Vec<(&str, &str, Map)> = Vec::new();
    for package in told.stdout.split('\u{1e}') {
        // Complaints about packages that are not installed stand on lines before it.
        let Some((head, rest)) = package.split_once('\u{1f}') else { continue };
        let name = head.lines().last().unwrap_or_default();
        let (edition, rest) = rest.split_once('\u{1f}').unwrap_or((rest, ""));
        let values = rest.split('\u{1f}');
        let shown = fields.iter().zip(values).filter_map(|((key, _), value)| Some((*key, described(key, value)?)));
        found.push((name, edition, shown.collect()));
    }
    found.sort_by(|a, b| compare(b.1, a.1));
    let mut shown = Map::new();
    for (name, edition, mut one) in found {
        if name.starts_with("gpg-pubkey") {
            continue;
        }
        match which {
            Which::Newest => drop(shown.entry_or(name, || one.into())),
            Which::All => {
                one.insert("edition", edition);
                if let Value::List(several) = shown.entry_or(name, || Value::List(Vec::new())) {
                    several.push(one.into());
                }
            }
        }
    }
    Ok(shown)
}

fn described(key: &str, value: &str) -> Option<Value> {
    let value = value.trim_end();
    match key {
        "build_date_time_t" | "install_date_time_t" => value.parse::<i64>().ok().map(Value::from),
        "build_date" | "install_date" => {
            let date = value.parse().ok().and_then(|seconds| jiff::Timestamp::from_second(seconds).ok())?;
            Some(date.strftime("%Y-%m-%dT%H:%M:%SZ").to_string().into())
        }
        "description" => Some(value.into()),
        _ => Some(value.trim()).filter(|value| !value.is_empty()).map(Value::from),
    }
}
