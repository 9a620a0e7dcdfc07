//! `lvm.lv_present` and `lvm.lv_absent`: logical volumes and their size.

use super::{created, known, removed};
use halite_core::state::{Outcome, Plan, PlanContext, State, already, ask, change, failed, single};
use halite_core::{Ctx, Fault};
use halite_value::record;
use halite_value::record::{Arguments, Keywords};
use halite_value::{Map, Value};

record! {
    /// Makes sure that there is a logical volume, and that it has a size.
    ///
    ///   lvroot:
    ///     lvm.lv_present:
    ///       - vgname: my_vg
    ///       - size: 10G
    pub struct LvPresent {
        /// The volume.
        name: String,
        /// The volume group that it is in; of a thin volume `GROUP/POOL`.
        vgname: Option<String> = (),
        /// Its size: megabytes, or with a suffix s (sectors of 512 bytes), m, g, t or p.
        size: Value = (),
        /// Its size in extents. A share, such as `50%FREE`, is for a volume that is made: later it is not resized.
        extents: Value = (),
        /// Make a snapshot of this name, of the volume `name`.
        snapshot: Option<String> = (),
        /// The physical volume to take.
        pv: String = "",
        /// Whether it is thinly provisioned.
        thinvolume: bool = false,
        /// Whether it is a pool for such volumes.
        thinpool: bool = false,
        /// Whether it may be made smaller, and all prompts are answered with yes.
        force: bool = false,
        /// Whether the file system on it is resized with it.
        resizefs: bool = false,
        /// Options of lvcreate(8), for a volume that is made.
        kwargs: Keywords,
    }
}

record! {
    /// Makes sure that there is no such logical volume.
    ///
    ///   lvroot:
    ///     lvm.lv_absent:
    ///       - vgname: my_vg
    pub struct LvAbsent {
        /// The volume.
        name: String,
        /// The volume group that it is in.
        vgname: Option<String> = (),
    }
}

const NO_GROUP: &str = "vgname is missing: which volume group is the Logical Volume in?";

impl State for LvPresent {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        if self.extents.truthy() && self.size.truthy() {
            return Ok(failed("Only one of extents or size can be specified."));
        }
        let Some(group) = self.vgname.clone() else { return Ok(failed(NO_GROUP)) };
        let wanted = if self.size.truthy() { Some(megabytes(&self.size.to_text())?) } else { None };
        let name = self.snapshot.clone().filter(|name| !name.is_empty()).unwrap_or_else(|| self.name.clone());
        // A thin volume is named by its pool, which is no part of its path.
        let directory = if self.thinvolume { group.split('/').next().unwrap_or_default() } else { &group };
        let path = format!("/dev/{directory}/{name}");
        let volumes = known(context.ctx, "lvm.lvdisplay", &path)?;
        match volumes.at(&path).and_then(Value::as_map) {
            Some(volume) => self.resized(&name, path, volume, wanted),
            None => Ok(change(Map::new(), format!("Logical Volume {name} is set to be created"), move |ctx: &Ctx| {
                self.create(ctx, &name, group, &path)
            })),
        }
    }
}

impl LvPresent {
    fn create(self, ctx: &Ctx, name: &str, group: String, path: &str) -> Result<Outcome, Fault> {
        let mut words = self.kwargs.0;
        words.insert("lvname", name);
        words.insert("vgname", group);
        words.insert("size", self.size);
        words.insert("extents", self.extents);
        words.insert("snapshot", self.snapshot.filter(|name| !name.is_empty()).map(|_| self.name));
        words.insert("pv", self.pv);
        for (word, is_set) in [("thinvolume", self.thinvolume), ("thinpool", self.thinpool), ("force", self.force)] {
            words.insert(word, is_set);
        }
        let said = ctx.run("lvm.lvcreate", Arguments::keywords(words))?;
        Ok(match known(ctx, "lvm.lvdisplay", path)?.is_empty() {
            true => {
                let why = said.at("Output from lvcreate").unwrap_or(&said).to_text();
                Outcome::failed(format!("Failed to create Logical Volume {name}. Error: {why}"))
            }
            false => created(&format!("Logical Volume {name}"), said),
        })
    }

