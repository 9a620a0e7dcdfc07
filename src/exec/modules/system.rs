//! `system.*`: the host's power, time and name.

use halite_core::accounts::tool;
use halite_core::module::{Module, Run, function};
use halite_core::program::Program;
use halite_core::{Ctx, Fault, Reply, text_file};
use halite_value::Value;
use halite_value::record;
use halite_value::record::Arguments;
use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};

pub const MODULE: Module = Module {
    name: "system",
    doc: "The host's power, time and name.",
    functions: &[
        function::<GetComputerDesc>("get_computer_desc"),
        function::<GetComputerName>("get_computer_name"),
        function::<GetSystemDate>("get_system_date"),
        function::<GetSystemDateTime>("get_system_date_time"),
        function::<GetSystemTime>("get_system_time"),
        function::<Halt>("halt"),
        function::<HasSettableHwclock>("has_settable_hwclock"),
        function::<Init>("init"),
        function::<Poweroff>("poweroff"),
        function::<Reboot>("reboot"),
        function::<SetComputerDesc>("set_computer_desc"),
        function::<SetComputerName>("set_computer_name"),
        function::<SetSystemDate>("set_system_date"),
        function::<SetSystemDateTime>("set_system_date_time"),
        function::<SetSystemTime>("set_system_time"),
        function::<Shutdown>("shutdown"),
    ],
};

/// Runs what may end the host, and returns what it printed.
fn end(ctx: &Ctx, argv: &[&str]) -> Reply {
    Ok(Program::new(argv.iter().copied()).mixed().run(ctx)?.stdout.into())
}

/// When: a number of minutes, `hh:mm`, or now.
fn moment(at_time: &Value) -> Result<String, Fault> {
    match at_time.truthy().then(|| at_time.to_text()) {
        None => Ok("now".to_owned()),
        Some(text) if text.starts_with('-') => Err(Fault::invocation(format!("'{text}' is no time"))),
        Some(text) => Ok(text),
    }
}

record! {
    /// Halts the host.
    ///
    ///   salt '*' system.halt
    pub struct Halt {}
}

impl Run for Halt {
    fn run(self, ctx: &Ctx) -> Reply {
        end(ctx, &["halt"])
    }
}

record! {
    /// Changes the run level.
    ///
    ///   salt '*' system.init 3
    pub struct Init {
        /// The run level.
        runlevel: String,
    }
}

impl Run for Init {
    fn run(self, ctx: &Ctx) -> Reply {
        match self.runlevel.len() == 1 && self.runlevel.chars().all(char::is_alphanumeric) {
            true => end(ctx, &["init", &self.runlevel]),
            false => Err(Fault::invocation(format!("'{}' is not a run level", self.runlevel))),
        }
    }
}

record! {
    /// Turns the host off.
    ///
    ///   salt '*' system.poweroff
    pub struct Poweroff {}
}

impl Run for Poweroff {
    fn run(self, ctx: &Ctx) -> Reply {
        end(ctx, &["poweroff"])
    }
}

record! {
    /// Restarts the host.
    ///
    ///   salt '*' system.reboot
    ///   salt '*' system.reboot at_time=5
    pub struct Reboot {
        /// In how many minutes, or when; now if not given.
        at_time: Value = (),
    }
}

impl Run for Reboot {
    fn run(self, ctx: &Ctx) -> Reply {
        end(ctx, &["shutdown", "-r", &moment(&self.at_time)?])
    }
}

record! {
    /// Shuts the host down.
    ///
    ///   salt '*' system.shutdown 5
    pub struct Shutdown {
        /// In how many minutes, or when; now if not given.
        at_time: Value = (),
    }
}

impl Run for Shutdown {
    fn run(self, ctx: &Ctx) -> Reply {
        end(ctx, &["shutdown", "-h", &moment(&self.at_time)?])
    }
}

/// The zone of an offset such as `+0100`; without one the host's own.
fn zone(utc_offset: Option<&str>) -> Result<TimeZone, Fault> {
    let Some(text) = utc_offset else { return Ok(TimeZone::system()) };
    let wrong = || Fault::invocation("Invalid UTC offset");
    let digits = text.trim_start_matches(['+', '-']);
    if digits.len() != 4 || text.len() > 5 || !digits.chars().all(|c| c.is_ascii_digit()) {
        return Err(wrong());
    }
    let number = |text: &str| text.parse::<i32>().map_err(|_| wrong());
    let seconds = number(&digits[..2])? * 3600 + number(&digits[2..])? * 60;
    let seconds = if text.starts_with('-') { -seconds } else { seconds };
    Offset::from_seconds(seconds).map(TimeZone::fixed).map_err(|_| wrong())
}

