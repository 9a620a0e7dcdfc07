//! Where answers go: to standard output or a file, in colour or not, through the outputter that the user, else the
//! function, asks for.

use super::options::Output;
use halite_lang::yaml;
use halite_node::outputters;
use halite_node::outputters::{Colors, Style, Theme};
use halite_value::{Map, Value};
use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

/// The colours, with those of the file that `color_theme` names. One that cannot be read is no obstacle.
fn colors_of(config: &Map) -> Colors {
    let Some(path) = config.str_at("color_theme").filter(|path| !path.is_empty()) else {
        return Colors::On;
    };
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string());
    let data = text.and_then(|text| yaml::load(&text).map_err(|error| error.to_string()));
    match data.and_then(|data| Theme::read(&data)) {
        Ok(theme) => Colors::Themed(theme),
        Err(why) => {
            log::warn!("color_theme: {path}: {why}");
            Colors::On
        }
    }
}

/// The display of one command.
#[derive(Debug)]
pub struct Display {
    /// The configuration, with the options of the command line above it.
    opts: Map,
    colors: Colors,
    to: To,
}

#[derive(Debug)]
enum To {
    Stdout,
    File {
        path: PathBuf,
        file: File,
    },
    /// For tests, and for answers that nobody is to see.
    Memory(Vec<u8>),
}

/// An output that cannot be written.
#[derive(Debug)]
pub struct DisplayError {
    /// Nothing: standard output.
    path: Option<PathBuf>,
    error: io::Error,
}

impl Display {
    /// The display that the options ask for. A file is emptied now, unless it is to be added to.
    pub fn new(output: &Output, config: &Map) -> Result<Display, DisplayError> {
        let by_config = config.str_at("output_file").filter(|path| !path.is_empty()).map(PathBuf::from);
        let to = match output.out_file.as_ref().or(by_config.as_ref()) {
            None => To::Stdout,
            Some(path) => {
                let append = output.out_file_append;
                let file = OpenOptions::new().create(true).write(true).append(append).truncate(!append).open(path);
                let file = file.map_err(|error| DisplayError { path: Some(path.clone()), error })?;
                To::File { path: path.clone(), file }
            }
        };
        let is_terminal = matches!(to, To::Stdout) && io::stdout().is_terminal();
        let is_unwanted = config.at("color").is_some_and(|value| *value != Value::Null && !value.truthy());
        let colors = match () {
            () if output.force_color => colors_of(config),
            () if output.no_color || is_unwanted || !is_terminal => Colors::Off,
            () => colors_of(config),
        };
        Ok(Display { opts: with_options(config, output), colors, to })
    }

    /// A display that keeps what it is shown; see [`Display::into_text`].
    pub fn in_memory(output: &Output, config: &Map) -> Display {
        let colors = if output.force_color { colors_of(config) } else { Colors::Off };
        Display { opts: with_options(config, output), colors, to: To::Memory(Vec::new()) }
    }

    /// Shows an answer. `suggested` is the outputter that its function suggests; the user's word weighs more, but for
    /// `highstate`, which does not fit every answer. `retcode` is the exit code of what is shown.
    pub fn show(&mut self, value: &Value, suggested: Option<&str>, retcode: i32) -> Result<(), DisplayError> {
        let name = match self.opts.str_at("output") {
            Some("highstate") => suggested.unwrap_or("highstate"),
            Some(asked) if !asked.is_empty() => asked,
            _ => suggested.unwrap_or("nested"),
        };
        let indent = self.opts.at("output_indent").and_then(Value::as_int);
        let style = Style { colors: self.colors, indent, retcode, opts: &self.opts };
        let shown = outputters::show(value, name, &style);
        if let Some(complaint) = shown.complaint {
            log::error!("{complaint}");
        }
        if shown.text.is_empty() {
            return Ok(());
        }
        self.write(&(shown.text + "\n"))
    }

    /// Prints a text that is no answer: a question, a notice. It goes where answers go, but never to a file.
    pub fn say(&mut self, text: &str) {
        match &mut self.to {
            To::Memory(kept) => kept.extend_from_slice(text.as_bytes()),
            // That it is lost is told with the answer, which goes the same way.
            To::Stdout | To::File { .. } => {
                let _ = super::exit::print(text);
            }
        }
    }

    /// What was shown, for a display in memory.
    pub fn into_text(self) -> String {
        match self.to {
            To::Memory(kept) => String::from_utf8_lossy(&kept).into_owned(),
            To::Stdout | To::File { .. } => String::new(),
        }
    }

