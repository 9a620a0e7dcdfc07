//! `timezone.*`: the host's time zone and its hardware clock.

use halite_core::module::{Module, Run, function};
use halite_core::program::Program;
use halite_core::{Ctx, Fault, Reply, paths, text_file};
use halite_value::Value;
use halite_value::record;
use std::path::Path;

pub const MODULE: Module = Module {
    name: "timezone",
    doc: "The host's time zone and its hardware clock.",
    functions: &[
        function::<GetHwclock>("get_hwclock"),
        function::<GetOffset>("get_offset"),
        function::<GetZone>("get_zone"),
        function::<GetZonecode>("get_zonecode"),
        function::<SetHwclock>("set_hwclock"),
        function::<SetZone>("set_zone"),
        function::<ZoneCompare>("zone_compare"),
    ],
};

const ZONES: &str = "/usr/share/zoneinfo";
const LOCALTIME: &str = "/etc/localtime";
const CLOCK: &str = "/etc/sysconfig/clock";

fn family<'c>(ctx: &'c Ctx) -> &'c str {
    ctx.grains.str_at("os_family").unwrap_or_default()
}

fn timedatectl(ctx: &Ctx) -> Result<String, Fault> {
    let answer = Program::new(["timedatectl"]).query(ctx)?;
    match answer.is_success() {
        true => Ok(answer.stdout),
        false => Err(Fault::execution(format!("timedatectl failed: {}", answer.stderr))),
    }
}

fn has_timedatectl(ctx: &Ctx) -> bool {
    ctx.host.which("timedatectl").is_some()
}

fn zone(ctx: &Ctx) -> Result<String, Fault> {
    if has_timedatectl(ctx) {
        let told = timedatectl(ctx)?;
        let zone = told.lines().find_map(|line| {
            let rest = line.trim().strip_prefix("Time zone:").or_else(|| line.trim().strip_prefix("Timezone:"))?;
            rest.split_whitespace().next()
        });
        return zone.map(str::to_owned).ok_or_else(|| Fault::execution("timedatectl names no time zone"));
    }
    match family(ctx) {
        "RedHat" | "Suse" => {
            let text = text_file::read(ctx.host, CLOCK)?;
            let line =
                text.lines().filter(|line| !line.trim_start().starts_with('#')).find(|line| line.contains("ZONE"));
            let zone = line.and_then(|line| line.split_once('=')).map(|(_, zone)| zone.trim_matches(['\'', '"', ' ']));
            zone.map(str::to_owned).ok_or_else(|| Fault::execution(format!("Unable to get timezone from {CLOCK}")))
        }
        "Debian" | "Gentoo" => match ctx.host.read(Path::new("/etc/timezone")) {
            Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).trim().to_owned()),
            Err(_) => Err(Fault::execution("Problem reading timezone file /etc/timezone: No such file or directory")),
        },
        _ => {
            let target = ctx.host.stat(Path::new(LOCALTIME)).ok().and_then(|stat| stat.target);
            let target = target
                .map(|target| paths::normal(&paths::join(&["/etc".into(), target.to_string_lossy().into_owned()])));
            let zone =
                target.as_deref().and_then(|path| path.strip_prefix(ZONES)).map(|zone| zone.trim_start_matches('/'));
            zone.map(str::to_owned).ok_or_else(|| Fault::execution("Unable to get timezone"))
        }
    }
}

record! {
    /// Shows the time zone of the host.
    ///
    ///   salt '*' timezone.get_zone
    pub struct GetZone {}
}

impl Run for GetZone {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(zone(ctx)?.into())
    }
}

fn date(ctx: &Ctx, format: &str) -> Reply {
    Ok(Program::new(["date", format]).mixed().query(ctx)?.stdout.into())
}

record! {
    /// Shows the short name of the time zone, such as CET.
    ///
    ///   salt '*' timezone.get_zonecode
    pub struct GetZonecode {}
}

impl Run for GetZonecode {
    fn run(self, ctx: &Ctx) -> Reply {
        date(ctx, "+%Z")
    }
}

record! {
    /// Shows how far from UTC the host's time is, such as +0100.
    ///
    ///   salt '*' timezone.get_offset
    pub struct GetOffset {}
}

impl Run for GetOffset {
    fn run(self, ctx: &Ctx) -> Reply {
        date(ctx, "+%z")
    }
}

/// The file of a zone; a name that leaves the directory of zones is none.
fn zone_file(timezone: &str) -> Option<String> {
    let path = format!("{ZONES}/{timezone}");
    (!timezone.is_empty() && paths::normal(&path) == path).then_some(path)
}

/// Makes `/etc/localtime` a link to a zone.
fn link(ctx: &Ctx, file: &str) -> Result<(), Fault> {
    let path = Path::new(LOCALTIME);
    let refused = |error: std::io::Error| Fault::execution(format!("{LOCALTIME}: {error}"));
    if ctx.host.stat(path).is_ok_and(|stat| stat.target.is_none()) {
        ctx.host.remove(path).map_err(refused)?;
    }
    ctx.host.link(Path::new(file), path).map_err(refused)
}

record! {
    /// Sets the time zone of the host.
    ///
    ///   salt '*' timezone.set_zone 'America/Denver'
    pub struct SetZone {
        /// The zone.
        timezone: String,
    }
}