fn now(ctx: &Ctx, utc_offset: Option<&str>) -> Result<DateTime, Fault> {
    let now = jiff::Timestamp::try_from(ctx.host.now()).map_err(|error| Fault::Internal(error.to_string()))?;
    Ok(zone(utc_offset)?.to_datetime(now))
}

record! {
    /// Shows the time of day.
    ///
    ///   salt '*' system.get_system_time
    pub struct GetSystemTime {
        /// The offset from UTC, such as `+0100`; the host's own if not given.
        utc_offset: Option<String> = (),
    }
}

impl Run for GetSystemTime {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(now(ctx, self.utc_offset.as_deref())?.strftime("%I:%M:%S %p").to_string().into())
    }
}

record! {
    /// Shows date and time.
    ///
    ///   salt '*' system.get_system_date_time "'-0500'"
    pub struct GetSystemDateTime {
        /// The offset from UTC, such as `+0100`; the host's own if not given.
        utc_offset: Option<String> = (),
    }
}

impl Run for GetSystemDateTime {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(now(ctx, self.utc_offset.as_deref())?.strftime("%Y-%m-%d %H:%M:%S").to_string().into())
    }
}

record! {
    /// Shows the date.
    ///
    ///   salt '*' system.get_system_date
    pub struct GetSystemDate {
        /// The offset from UTC, such as `+0100`; the host's own if not given.
        utc_offset: Option<String> = (),
    }
}

impl Run for GetSystemDate {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(now(ctx, self.utc_offset.as_deref())?.strftime("%a %m/%d/%Y").to_string().into())
    }
}

record! {
    /// Sets the time of day.
    ///
    ///   salt '*' system.set_system_time "'11:20'"
    pub struct SetSystemTime {
        /// `HH:MM:SS`, `HH:MM`, or either with AM or PM.
        newtime: String,
        /// The offset from UTC that it is meant in.
        utc_offset: Option<String> = (),
    }
}

impl Run for SetSystemTime {
    fn run(self, ctx: &Ctx) -> Reply {
        let formats = ["%I:%M:%S %p", "%I:%M %p", "%H:%M:%S", "%H:%M"];
        let time = formats.iter().find_map(|format| jiff::civil::Time::strptime(format, self.newtime.trim()).ok());
        let Some(time) = time else { return Ok(false.into()) };
        let wanted = Wanted {
            hours: Some(time.hour().into()),
            minutes: Some(time.minute().into()),
            seconds: Some(time.second().into()),
            ..Wanted::default()
        };
        wanted.set(ctx, self.utc_offset.as_deref())
    }
}

record! {
    /// Sets the date.
    ///
    ///   salt '*' system.set_system_date '03-28-13'
    pub struct SetSystemDate {
        /// `YYYY-MM-DD`, `MM-DD-YYYY`, `MM-DD-YY`, or with slashes.
        newdate: String,
        /// The offset from UTC that it is meant in.
        utc_offset: Option<String> = (),
    }
}

impl Run for SetSystemDate {
    fn run(self, ctx: &Ctx) -> Reply {
        let formats = ["%Y-%m-%d", "%m-%d-%Y", "%m-%d-%y", "%m/%d/%Y", "%m/%d/%y", "%Y/%m/%d"];
        let date = formats.iter().find_map(|format| jiff::civil::Date::strptime(format, &self.newdate).ok());
        let date = date.ok_or_else(|| Fault::invocation("Invalid date format"))?;
        let wanted = Wanted {
            years: Some(date.year().into()),
            months: Some(date.month().into()),
            days: Some(date.day().into()),
            ..Wanted::default()
        };
        wanted.set(ctx, self.utc_offset.as_deref())
    }
}

