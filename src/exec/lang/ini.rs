//! Files of sections and settings, line by line. What a line is, is decided here for all who read such files; what becomes
//! of it, of comments and of what is said twice, is theirs: a file that is edited keeps every line, a table keeps values.

/// What holds for a kind of such files.
#[derive(Clone, Copy, Debug)]
pub struct Form<'f> {
    /// What stands between a name and its value: whichever comes first in a line.
    pub signs: &'f [&'f str],
    pub header: Header,
    pub indented: Indented,
    pub bare: Bare,
}

/// Where the name of a section ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Header {
    /// At the bracket that ends the line.
    AtEndOfLine,
    /// At the first bracket, whatever follows.
    AtFirst,
    /// At the last bracket, whatever follows.
    AtLast,
}

/// What a line is that is indented further than the setting above it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Indented {
    /// More of its value, unless it is empty or a comment.
    More,
    /// More of its value, be it of blanks, unless it names a section or is a comment.
    MoreUnlessHeader,
}

/// What a line is that has nothing between a name and a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bare {
    /// A name without a value.
    Setting,
    Other,
}

/// A line of a file.
#[derive(Clone, Copy, Debug)]
pub struct Line<'t> {
    /// The first has 1.
    pub number: usize,
    /// With its end.
    pub raw: &'t str,
    /// Without.
    pub text: &'t str,
    pub piece: Piece<'t>,
}

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'t> {
    /// The beginning of a section, which has a name.
    Section(&'t str),
    /// A name, which is not empty, and a value, without the blanks around them.
    Setting(&'t str, Option<&'t str>),
    /// It goes on with the value of the last setting.
    More,
    /// It begins with one of [`SIGNS`], indented or not.
    Comment,
    Blank,
    /// None of them.
    Other,
}

/// Comments begin with one of these.
pub const SIGNS: [char; 2] = ['#', ';'];

/// The lines of a text.
pub fn lines<'t>(text: &'t str, form: &Form) -> impl Iterator<Item = Line<'t>> {
    // How far the setting is indented whose value may go on: none at the beginning of a section.
    let mut open = None;
    text.split_inclusive('\n').enumerate().map(move |(at, raw)| {
        let text = raw.strip_suffix('\n').map_or(raw, |line| line.strip_suffix('\r').unwrap_or(line));
        let indent = text.len() - text.trim_start().len();
        let piece = form.piece(text, open.is_some_and(|of_setting| indent > of_setting));
        match piece {
            Piece::Section(_) => open = None,
            Piece::Setting(..) => open = Some(indent),
            _ => {}
        }
        Line { number: at + 1, raw, text, piece }
    })
}

/// The name of a section that begins with a line; it may be empty.
pub fn section_of(line: &str, header: Header) -> Option<&str> {
    let rest = line.trim().strip_prefix('[')?;
    match header {
        Header::AtEndOfLine => rest.strip_suffix(']'),
        Header::AtFirst => rest.split_once(']').map(|(name, _)| name),
        Header::AtLast => rest.rsplit_once(']').map(|(name, _)| name),
    }
}

/// The line that a section begins with.
pub fn header_line(name: &str) -> String {
    format!("[{name}]\n")
}

/// The lines of a setting; those that go on with its value begin with `more`.
pub fn setting_lines(name: &str, sign: &str, value: &str, more: &str) -> String {
    match value.contains('\n') {
        true => format!("{name}{sign}{}\n", value.replace('\n', &format!("\n{more}"))),
        false => format!("{name}{sign}{value}\n"),
    }
}

