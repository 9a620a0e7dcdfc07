//! The colours of a terminal, under Salt's names, and those of a theme (`color_theme`) in their places.

use halite_value::{Map, Value};

/// One colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Color {
    DarkGray,
    Red,
    LightRed,
    Green,
    LightGreen,
    Yellow,
    LightYellow,
    Blue,
    LightBlue,
    Magenta,
    LightMagenta,
    Cyan,
    LightGray,
    White,
}

/// Whether there are colours, and which.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Colors {
    #[default]
    Off,
    On,
    Themed(&'static Theme),
}

/// The colours that a file puts in the place of others: names, and what turns each of them on.
#[derive(Debug, PartialEq, Eq)]
pub struct Theme(Vec<(String, String)>);

impl Theme {
    /// Reads a map of names to codes of a terminal, such as `RED: 0;31`. It lasts as long as the program, like the
    /// terminal.
    pub fn read(data: &Value) -> Result<&'static Theme, String> {
        let Value::Map(codes) = data else {
            return Err(format!("it holds a {}, not a map of colours", data.type_name()));
        };
        Theme::of(codes).map(|theme| &*Box::leak(Box::new(theme)))
    }

    fn of(codes: &Map) -> Result<Theme, String> {
        let code = |(name, code): (&Value, &Value)| {
            let code = code.to_text();
            // Anything else could be an order to the terminal that is none of a colour.
            match !code.is_empty() && code.chars().all(|c| c.is_ascii_digit() || matches!(c, ';' | ':')) {
                true => Ok((name.to_text(), format!("\u{1b}[{code}m"))),
                false => Err(format!("{}: a code such as 0;31 is wanted", name.to_text())),
            }
        };
        codes.iter().map(code).collect::<Result<_, _>>().map(Theme)
    }

    fn start(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(own, _)| own == name).map(|(_, start)| start.as_str())
    }
}

const END: &str = "\u{1b}[0;0m";

impl Colors {
    /// What turns a colour on; empty without colours.
    pub fn start(self, color: Color) -> &'static str {
        match self {
            Colors::Off => "",
            Colors::On => color.code(),
            Colors::Themed(theme) => theme.start(color.name()).unwrap_or(color.code()),
        }
    }

    /// What turns every colour off; empty without colours.
    pub fn end(self) -> &'static str {
        match self {
            Colors::Off => "",
            Colors::On => END,
            Colors::Themed(theme) => theme.start("ENDC").unwrap_or(END),
        }
    }

    /// A text in a colour.
    pub fn paint(self, color: Color, text: &str) -> String {
        format!("{}{text}{}", self.start(color), self.end())
    }
}

impl Color {
    /// As a theme calls it.
    fn name(self) -> &'static str {
        match self {
            Color::DarkGray => "DARK_GRAY",
            Color::Red => "RED",
            Color::LightRed => "LIGHT_RED",
            Color::Green => "GREEN",
            Color::LightGreen => "LIGHT_GREEN",
            Color::Yellow => "YELLOW",
            Color::LightYellow => "LIGHT_YELLOW",
            Color::Blue => "BLUE",
            Color::LightBlue => "LIGHT_BLUE",
            Color::Magenta => "MAGENTA",
            Color::LightMagenta => "LIGHT_MAGENTA",
            Color::Cyan => "CYAN",
            Color::LightGray => "LIGHT_GRAY",
            Color::White => "WHITE",
        }
    }

    fn code(self) -> &'static str {
        match self {
            Color::DarkGray => "\u{1b}[0;1;30m",
            Color::Red => "\u{1b}[0;31m",
            Color::LightRed => "\u{1b}[0;1;31m",
            Color::Green => "\u{1b}[0;32m",
            Color::LightGreen => "\u{1b}[0;1;32m",
            Color::Yellow => "\u{1b}[0;33m",
            Color::LightYellow => "\u{1b}[0;1;33m",
            Color::Blue => "\u{1b}[0;34m",
            Color::LightBlue => "\u{1b}[0;1;34m",
            Color::Magenta => "\u{1b}[0;35m",
            Color::LightMagenta => "\u{1b}[0;1;35m",
            Color::Cyan => "\u{1b}[0;36m",
            Color::LightGray => "\u{1b}[0;37m",
            Color::White => "\u{1b}[0;1;37m",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_lang::yaml;

    #[test]
    fn a_theme_puts_other_colours_in_the_place_of_some() {
        let themed = Colors::Themed(Theme::read(&yaml::load("{GREEN: '38;5;34', ENDC: 0}").unwrap()).unwrap());
        assert_eq!(themed.paint(Color::Green, "x"), "\u{1b}[38;5;34mx\u{1b}[0m");
        assert_eq!(themed.start(Color::Red), Colors::On.start(Color::Red));
    }

    #[test]
    fn a_theme_gives_no_orders_to_the_terminal() {
        for wrong in ["[GREEN]", "{GREEN: '2Jx'}", "{GREEN: ''}", "{GREEN: [1]}"] {
            assert!(Theme::read(&yaml::load(wrong).unwrap()).is_err(), "{wrong}");
        }
    }
}
