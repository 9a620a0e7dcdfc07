//! The colours of a terminal, under Salt's names.

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

/// Whether there are colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Colors {
    #[default]
    Off,
    On,
}

impl Colors {
    /// What turns a colour on; empty without colours.
    pub fn start(self, color: Color) -> &'static str {
        match self {
            Colors::Off => "",
            Colors::On => color.code(),
        }
    }

    /// What turns every colour off; empty without colours.
    pub fn end(self) -> &'static str {
        match self {
            Colors::Off => "",
            Colors::On => "\u{1b}[0;0m",
        }
    }

    /// A text in a colour.
    pub fn paint(self, color: Color, text: &str) -> String {
        format!("{}{text}{}", self.start(color), self.end())
    }
}

impl Color {
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
