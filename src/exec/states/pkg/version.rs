//! Versions of packages, and the conditions that an SLS puts on them: `1.2`, `1.2*`, `'>=1.2, <2'`.

use halite_core::state::ask;
use halite_core::{Ctx, Fault};
use halite_lang::target::fnmatch::fnmatch;

/// `<`, `<=`, `==`, `>=`, `>` or `!=`, with a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    pub operator: String,
    pub version: String,
}

/// The conditions in a text, with commas between them.
pub fn conditions(text: &str) -> Vec<Condition> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    parts
        .map(|part| {
            let at = part.find(|c: char| !"<>=!".contains(c)).unwrap_or(part.len());
            let operator = match &part[..at] {
                "" | "=" => "==",
                other => other,
            };
            Condition { operator: operator.to_owned(), version: part[at..].trim().to_owned() }
        })
        .collect()
}

/// How versions are compared.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rules {
    /// Whether what stands before a colon counts not; nothing: where the condition has no colon and asks for one version.
    pub ignore_epoch: Option<bool>,
    /// A newer version is as good as the one that is named.
    pub allow_updates: bool,
}

/// Whether one of the versions meets all conditions.
pub fn fulfills(ctx: &Ctx, versions: &[String], text: &str, rules: Rules) -> Result<bool, Fault> {
    let mut wanted = conditions(text);
    if let ([only], true) = (wanted.as_mut_slice(), rules.allow_updates)
        && only.operator == "=="
    {
        only.operator = ">=".to_owned();
    }
    for version in versions {
        let mut all = true;
        for condition in &wanted {
            all = all && meets(ctx, version, condition, rules.ignore_epoch)?;
        }
        if all {
            return Ok(true);
        }
    }
    Ok(false)
}

fn meets(ctx: &Ctx, version: &str, condition: &Condition, ignore_epoch: Option<bool>) -> Result<bool, Fault> {
    let Condition { operator, version: wanted } = condition;
    let ignores = ignore_epoch.unwrap_or(!operator.contains(['<', '>']) && !wanted.contains(':'));
    let is_like = fnmatch(version, wanted) || ignores && fnmatch(without_epoch(version), without_epoch(wanted));
    if operator == "==" && is_like {
        return Ok(true);
    }
    let arguments = [("pkg1", version.into()), ("pkg2", wanted.as_str().into()), ("ignore_epoch", ignores.into())];
    let Some(order) = ask(ctx, "pkg.version_cmp", arguments)?.as_int() else { return Ok(false) };
    Ok(match operator.as_str() {
        "==" => order == 0,
        "!=" | "<>" => order != 0,
        "<" => order < 0,
        "<=" => order <= 0,
        ">" => order > 0,
        ">=" => order >= 0,
        other => return Err(Fault::execution(format!("Invalid operator '{other}' for the version '{wanted}'"))),
    })
}

fn without_epoch(version: &str) -> &str {
    version.split_once(':').map_or(version, |(_, rest)| rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_have_an_operator_and_a_version() {
        let shown = |text: &str| {
            let all = conditions(text).into_iter();
            all.map(|condition| format!("{} {}", condition.operator, condition.version)).collect::<Vec<String>>()
        };
        assert_eq!(shown("1.2*"), ["== 1.2*"]);
        assert_eq!(shown(">=1.2, <2"), [">= 1.2", "< 2"]);
        assert_eq!(shown("= 3"), ["== 3"]);
        assert!(shown(" ").is_empty());
    }
}
