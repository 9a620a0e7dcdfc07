//! The form of a line, as `log_fmt_console` and `log_fmt_logfile` write it: Python's `%(name)s`.

use halite_value::Map;
use jiff::ZonedDateTime;
use jiff::fmt::strtime::BrokenDownTime;
use log::{Level, Record};
use std::borrow::Cow;
use std::io::{self, Write};

/// A form, understood.
#[derive(Clone, Debug, PartialEq)]
pub struct Format {
    pieces: Vec<Piece>,
    date: String,
    /// What stands for the job and for the minion whose log this is.
    job: String,
    minion: String,
}

#[derive(Clone, Debug, PartialEq)]
enum Piece {
    Text(String),
    Field { what: Field, pad: Pad, width: usize, precision: Option<usize> },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pad {
    Left,
    Right,
    Zero,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Time,
    Created,
    Milliseconds,
    Level,
    LevelNumber,
    Name,
    Module,
    File,
    Path,
    Line,
    Message,
    Process,
    Thread,
    Job,
    Minion,
    /// Names that mean something in Python alone.
    Empty,
}

const FIELDS: &[(&str, Field)] = &[
    ("asctime", Field::Time),
    ("created", Field::Created),
    ("msecs", Field::Milliseconds),
    ("levelname", Field::Level),
    ("colorlevel", Field::Level),
    ("levelno", Field::LevelNumber),
    ("name", Field::Name),
    ("colorname", Field::Name),
    ("module", Field::Module),
    ("filename", Field::File),
    ("pathname", Field::Path),
    ("lineno", Field::Line),
    ("message", Field::Message),
    ("colormsg", Field::Message),
    ("process", Field::Process),
    ("colorprocess", Field::Process),
    ("processName", Field::Thread),
    ("threadName", Field::Thread),
    ("thread", Field::Empty),
    ("funcName", Field::Empty),
    ("relativeCreated", Field::Empty),
    ("jid", Field::Job),
    ("minion_id", Field::Minion),
];

impl Format {
    /// The sentence of an error goes behind the name of the option.
    pub fn parse(text: &str, date: &str) -> Result<Format, String> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('%') {
            pieces.push(Piece::Text(before.to_owned()));
            rest = match after.strip_prefix('%') {
                Some(after) => {
                    pieces.push(Piece::Text("%".to_owned()));
                    after
                }
                None => {
                    let (piece, after) = field(after).ok_or_else(|| {
                        let shown: String = after.chars().take(20).collect();
                        format!("has no such field: '%{shown}'")
                    })?;
                    pieces.push(piece);
                    after
                }
            };
        }
        pieces.push(Piece::Text(rest.to_owned()));
        pieces.retain(|piece| *piece != Piece::Text(String::new()));
        let format = Format { pieces, date: date.to_owned(), job: String::new(), minion: String::new() };
        let time = BrokenDownTime::from(&ZonedDateTime::now()).to_string(date);
        time.map_err(|error| format!("goes with a date '{date}' that cannot be used: {error}"))?;
        Ok(format)
    }

    /// Salt's own for the console.
    pub fn of_console() -> Format {
        let level = Piece::Field { what: Field::Level, pad: Pad::Right, width: 8, precision: None };
        let message = Piece::Field { what: Field::Message, pad: Pad::Left, width: 0, precision: None };
        let pieces = vec![Piece::Text("[".to_owned()), level, Piece::Text("] ".to_owned()), message];
        Format { pieces, date: "%H:%M:%S".to_owned(), job: String::new(), minion: String::new() }
    }

    /// The form of the lines of a job: `log_fmt_jid` and `log_fmt_minion_id` say how its number and its minion are shown.
    pub fn of_job(self, jid: &str, opts: &Map) -> Format {
        let shown = |option: &str, default: &str, field: &str, value: &str| {
            opts.str_at(option).unwrap_or(default).replace(&format!("%({field})s"), value)
        };
        let id = opts.str_at("id").unwrap_or_default();
        let job = shown("log_fmt_jid", "[JID: %(jid)s]", "jid", jid);
        let minion = shown("log_fmt_minion_id", "[%(minion_id)s]", "minion_id", id);
        Format { job, minion, ..self }
    }

    /// Writes the line of a record, with its end.
    pub fn write(&self, out: &mut impl Write, record: &Record) -> io::Result<()> {
        out.write_all(self.line(record, &ZonedDateTime::now()).as_bytes())
    }