    fn resized(self, name: &str, path: String, volume: &Map, wanted: Option<f64>) -> Result<Plan, Fault> {
        let there = format!("Logical Volume {name} already present");
        let (old_size, old_extents) = (size_of(volume)?, extents_of(volume)?);
        let (size, extents) = match wanted {
            Some(size) => (size, old_extents),
            None if !self.extents.truthy() => return Ok(already(there)),
            None => match self.extents.to_text() {
                share if share.contains('%') => return Ok(already(format!("{there}, {share} won't be resized."))),
                number => (old_size, number.trim().parse().map_err(|_| wrong_extents(&number))?),
            },
        };
        if !self.force && (size < old_size || extents < old_extents) {
            return Ok(failed("To reduce a Logical Volume option 'force' must be True."));
        }
        if size == old_size && extents == old_extents {
            return Ok(already(there));
        }
        let name = name.to_owned();
        Ok(change(Map::new(), format!("Logical Volume {name} is set to be resized"), move |ctx: &Ctx| {
            let asked = if wanted.is_some() { ("size", self.size) } else { ("extents", self.extents) };
            let words = [
                ("lvpath", path.as_str().into()),
                asked,
                ("resizefs", self.resizefs.into()),
                ("force", self.force.into()),
            ];
            let said = ask(ctx, "lvm.lvresize", words)?;
            let volumes = known(ctx, "lvm.lvdisplay", &path)?;
            let Some(volume) = volumes.at(&path).and_then(Value::as_map) else {
                return Ok(Outcome::failed(format!("Failed to resize Logical Volume {name}: it is no longer there")));
            };
            Ok(match size_of(volume)? != old_size {
                true => Outcome::done(format!("Resized Logical Volume {name}")).with_changes(single("resized", said)),
                false => {
                    let why = said.at("Output from lvresize").unwrap_or(&said).to_text();
                    Outcome::failed(format!("Failed to resize Logical Volume {name}.\nError: {why}"))
                }
            })
        }))
    }
}

fn wrong_extents(given: &str) -> Fault {
    Fault::invocation(format!("extents '{given}' is neither a number nor a share such as 50%FREE"))
}

fn size_of(volume: &Map) -> Result<f64, Fault> {
    megabytes(&format!("{}s", volume.str_at("Logical Volume Size").unwrap_or_default()))
}

fn extents_of(volume: &Map) -> Result<i64, Fault> {
    let extents = volume.str_at("Current Logical Extents Associated").unwrap_or_default();
    extents.parse().map_err(|_| Fault::execution(format!("lvdisplay tells no number of extents: '{extents}'")))
}

/// A size in megabytes: a whole number with a unit, of which the last letter may be a b; without one it is megabytes.
fn megabytes(size: &str) -> Result<f64, Fault> {
    let lower = size.to_lowercase();
    let text = lower.strip_suffix('b').filter(|text| !text.ends_with(|c: char| c.is_ascii_digit())).unwrap_or(&lower);
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit = &text[digits.len()..];
    let number: f64 = match digits.parse::<u64>() {
        Ok(number) => number as f64,
        Err(_) => return Err(Fault::invocation(format!("Size {size} is invalid."))),
    };
    match unit {
        "s" => Ok(number / 2048.0),
        "" | "m" => Ok(number),
        "g" => Ok(number * 1024.0),
        "t" => Ok(number * 1024.0 * 1024.0),
        "p" => Ok(number * 1024.0 * 1024.0 * 1024.0),
        _ => Err(Fault::invocation(format!("Unit {unit} is invalid."))),
    }
}

impl State for LvAbsent {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let name = self.name;
        let Some(group) = self.vgname else { return Ok(failed(NO_GROUP)) };
        let path = format!("/dev/{group}/{name}");
        if known(context.ctx, "lvm.lvdisplay", &path)?.is_empty() {
            return Ok(already(format!("Logical Volume {name} already absent")));
        }
        Ok(change(Map::new(), format!("Logical Volume {name} is set to be removed"), move |ctx: &Ctx| {
            let words = [("lvname", name.as_str().into()), ("vgname", group.into())];
            let said = ask(ctx, "lvm.lvremove", words)?;
            Ok(removed(&format!("Logical Volume {name}"), &known(ctx, "lvm.lvdisplay", &path)?, said))
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_in_all_units() {
        let cases = [
            ("2048s", Some(1.0)),
            ("1024", Some(1024.0)),
            ("10m", Some(10.0)),
            ("10MB", Some(10.0)),
            ("1G", Some(1024.0)),
            ("1gb", Some(1024.0)),
            ("2T", Some(2097152.0)),
            ("1p", Some(1073741824.0)),
            ("1x", None),
            ("1024b", None),
            ("G", None),
            ("", None),
            ("1.5G", None),
        ];
        for (text, wanted) in cases {
            assert_eq!(megabytes(text).ok(), wanted, "{text}");
        }
    }
}