impl Run for SetZone {
    fn run(self, ctx: &Ctx) -> Reply {
        let timezone = self.timezone.trim();
        let file = zone_file(timezone).filter(|file| paths::exists(ctx.host, file));
        let Some(file) = file else { return Ok(format!("Zone does not exist: {ZONES}/{timezone}").into()) };
        if has_timedatectl(ctx) {
            Program::new(["timedatectl", "set-timezone", timezone]).run(ctx)?;
        }
        link(ctx, &file)?;
        match family(ctx) {
            "RedHat" => replace(ctx, CLOCK, "ZONE=", &format!("ZONE=\"{timezone}\""))?,
            "Suse" => replace(ctx, CLOCK, "TIMEZONE=", &format!("TIMEZONE=\"{timezone}\""))?,
            "Debian" | "Gentoo" => text_file::write(ctx.host, "/etc/timezone", &format!("{timezone}\n"))?,
            _ => {}
        }
        Ok(true.into())
    }
}

/// Replaces a line in a file that is there.
fn replace(ctx: &Ctx, path: &str, begins: &str, line: &str) -> Result<(), Fault> {
    let text = text_file::read(ctx.host, path)?;
    match text.lines().any(|old| old.starts_with(begins)) {
        true => text_file::set_line(ctx.host, path, begins, line),
        false => Ok(()),
    }
}

record! {
    /// Shows whether the host has a time zone.
    ///
    ///   salt '*' timezone.zone_compare 'America/Denver'
    pub struct ZoneCompare {
        /// The zone.
        timezone: String,
    }
}

impl Run for ZoneCompare {
    fn run(self, ctx: &Ctx) -> Reply {
        if let Ok(zone) = zone(ctx) {
            return Ok((zone == self.timezone).into());
        }
        let missing = || Fault::invocation(format!("Can't find a local timezone \"{}\"", self.timezone));
        let file = zone_file(&self.timezone).ok_or_else(missing)?;
        let wanted = ctx.host.read(Path::new(&file)).map_err(|_| missing())?;
        let own = ctx.host.read(Path::new(LOCALTIME));
        let own = own.map_err(|error| {
            Fault::execution(format!("Failed to read {LOCALTIME} to determine current timezone: {error}"))
        })?;
        Ok((own == wanted).into())
    }
}

/// What hwclock last wrote down.
fn adjtime(ctx: &Ctx) -> Result<Value, Fault> {
    if paths::exists(ctx.host, "/etc/adjtime") {
        let text = text_file::read(ctx.host, "/etc/adjtime")?;
        return Ok(text.lines().last().unwrap_or_default().into());
    }
    match paths::exists(ctx.host, "/dev/rtc") {
        true => Err(Fault::execution("Unable to get hwclock timezone from /etc/adjtime")),
        false => Ok(Value::Null),
    }
}

record! {
    /// Shows whether the hardware clock has UTC or local time.
    ///
    ///   salt '*' timezone.get_hwclock
    pub struct GetHwclock {}
}

impl Run for GetHwclock {
    fn run(self, ctx: &Ctx) -> Reply {
        if has_timedatectl(ctx) {
            let told = timedatectl(ctx)?;
            let line = told.lines().map(str::to_lowercase).find(|line| line.contains("rtc in local tz"));
            let line = line.ok_or_else(|| Fault::execution("timedatectl does not name the hardware clock"))?;
            let is_local = line.rsplit(':').next().is_some_and(|value| value.trim() == "yes");
            return Ok(if is_local { "localtime" } else { "UTC" }.into());
        }
        if family(ctx) == "Debian" {
            let text = text_file::read(ctx.host, "/etc/default/rcS")?;
            let line =
                text.lines().filter(|line| !line.trim_start().starts_with('#')).find(|line| line.contains("UTC="));
            if let Some(line) = line {
                let is_utc = line.rsplit('=').next().is_some_and(|value| value.to_lowercase() == "yes");
                return Ok(if is_utc { "UTC" } else { "localtime" }.into());
            }
        }
        Ok(adjtime(ctx)?.into())
    }
}

record! {
    /// Sets whether the hardware clock has UTC or local time.
    ///
    ///   salt '*' timezone.set_hwclock UTC
    pub struct SetHwclock {
        /// `UTC` or `localtime`.
        clock: String,
    }
}

impl Run for SetHwclock {
    fn run(self, ctx: &Ctx) -> Reply {
        let is_local = self.clock == "localtime";
        if has_timedatectl(ctx) {
            let words = ["timedatectl", "set-local-rtc", if is_local { "true" } else { "false" }];
            return Ok(Program::new(words).run(ctx)?.is_success().into());
        }
        let zone = zone(ctx)?;
        let file = zone_file(&zone).filter(|file| paths::exists(ctx.host, file));
        let file = file.ok_or_else(|| Fault::execution(format!("Zone '{ZONES}/{zone}' does not exist")))?;
        link(ctx, &file)?;
        match family(ctx) {
            "RedHat" => replace(ctx, CLOCK, "ZONE=", &format!("ZONE=\"{zone}\""))?,
            "Suse" => replace(ctx, CLOCK, "TIMEZONE=", &format!("TIMEZONE=\"{zone}\""))?,
            "Debian" if ["UTC", "localtime"].contains(&self.clock.as_str()) => {
                let line = if is_local { "UTC=no" } else { "UTC=yes" };
                replace(ctx, "/etc/default/rcS", "UTC=", line)?;
            }
            _ => {}
        }
        Ok(true.into())
    }
}