impl Form<'_> {
    fn piece<'t>(&self, line: &'t str, is_deeper: bool) -> Piece<'t> {
        let bare = line.trim();
        let section = section_of(bare, self.header).filter(|name| !name.is_empty());
        match (self.indented, section) {
            _ if bare.starts_with(SIGNS) => Piece::Comment,
            (Indented::MoreUnlessHeader, Some(name)) => Piece::Section(name),
            (Indented::More, _) if bare.is_empty() => Piece::Blank,
            _ if is_deeper => Piece::More,
            (_, Some(name)) => Piece::Section(name),
            _ if bare.is_empty() => Piece::Blank,
            _ => self.setting(line),
        }
    }

    fn setting<'t>(&self, line: &'t str) -> Piece<'t> {
        let found = self.signs.iter().filter_map(|sign| Some((line.find(sign)?, sign.len()))).min();
        let (name, value) = match found {
            Some((at, length)) => (line[..at].trim(), Some(line[at + length..].trim())),
            None => (line.trim(), None),
        };
        match value {
            _ if name.is_empty() => Piece::Other,
            None if self.bare == Bare::Other => Piece::Other,
            value => Piece::Setting(name, value),
        }
    }
}

/// Comments with their signs, each on a line of its own.
pub fn comment_lines(comments: &[String]) -> String {
    comments.iter().map(|comment| format!("# {}\n", comment.trim_start_matches('#').trim_start())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Form =
        Form { signs: &["=", ":"], header: Header::AtEndOfLine, indented: Indented::More, bare: Bare::Other };

    fn pieces<'t>(text: &'t str, form: &Form) -> Vec<Piece<'t>> {
        lines(text, form).map(|line| line.piece).collect()
    }

    #[test]
    fn each_line_is_one_thing() {
        let text = "[a]\r\nx = 1 = 2\n  more\n # why\n\n; not\ny: 3\n=4\nword\n[b] c";
        let found = pieces(text, &PLAIN);
        let expected = [
            Piece::Section("a"),
            Piece::Setting("x", Some("1 = 2")),
            Piece::More,
            Piece::Comment,
            Piece::Blank,
            Piece::Comment,
            Piece::Setting("y", Some("3")),
            Piece::Other,
            Piece::Other,
            Piece::Other,
        ];
        assert_eq!(found, expected);
        let last = lines("a=1\r\nb", &PLAIN).last().unwrap();
        assert_eq!((last.number, last.raw, last.text), (2, "b", "b"));
        assert_eq!(lines("a=1\r\nb", &PLAIN).next().unwrap().text, "a=1");
    }

    #[test]
    fn what_is_indented_goes_on_with_a_value_unless_the_form_has_sections_first() {
        let text = "[a]\n x=1\n x=2\n  [b]\n   \n[c]\n  y=1\n";
        let (x1, x2) = (Piece::Setting("x", Some("1")), Piece::Setting("x", Some("2")));
        let y = Piece::Setting("y", Some("1"));
        let expected = [Piece::Section("a"), x1, x2, Piece::More, Piece::Blank, Piece::Section("c"), y];
        assert_eq!(pieces(text, &PLAIN), expected);
        let form = Form { indented: Indented::MoreUnlessHeader, ..PLAIN };
        let expected = [Piece::Section("a"), x1, x2, Piece::Section("b"), Piece::Blank, Piece::Section("c"), y];
        assert_eq!(pieces(text, &form), expected);
        assert_eq!(pieces("x=1\n  \n", &form)[1], Piece::More);
    }

    #[test]
    fn forms_differ_in_brackets_and_bare_names() {
        let named = |header| section_of(" [a]b] c", header);
        assert_eq!(
            (named(Header::AtEndOfLine), named(Header::AtFirst), named(Header::AtLast)),
            (None, Some("a"), Some("a]b"))
        );
        let form = Form { bare: Bare::Setting, ..PLAIN };
        assert_eq!(pieces("x\n  y\n[]\n", &form), [Piece::Setting("x", None), Piece::More, Piece::Setting("[]", None)]);
        assert_eq!(pieces("a b c\n", &Form { signs: &[" "], ..PLAIN }), [Piece::Setting("a", Some("b c"))]);
    }

    #[test]
    fn what_is_written_is_read_again() {
        let text = header_line("a") + &setting_lines("x", " = ", "1\n2", "\t") + &setting_lines("y", "=", "", "");
        assert_eq!(text, "[a]\nx = 1\n\t2\ny=\n");
        assert_eq!(pieces(&text, &PLAIN)[3], Piece::Setting("y", Some("")));
    }
}
