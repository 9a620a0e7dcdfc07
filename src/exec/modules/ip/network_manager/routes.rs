//! `ip.get_routes` and `ip.build_routes` of NetworkManager: entries of the sections `[ipv4]` and `[ipv6]` of the keyfile of
//! an interface.

use super::super::Settings;
use super::addresses::with_length;
use super::keyfile::{self, Section, section_of};
use halite_core::{Ctx, Fault};
use halite_value::{Map, Value};

const SECTIONS: [&str; 2] = ["ipv4", "ipv6"];

/// The routes of an interface, of each version of IP.
#[derive(Debug, Default)]
pub struct Routes([Vec<String>; 2]);

impl Routes {
    /// Those that a keyfile has.
    pub fn of(keyfile: &[String]) -> Routes {
        let mut routes = Routes::default();
        let mut section = None;
        for line in keyfile {
            match (section_of(line), section) {
                (Some(name), _) => section = at(name),
                (None, Some(at)) => routes.0[at].extend(route_of(line)),
                _ => {}
            }
        }
        routes
    }

    fn wanted(routes: &[Map]) -> Result<Routes, Fault> {
        let mut wanted = Routes::default();
        for route in routes {
            let entry = entry(route)?;
            wanted.0[usize::from(entry.contains(':'))].push(entry);
        }
        Ok(wanted)
    }

    pub fn add_to(&self, sections: &mut [Section]) {
        for section in sections {
            if let Some(at) = at(section.name) {
                section.number("route", &self.0[at]);
            }
        }
    }

    fn lines(&self) -> Result<Vec<String>, Fault> {
        let mut sections = SECTIONS.map(Section::new);
        self.add_to(&mut sections);
        let lines =
            sections.into_iter().filter(|section| !section.is_empty()).map(|section| keyfile::lines(&[section]));
        Ok(lines.collect::<Result<Vec<Vec<String>>, Fault>>()?.concat())
    }

    /// A keyfile with these routes in the place of those that it has.
    fn within(&self, keyfile: &[String]) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        let mut section = None;
        let mut left = vec![0, 1];
        for line in keyfile {
            if let Some(name) = section_of(line) {
                self.end(section, &mut left, &mut lines);
                section = at(name);
            } else if section.is_some() && is_about_route(line) {
                continue;
            }
            lines.push(format!("{}\n", line.trim_end_matches('\n')));
        }
        self.end(section, &mut left, &mut lines);
        for at in left.clone() {
            if !self.0[at].is_empty() {
                lines.push(format!("[{}]\n", SECTIONS[at]));
                self.end(Some(at), &mut left, &mut lines);
            }
        }
        lines
    }

    /// Adds the routes of a section to its lines, unless they have been.
    fn end(&self, section: Option<usize>, left: &mut Vec<usize>, lines: &mut Vec<String>) {
        let Some(at) = section.filter(|at| left.contains(at) && !self.0[*at].is_empty()) else { return };
        left.retain(|other| *other != at);
        while lines.last().is_some_and(|line| line.trim().is_empty()) {
            lines.pop();
        }
        lines.extend((1..).zip(&self.0[at]).map(|(number, route)| format!("route{number}={route}\n")));
        lines.push("\n".to_owned());
    }
}

pub fn shown(ctx: &Ctx, iface: &str) -> Result<Vec<String>, Fault> {
    Routes::of(&keyfile::read(ctx, iface).unwrap_or_default()).lines()
}

/// Writes the routes into the keyfile, and shows their lines.
pub fn build(ctx: &Ctx, iface: &str, settings: &Settings) -> Result<Vec<String>, Fault> {
    let routes = Routes::wanted(&settings.routes(iface)?)?;
    let lines = routes.lines()?;
    if settings.is_test() {
        return Ok(lines);
    }
    match keyfile::read(ctx, iface) {
        Some(keyfile) => keyfile::save(ctx, iface, &routes.within(&keyfile))?,
        None if lines.is_empty() => {}
        None => {
            let path = keyfile::path(iface);
            return Err(Fault::execution(format!("{iface} has no {path} that its routes could be written into")));
        }
    }
    Ok(lines)
}

/// A route as a keyfile has it: where to, by which host, and at which cost.
fn entry(route: &Map) -> Result<String, Fault> {
    let told = |name: &str| route.at(name).filter(|value| value.truthy()).map(Value::to_text);
    let gateway = told("gateway");
    let is_v6 = |text: &str| text.contains(':');
    let target = match ["ipaddr", "destination", "name"].into_iter().find_map(told) {
        Some(target) if target == "0.0.0.0" && gateway.is_none() => "0.0.0.0/0".to_owned(),
        Some(target) if !matches!(target.as_str(), "default" | "0.0.0.0" | "::") => match route.at("netmask") {
            Some(mask) if mask.truthy() => with_length(&target, Some(mask))?,
            _ => target,
        },
        _ if gateway.as_deref().is_some_and(|gateway| !is_v6(gateway)) => "0.0.0.0/0".to_owned(),
        _ => "::/0".to_owned(),
    };
    let nowhere = if is_v6(&target) { "::" } else { "0.0.0.0" };
    Ok(match (gateway, route.at("metric").filter(|metric| !metric.is_null())) {
        (None, None) => target,
        (Some(gateway), None) => format!("{target},{gateway}"),
        (gateway, Some(metric)) => {
            format!("{target},{},{}", gateway.as_deref().unwrap_or(nowhere), metric.to_text())
        }
    })
}

fn at(section: &str) -> Option<usize> {
    SECTIONS.iter().position(|own| *own == section)
}

/// The route that a line has: `route1=..`.
fn route_of(line: &str) -> Option<String> {
    let (number, value) = line.trim().strip_prefix("route")?.split_once('=')?;
    number.parse::<u32>().ok().map(|_| value.to_owned())
}

/// A line with a route, and one that goes with a route (`route1_options=..`), but not `route-metric=..`.
fn is_about_route(line: &str) -> bool {
    let number = line.trim().strip_prefix("route");
    number.is_some_and(|rest| rest.starts_with(|sign: char| sign.is_ascii_digit()) && rest.contains('='))
}
