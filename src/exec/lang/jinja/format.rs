//! Python's two ways of putting values into text: `'%s' % x` and `'{}'.format(x)`.

mod number;
mod percent;
mod pretty;
mod template;

pub use percent::percent;
pub use pretty::pretty;
pub use template::format;

/// How wide a field may be.
const WIDTH_LIMIT: usize = 100_000;

/// The text filled up to a width in characters; `align` is one of `<`, `>`, `^` and `=` (behind the sign).
fn pad(text: &str, width: usize, fill: char, align: char) -> String {
    let missing = width.min(WIDTH_LIMIT).saturating_sub(text.chars().count());
    let fill = |count: usize| -> String { std::iter::repeat_n(fill, count).collect() };
    match align {
        '<' => format!("{text}{}", fill(missing)),
        '^' => format!("{}{text}{}", fill(missing / 2), fill(missing - missing / 2)),
        '=' => {
            let digits = text.strip_prefix(['+', '-', ' ']).unwrap_or(text);
            let sign = &text[..text.len() - digits.len()];
            let (prefix, digits) = match digits.as_bytes() {
                [b'0', b'x' | b'X' | b'o' | b'b', ..] => digits.split_at(2),
                _ => ("", digits),
            };
            format!("{sign}{prefix}{}{digits}", fill(missing))
        }
        _ => format!("{}{text}", fill(missing)),
    }
}