    fn line(&self, record: &Record, now: &ZonedDateTime) -> String {
        let mut line = String::with_capacity(160);
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => line.push_str(text),
                Piece::Field { what, pad, width, precision } => {
                    let text = self.value(*what, record, now);
                    let text: &str = match precision {
                        Some(limit) => text.char_indices().nth(*limit).map_or(&text, |(at, _)| &text[..at]),
                        None => &text,
                    };
                    let fill = width.saturating_sub(text.chars().count());
                    match pad {
                        Pad::Right => line.extend([text, &" ".repeat(fill)]),
                        Pad::Left => line.extend([&" ".repeat(fill), text]),
                        Pad::Zero => line.extend([&"0".repeat(fill), text]),
                    }
                }
            }
        }
        line.push('\n');
        line
    }

    fn value<'r>(&self, what: Field, record: &Record<'r>, now: &ZonedDateTime) -> Cow<'r, str> {
        match what {
            Field::Time => BrokenDownTime::from(now).to_string(&self.date).unwrap_or_default().into(),
            Field::Created => format!("{:.6}", now.timestamp().as_microsecond() as f64 / 1e6).into(),
            Field::Milliseconds => now.millisecond().to_string().into(),
            Field::Level => level_name(record.level()).into(),
            Field::LevelNumber => level_number(record.level()).to_string().into(),
            Field::Name => name_of(record.target()).into(),
            Field::Module => name_of(record.target()).rsplit('.').next().unwrap_or_default().to_owned().into(),
            Field::File => record.file().and_then(|path| path.rsplit('/').next()).unwrap_or_default().to_owned().into(),
            Field::Path => record.file().unwrap_or_default().to_owned().into(),
            Field::Line => record.line().unwrap_or(0).to_string().into(),
            Field::Message => readable(&record.args().to_string()).into(),
            Field::Process => std::process::id().to_string().into(),
            Field::Thread => std::thread::current().name().unwrap_or("MainThread").to_owned().into(),
            Field::Job => self.job.clone().into(),
            Field::Minion => self.minion.clone().into(),
            Field::Empty => "".into(),
        }
    }
}

/// What stands after a percent sign, and what follows it.
fn field(text: &str) -> Option<(Piece, &str)> {
    let (name, rest) = text.strip_prefix('(')?.split_once(')')?;
    let (_, what) = FIELDS.iter().find(|(known, _)| *known == name)?;
    let flags = rest.len() - rest.trim_start_matches(['-', '0', '+', ' ', '#']).len();
    let (flags, rest) = rest.split_at(flags);
    let (width, rest) = number(rest);
    let (precision, rest) = match rest.strip_prefix('.') {
        Some(rest) => {
            let (precision, rest) = number(rest);
            (precision.or(Some(0)), rest)
        }
        None => (None, rest),
    };
    let mut letters = rest.chars();
    let kind = letters.next().filter(|kind| "sdifr".contains(*kind))?;
    let pad = match (flags.contains('-'), flags.contains('0') && kind != 's') {
        (true, _) => Pad::Right,
        (false, true) => Pad::Zero,
        (false, false) => Pad::Left,
    };
    let precision = precision.filter(|_| kind == 's');
    Some((Piece::Field { what: *what, pad, width: width.unwrap_or(0).min(200), precision }, letters.as_str()))
}

fn number(text: &str) -> (Option<usize>, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    (text[..end].parse().ok(), &text[end..])
}

/// Crates whose name is a part of Salt, too: `salt.modules.cmd` is `halite_modules::cmd`.
const NAMED: [&str; 4] = ["keys", "modules", "states", "wire"];
/// Crates whose parts stand for themselves: `salt.minion` is `halite_roles::minion`.
const UNNAMED: [&str; 5] = ["roles", "run", "node", "core", "lang"];

/// The name of a part in the log: `salt.minion.channel` for `halite_roles::minion::channel`.
fn name_of(target: &str) -> String {
    let (part, rest) = target.split_once("::").map_or((target, None), |(part, rest)| (part, Some(rest)));
    let Some(part) = part.strip_prefix("halite").map(|part| part.trim_start_matches('_')) else {
        return target.replace("::", ".");
    };
    let part = Some(part).filter(|part| NAMED.contains(part));
    let parts = ["salt"].into_iter().chain(part).map(str::to_owned).chain(rest.map(|rest| rest.replace("::", ".")));
    parts.collect::<Vec<_>>().join(".")
}

/// The parts that such a name may mean: those that it is the beginning of.
pub fn modules_of(name: &str) -> Vec<String> {
    let path = name.replace('.', "::");
    match path.strip_prefix("salt") {
        Some("") => vec!["halite".to_owned()],
        Some(rest) if rest.starts_with("::") => {
            let named = rest.strip_prefix("::").unwrap_or(rest);
            let named = NAMED.iter().any(|part| named == *part || named.starts_with(&format!("{part}::")));
            let named = named.then(|| format!("halite_{}", rest.trim_start_matches(':')));
            named.into_iter().chain(UNNAMED.iter().map(|part| format!("halite_{part}{rest}"))).collect()
        }
        _ => vec![path],
    }
}

