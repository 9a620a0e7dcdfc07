//! `aggregate` for packages: those that several states want are installed, or removed, in one go.

use halite_value::{Map, Value};

/// What goes together: what is done with the packages, where they come from, and whether they are held.
const ALIKE: [&str; 2] = ["fun", "fromrepo"];
const TOGETHER: [&str; 4] = ["installed", "latest", "purged", "removed"];

pub fn aggregate(low: &mut Map, other: &Map) -> bool {
    let fits = low.str_at("fun").is_some_and(|fun| TOGETHER.contains(&fun))
        && ALIKE.iter().all(|key| low.at(key) == other.at(key))
        && !other.contains("hold")
        && low.contains("sources") == other.contains("sources");
    if !fits {
        return false;
    }
    let key = if low.contains("sources") { "sources" } else { "pkgs" };
    let mut all = wanted(low, key);
    for package in wanted(other, key) {
        if !all.contains(&package) {
            all.push(package);
        }
    }
    low.remove("version");
    low.insert(key, all);
    true
}

/// The packages that a chunk names: `name`, or `name: version`.
fn wanted(low: &Map, key: &str) -> Vec<Value> {
    match low.at(key) {
        Some(Value::List(items)) => items.to_vec(),
        _ => {
            let name = low.at("name").cloned().unwrap_or_default();
            match low.at("version").filter(|version| version.truthy()) {
                Some(version) => vec![Map::from_iter([(name, version.clone())]).into()],
                None => vec![name],
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_lang::yaml;

    fn low(text: &str) -> Map {
        yaml::load(text).unwrap().as_map().unwrap().clone()
    }

    #[test]
    fn packages_of_one_kind_go_together() {
        let cases = [
            ("{fun: installed, name: a}", "{fun: installed, name: b, version: 2}", Some("pkgs: [a, {b: 2}]")),
            ("{fun: installed, pkgs: [a, b]}", "{fun: installed, pkgs: [b, {c: '1'}]}", Some("pkgs: [a, b, {c: '1'}]")),
            ("{fun: installed, name: a, version: 1}", "{fun: installed, name: b}", Some("pkgs: [{a: 1}, b]")),
            ("{fun: removed, name: a}", "{fun: installed, name: b}", None),
            ("{fun: installed, name: a}", "{fun: installed, name: b, hold: true}", None),
            ("{fun: installed, name: a}", "{fun: installed, name: b, fromrepo: x}", None),
            ("{fun: installed, name: a}", "{fun: installed, name: b, sources: [{b: /b.deb}]}", None),
            ("{fun: held, name: a}", "{fun: held, name: b}", None),
        ];
        for (own, other, expected) in cases {
            let mut own_low = low(own);
            assert_eq!(aggregate(&mut own_low, &low(other)), expected.is_some(), "{own} {other}");
            match expected {
                Some(expected) => assert_eq!(own_low.at("pkgs"), low(expected).at("pkgs"), "{own} {other}"),
                None => assert_eq!(own_low, low(own)),
            }
        }
    }
}