    fn write(&mut self, text: &str) -> Result<(), DisplayError> {
        match &mut self.to {
            To::File { path, file } => {
                file.write_all(text.as_bytes()).map_err(|error| DisplayError { path: Some(path.clone()), error })
            }
            To::Stdout => super::exit::print(text).map_err(|error| DisplayError { path: None, error }),
            To::Memory(kept) => {
                kept.extend_from_slice(text.as_bytes());
                Ok(())
            }
        }
    }
}

/// The configuration as outputters see it.
fn with_options(config: &Map, output: &Output) -> Map {
    let mut opts = config.clone();
    if let Some(out) = &output.out {
        opts.insert("output", out);
    }
    if let Some(indent) = output.out_indent {
        opts.insert("output_indent", indent);
    }
    if let Some(state_output) = &output.state_output {
        opts.insert("state_output", state_output);
    }
    if let Some(verbose) = output.state_verbose {
        opts.insert("state_verbose", verbose.0);
    }
    opts
}

impl std::fmt::Display for DisplayError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.path {
            Some(path) => write!(f, "--out-file {}: {}", path.display(), self.error),
            None => write!(f, "standard output: {}", self.error),
        }
    }
}

impl std::error::Error for DisplayError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(output: &Output, value: &Value, suggested: Option<&str>) -> String {
        let mut display = Display::in_memory(output, &Map::new());
        display.show(value, suggested, 0).unwrap();
        display.into_text()
    }

    #[test]
    fn the_users_outputter_weighs_more_than_the_functions() {
        let ping = Value::from(Map::from_iter([("web1", true)]));
        let out = |name: &str| Output { out: Some(name.to_owned()), ..Output::default() };
        assert_eq!(shown(&Output::default(), &ping, None), "web1:\n    True\n");
        assert_eq!(shown(&Output::default(), &ping, Some("raw")), "{'web1': True}\n");
        assert_eq!(shown(&out("txt"), &ping, Some("raw")), "web1: True\n");
        assert_eq!(shown(&out("highstate"), &ping, Some("raw")), "{'web1': True}\n");
        assert_eq!(shown(&out("highstate"), &ping, None), "web1:\n    True\n");
        let colored = Output { force_color: true, ..Output::default() };
        assert_eq!(shown(&colored, &ping, None), "\u{1b}[0;36mweb1\u{1b}[0;0m:\n    \u{1b}[0;1;33mTrue\u{1b}[0;0m\n");
        assert_eq!(shown(&Output::default(), &Value::List(vec![]), None), "");
    }

    #[test]
    fn colours_are_those_of_the_theme_and_a_broken_theme_is_no_obstacle() {
        let path = std::env::temp_dir().join(format!("halite-theme-{}", std::process::id()));
        let colored = Output { force_color: true, ..Output::default() };
        let themed = |text: &str| {
            std::fs::write(&path, text).unwrap();
            let config = Map::from_iter([("color_theme", path.to_string_lossy().into_owned())]);
            let mut display = Display::in_memory(&colored, &config);
            display.show(&Value::from(Map::from_iter([("web1", true)])), None, 0).unwrap();
            display.into_text()
        };
        let shown = themed("CYAN: 38;5;45\n");
        assert_eq!(shown, "\u{1b}[38;5;45mweb1\u{1b}[0;0m:\n    \u{1b}[0;1;33mTrue\u{1b}[0;0m\n");
        assert!(themed("[").contains("\u{1b}[0;36mweb1"));
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_file_is_emptied_once_or_added_to() {
        let path = std::env::temp_dir().join(format!("halite-display-{}", std::process::id()));
        std::fs::write(&path, "old\n").unwrap();
        let mut output = Output { out_file: Some(path.clone()), out: Some("raw".to_owned()), ..Output::default() };
        let mut display = Display::new(&output, &Map::new()).unwrap();
        display.show(&Value::from(1), None, 0).unwrap();
        display.show(&Value::from(2), None, 0).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "1\n2\n");
        output.out_file_append = true;
        Display::new(&output, &Map::new()).unwrap().show(&Value::from(3), None, 0).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "1\n2\n3\n");
        std::fs::remove_file(&path).unwrap();
        output.out_file = Some("/nonexistent/x".into());
        let error = Display::new(&output, &Map::new()).unwrap_err();
        assert!(error.to_string().starts_with("--out-file /nonexistent/x: "), "{error}");
    }
}