record! {
    /// Sets date and time; what is not given stays.
    ///
    ///   salt '*' system.set_system_date_time 2015 5 12 11 37 53
    pub struct SetSystemDateTime {
        /// The year.
        years: Option<i64> = (),
        /// The month.
        months: Option<i64> = (),
        /// The day of the month.
        days: Option<i64> = (),
        /// The hour.
        hours: Option<i64> = (),
        /// The minute.
        minutes: Option<i64> = (),
        /// The second.
        seconds: Option<i64> = (),
        /// The offset from UTC that it is meant in.
        utc_offset: Option<String> = (),
    }
}

impl Run for SetSystemDateTime {
    fn run(self, ctx: &Ctx) -> Reply {
        let SetSystemDateTime { years, months, days, hours, minutes, seconds, utc_offset } = self;
        Wanted { years, months, days, hours, minutes, seconds }.set(ctx, utc_offset.as_deref())
    }
}

/// Parts of a moment that are to be set.
#[derive(Default)]
struct Wanted {
    years: Option<i64>,
    months: Option<i64>,
    days: Option<i64>,
    hours: Option<i64>,
    minutes: Option<i64>,
    seconds: Option<i64>,
}

impl Wanted {
    fn set(self, ctx: &Ctx, utc_offset: Option<&str>) -> Reply {
        let now = now(ctx, utc_offset)?;
        let part = |wanted: Option<i64>, own: i64| i8::try_from(wanted.unwrap_or(own)).unwrap_or(-1);
        let year = i16::try_from(self.years.unwrap_or(now.year().into())).unwrap_or(i16::MIN);
        let moment = DateTime::new(
            year,
            part(self.months, now.month().into()),
            part(self.days, now.day().into()),
            part(self.hours, now.hour().into()),
            part(self.minutes, now.minute().into()),
            part(self.seconds, now.second().into()),
            0,
        );
        let moment = moment.map_err(|error| Fault::invocation(format!("there is no such moment: {error}")))?;
        let mut program = Program::new(["date"]);
        let moment = match utc_offset {
            None => moment,
            Some(_) => {
                program = program.arg("-u");
                let stamp = zone(utc_offset)?.to_ambiguous_timestamp(moment).compatible();
                TimeZone::UTC.to_datetime(stamp.map_err(|error| Fault::invocation(error.to_string()))?)
            }
        };
        let answer = program.arg(moment.strftime("%m%d%H%M%Y.%S").to_string()).run(ctx)?;
        answer.expect_success("date failed")?;
        if has_hwclock(ctx)? {
            Program::new(["hwclock", "--systohc"]).run(ctx)?.expect_success("hwclock failed to set hardware clock")?;
        }
        Ok(true.into())
    }
}

fn has_hwclock(ctx: &Ctx) -> Result<bool, Fault> {
    if ctx.host.which("hwclock").is_none() {
        return Ok(false);
    }
    Ok(Program::new(["hwclock", "--test", "--systohc"]).query(ctx)?.is_success())
}

record! {
    /// Shows whether the host has a hardware clock that can be set.
    ///
    ///   salt '*' system.has_settable_hwclock
    pub struct HasSettableHwclock {}
}

impl Run for HasSettableHwclock {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(has_hwclock(ctx)?.into())
    }
}

const INFO: &str = "/etc/machine-info";
const PRETTY: &str = "PRETTY_HOSTNAME=";

record! {
    /// Shows what the host is called in words; False where it has no such name.
    ///
    ///   salt '*' system.get_computer_desc
    pub struct GetComputerDesc {}
}

impl Run for GetComputerDesc {
    fn run(self, ctx: &Ctx) -> Reply {
        let text = match ctx.host.which("hostnamectl") {
            Some(path) => {
                let path = path.to_string_lossy().into_owned();
                Some(Program::new([path.as_str(), "status", "--pretty"]).mixed().query(ctx)?.stdout)
            }
            None => {
                let info = text_file::read(ctx.host, INFO)?;
                let line = info.lines().rev().find_map(|line| line.trim_start().strip_prefix(PRETTY));
                let unquoted = |text: &str| {
                    let quoted = text.len() > 1
                        && (text.starts_with('"') && text.ends_with('"')
                            || text.starts_with('\'') && text.ends_with('\''));
                    if quoted { text[1..text.len() - 1].to_owned() } else { text.to_owned() }
                };
                line.map(|text| unquoted(text.trim()))
            }
        };
        let plain =
            |text: String| text.replace("\\\\", "\\").replace("\\\"", "\"").replace("\\n", "\n").replace("\\t", "\t");
        Ok(text.map_or(Value::Bool(false), |text| plain(text).into()).into())
    }
}

