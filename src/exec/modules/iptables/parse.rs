//! Reads what iptables-save(8) writes.

use super::split;
use halite_core::Fault;
use halite_value::{Map, Value};

/// Options under the names that Salt shows them by.
const NAMES: [(&str, &str); 25] = [
    ("-A", "append"),
    ("-p", "protocol"),
    ("-s", "source"),
    ("-d", "destination"),
    ("-j", "jump"),
    ("-g", "goto"),
    ("-i", "in-interface"),
    ("-o", "out-interface"),
    ("-f", "fragment"),
    ("-c", "set-counters"),
    ("-m", "match"),
    ("--sport", "source_port"),
    ("--source-port", "source_port"),
    ("--dport", "destination_port"),
    ("--destination-port", "destination_port"),
    ("--sports", "source-ports"),
    ("--dports", "destination-ports"),
    ("--src-cc", "source-country"),
    ("--dst-cc", "destination-country"),
    ("-D", "delete"),
    ("-I", "insert"),
    ("-R", "replace"),
    ("-F", "flush"),
    ("-N", "new-chain"),
    ("-P", "policy"),
];

/// Tables with their chains, each with its policy, its counters and its rules.
pub fn tables(text: &str) -> Result<Map, Fault> {
    let mut tables = Map::new();
    let mut table = String::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix('*') {
            table = name.to_owned();
            tables.insert(name, Map::new());
        } else if let Some(rest) = line.strip_prefix(':') {
            let Some(chain) = chain(rest) else {
                return Err(Fault::execution(format!("this is not a chain as iptables-save writes it: {line}")));
            };
            if let Some(Value::Map(chains)) = tables.at_mut(&table) {
                chains.insert(rest.split(' ').next().unwrap_or_default(), chain);
            }
        } else if line.starts_with("-A") {
            add(&mut tables, &table, line)?;
        }
    }
    Ok(tables)
}

/// `INPUT ACCEPT [12:3456]`
fn chain(text: &str) -> Option<Map> {
    let mut words = text.split_whitespace().skip(1);
    let policy = words.next()?;
    let (packets, bytes) = words.next()?.trim_matches(['[', ']']).split_once(':')?;
    Some(Map::from_iter([
        ("policy", Value::from(policy)),
        ("packet count", packets.into()),
        ("byte count", bytes.into()),
        ("rules", Value::List(Vec::new())),
        ("rules_comment", Map::new().into()),
    ]))
}

fn add(tables: &mut Map, table: &str, line: &str) -> Result<(), Fault> {
    let mut rule = Map::new();
    for (option, value) in pairs(split(line)?) {
        let known = NAMES.iter().find(|(known, _)| *known == option).map(|(_, name)| *name);
        let name = known.unwrap_or_else(|| option.trim_start_matches('-'));
        match rule.at_mut(name) {
            Some(Value::List(values)) => values.push(value.into()),
            _ => drop(rule.insert(name, Value::List(vec![value.into()]))),
        }
    }
    let first = |values: Value| values.as_list().and_then(<[Value]>::first).map(Value::to_text).unwrap_or_default();
    let chain = rule.remove("append").map(first).unwrap_or_default();
    let comment = rule.at("comment").cloned().map(first);
    let chains = tables.at_mut(table);
    let found = if let Some(Value::Map(chains)) = chains { chains.at_mut(&chain) } else { None };
    let Some(Value::Map(chain)) = found else {
        return Err(Fault::execution(format!("a rule of a chain that is not there: {line}")));
    };
    if let (Some(comment), Some(Value::Map(comments))) = (comment, chain.at_mut("rules_comment")) {
        comments.insert(comment.trim_matches('"'), rule.clone());
    }
    if let Some(Value::List(rules)) = chain.at_mut("rules") {
        rules.push(rule.into());
    }
    Ok(())
}

/// Each option with its value: what stands behind it, with the `!` that stands before it.
fn pairs(words: Vec<String>) -> Vec<(String, String)> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    let mut is_negated = false;
    for word in words {
        match (word.as_str(), pairs.last_mut()) {
            ("!", _) => is_negated = true,
            (option, _) if option.starts_with('-') && option.len() > 1 => {
                pairs.push((word, if is_negated { "!".to_owned() } else { String::new() }));
                is_negated = false;
            }
            (_, Some((_, value))) => {
                let value_before = std::mem::take(value);
                let parts = [value_before.as_str(), if is_negated { "!" } else { "" }, word.as_str()];
                *value = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
                is_negated = false;
            }
            (_, None) => {}
        }
    }
    pairs
}