/// As Salt calls the level.
fn level_name(level: Level) -> &'static str {
    match level {
        Level::Error => "ERROR",
        Level::Warn => "WARNING",
        Level::Info => "INFO",
        Level::Debug => "DEBUG",
        Level::Trace => "TRACE",
    }
}

/// As Python numbers it.
fn level_number(level: Level) -> u32 {
    match level {
        Level::Error => 40,
        Level::Warn => 30,
        Level::Info => 20,
        Level::Debug => 10,
        Level::Trace => 5,
    }
}

/// Without what a terminal would take for an order: parts of a message come from others.
fn readable(text: &str) -> String {
    let plain = |c: char| !c.is_control() || c == '\n' || c == '\t';
    if text.chars().all(plain) {
        return text.to_owned();
    }
    text.chars().map(|c| if plain(c) { c.to_string() } else { c.escape_default().to_string() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(format: &str, message: &str) -> String {
        let now =
            "2026-01-02T03:04:05.006Z".parse::<jiff::Timestamp>().unwrap().to_zoned_datetime(jiff::tz::TimeZone::UTC);
        let format = Format::parse(format, "%Y-%m-%d %H:%M:%S").unwrap();
        let mut record = Record::builder();
        record.level(Level::Warn).target("halite_roles::minion::channel");
        record.file(Some("src/roles/minion/channel.rs")).line(Some(7));
        format.line(&record.args(format_args!("{message}")).build(), &now)
    }

    #[test]
    fn a_line_is_as_salt_writes_it() {
        let default = "%(asctime)s,%(msecs)03d [%(name)-17s:%(lineno)-4d][%(levelname)-8s][%(process)d] %(message)s";
        let pid = std::process::id();
        let expected = format!("2026-01-02 03:04:05,006 [salt.minion.channel:7   ][WARNING ][{pid}] gone\n");
        assert_eq!(line(default, "gone"), expected);
        for (format, expected) in [
            ("[%(levelname)-8s] %(message)s", "[WARNING ] gone\n"),
            ("%(levelname)9s|%(levelno)04d|%(name).4s", "  WARNING|0030|salt\n"),
            ("100%% %(filename)s %(module)s", "100% channel.rs channel\n"),
            ("%(created)f", "1767323045.006000\n"),
            ("", "\n"),
        ] {
            assert_eq!(line(format, "gone"), expected, "{format}");
        }
        assert_eq!(Format::parse("[%(levelname)-8s] %(message)s", "%H:%M:%S"), Ok(Format::of_console()));
    }

    #[test]
    fn the_lines_of_a_job_name_it_and_those_of_a_daemon_do_not() {
        let form = Format::parse("%(minion_id)s%(jid)s %(message)s", "%H").unwrap();
        let shown =
            |form: &Format| form.line(&Record::builder().args(format_args!("x")).build(), &ZonedDateTime::now());
        assert_eq!(shown(&form), " x\n");
        let opts = Map::from_iter([("id", "web1"), ("log_fmt_jid", "<%(jid)s>")]);
        assert_eq!(shown(&form.of_job("2026", &opts)), "[web1]<2026> x\n");
    }

    #[test]
    fn what_cannot_be_meant_is_said() {
        for format in ["%(nothing)s", "%(message)", "%message", "%(message", "%(message)x", "50%"] {
            assert!(Format::parse(format, "%H").is_err(), "{format}");
        }
        assert!(Format::parse("%(asctime)s", "%").is_err());
    }

    #[test]
    fn a_message_gives_no_orders_to_a_terminal() {
        assert_eq!(line("%(message)s", "a\x1b[31mb\r\nc\td"), "a\\u{1b}[31mb\\r\nc\td\n");
    }

    #[test]
    fn names_are_salts_in_both_directions() {
        assert_eq!(name_of("halite_modules::cmd"), "salt.modules.cmd");
        assert_eq!(name_of("halite_run::modules::state::apply"), "salt.modules.state.apply");
        assert_eq!(name_of("halite_wire::nng"), "salt.wire.nng");
        assert_eq!(name_of("halite_roles::minion"), "salt.minion");
        assert_eq!((name_of("halite_modules").as_str(), name_of("halite").as_str()), ("salt.modules", "salt"));
        assert_eq!(name_of("polling"), "polling");
        assert_eq!(modules_of("salt"), ["halite"]);
        assert!(modules_of("salt.minion").contains(&"halite_roles::minion".to_owned()));
        assert!(modules_of("salt.modules.cmd").contains(&"halite_modules::cmd".to_owned()));
        assert!(modules_of("salt.modules.state").contains(&"halite_run::modules::state".to_owned()));
        assert!(!modules_of("salt.modulesque").contains(&"halite_modulesque".to_owned()));
        assert_eq!(modules_of("saltpeter.x"), ["saltpeter::x"]);
    }
}