record! {
    /// Sets what the host is called in words.
    ///
    ///   salt '*' system.set_computer_desc "Michael's laptop"
    pub struct SetComputerDesc {
        /// The words.
        desc: String,
    }
}

impl Run for SetComputerDesc {
    fn run(self, ctx: &Ctx) -> Reply {
        let desc = self.desc.replace('"', "\\\"").replace('\n', "\\n").replace('\t', "\\t");
        if let Some(path) = ctx.host.which("hostnamectl") {
            let path = path.to_string_lossy().into_owned();
            let words = [path.as_str(), "set-hostname", "--pretty", "--", &desc];
            return Ok(Program::new(words).run(ctx)?.is_success().into());
        }
        text_file::set_line(ctx.host, INFO, PRETTY, &format!("{PRETTY}\"{desc}\""))?;
        Ok(true.into())
    }
}

record! {
    /// Shows the host's name.
    ///
    ///   salt '*' system.get_computer_name
    pub struct GetComputerName {}
}

impl Run for GetComputerName {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(ctx.run("network.get_hostname", Arguments::default())?.into())
    }
}

record! {
    /// Sets the host's name.
    ///
    ///   salt '*' system.set_computer_name master.saltstack.com
    pub struct SetComputerName {
        /// The name.
        hostname: String,
    }
}

impl Run for SetComputerName {
    fn run(self, ctx: &Ctx) -> Reply {
        tool(ctx, "hostname").or_else(|_| tool(ctx, "hostnamectl"))?;
        Ok(ctx.run("network.mod_hostname", Arguments::positional([self.hostname]))?.into())
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::World;
    use halite_core::context::NoMaster;
    use halite_core::host::fake::Fake;
    use halite_core::host::{Processes, ReadOnly};
    use halite_core::module::call;
    use halite_value::Value;
    use halite_value::record::Arguments;

    fn ran(fun: &str, words: &[Value]) -> Vec<String> {
        let host = Fake::new()
            .answers(["shutdown", "-r", "now"], "")
            .answers(["shutdown", "-h", "5"], "")
            .answers(["halt"], "")
            .answers(["poweroff"], "")
            .answers(["init", "3"], "")
            .answers(["date", "-u", "051209372015.53"], "")
            .answers(["date", "-u", "111420152023.00"], "");
        let world = World::on(host);
        call(&world.ctx(&NoMaster), fun, Arguments::positional(words.iter().cloned())).unwrap();
        world.host.ran().iter().map(|command| command.argv.join(" ")).collect()
    }

    #[test]
    fn what_ends_a_host_is_run_as_it_should() {
        assert_eq!(ran("system.reboot", &[]), ["shutdown -r now"]);
        assert_eq!(ran("system.shutdown", &[5.into()]), ["shutdown -h 5"]);
        assert_eq!(ran("system.halt", &[]), ["halt"]);
        assert_eq!(ran("system.poweroff", &[]), ["poweroff"]);
        assert_eq!(ran("system.init", &[3.into()]), ["init 3"]);
        let date = [2015, 5, 12, 11, 37, 53].map(Value::from);
        let date: Vec<Value> = date.into_iter().chain(["+0200".into()]).collect();
        assert_eq!(ran("system.set_system_date_time", &date), ["date -u 051209372015.53"]);
        assert_eq!(ran("system.set_system_time", &["20:15".into(), "+0000".into()]), ["date -u 111420152023.00"]);
    }

    #[test]
    fn nothing_ends_a_host_in_test_mode() {
        let world = World::new();
        let view = ReadOnly(&world.host);
        for fun in ["system.halt", "system.poweroff", "system.reboot", "system.shutdown"] {
            assert!(call(&world.ctx_on(&view, &NoMaster), fun, Arguments::default()).is_err(), "{fun}");
        }
        assert!(view.env("X").is_none() && world.host.ran().is_empty());
        assert!(call(&world.ctx(&NoMaster), "system.init", Arguments::positional(["-x"])).is_err());
        assert!(call(&world.ctx(&NoMaster), "system.get_system_time", Arguments::positional(["x"])).is_err());
    }
}
