//! The renderer `gpg`: messages of GnuPG in a text, or anywhere in data, are replaced by what they hold.

use super::pipe::{RenderError, Rendered, Renderer, Rendering};
use halite_value::Value;

pub const RENDERER: Renderer =
    Renderer { name: "gpg", doc: "Messages of GnuPG, in a text or anywhere in data, become what they hold.", render };

const BEGIN: &str = "-----BEGIN PGP MESSAGE-----";
const END: &str = "-----END PGP MESSAGE-----";

/// Whoever has the keys.
pub trait Decrypt {
    /// What an armoured message holds. The error says why it cannot be told.
    fn decrypt(&self, message: &str) -> Result<Vec<u8>, String>;

    /// Whether a message that cannot be decrypted is an error; else it is left as it is.
    fn must_succeed(&self) -> bool;
}

/// For nodes and tests without keys.
pub struct NoKeys;

impl Decrypt for NoKeys {
    fn decrypt(&self, _: &str) -> Result<Vec<u8>, String> {
        Err("there are no keys here".to_owned())
    }

    fn must_succeed(&self) -> bool {
        true
    }
}

fn render(input: Rendered, rendering: &Rendering) -> Result<Rendered, RenderError> {
    let failed = |problem| RenderError::Refused(RENDERER.name, problem);
    match input {
        Rendered::Data(mut value) => {
            decrypt_in(&mut value, rendering.keys).map_err(failed)?;
            Ok(Rendered::Data(value))
        }
        Rendered::Text(text) => match decrypted(&text, rendering.keys).map_err(failed)? {
            None => Ok(Rendered::Text(text)),
            Some(Value::Str(text)) => Ok(Rendered::Text(text.into())),
            Some(_) => Err(failed("a message holds bytes that are no text in UTF-8".to_owned())),
        },
    }
}

/// Decrypts every message in data.
pub fn decrypt_in(value: &mut Value, keys: &dyn Decrypt) -> Result<(), String> {
    match value {
        Value::Map(map) => map.iter_mut().try_for_each(|(_, value)| decrypt_in(value, keys)),
        Value::List(items) => items.iter_mut().try_for_each(|item| decrypt_in(item, keys)),
        Value::Str(text) => {
            if let Some(plain) = decrypted(text, keys)? {
                *value = plain;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// The text with each message in it replaced, and without line ends at its end; nothing where it holds none. Bytes where
/// a message holds some that are no text.
fn decrypted(text: &str, keys: &dyn Decrypt) -> Result<Option<Value>, String> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some((before, message, behind)) = next_message(rest) {
        out.extend_from_slice(before.as_bytes());
        // On a command line and in one-line scalars line ends are written as two characters.
        let message = message.replace("\\n", "\n");
        match keys.decrypt(&message) {
            Ok(plain) => out.extend(plain),
            Err(problem) if keys.must_succeed() => return Err(format!("a message cannot be decrypted: {problem}")),
            Err(problem) => {
                log::warn!("A GPG message cannot be decrypted and is left as it is: {problem}");
                out.extend(message.bytes());
            }
        }
        rest = behind;
    }
    if rest.len() == text.len() {
        return Ok(None);
    }
    out.extend_from_slice(rest.as_bytes());
    while out.last() == Some(&b'\n') {
        out.pop();
    }
    Ok(Some(String::from_utf8(out).map_or_else(|error| Value::Bytes(error.into_bytes()), Value::from)))
}

fn next_message(text: &str) -> Option<(&str, &str, &str)> {
    let start = text.find(BEGIN)?;
    let end = start + text[start..].find(END)? + END.len();
    Some((&text[..start], &text[start..end], &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_value::Map;

    /// Takes a message for encrypted where it begins with `for us`.
    struct Keys(bool);

    impl Decrypt for Keys {
        fn decrypt(&self, message: &str) -> Result<Vec<u8>, String> {
            let body = message.trim_start_matches(BEGIN).trim_end_matches(END).trim();
            match body.strip_prefix("for us: ") {
                Some("bytes") => Ok(vec![0xff]),
                Some(plain) => Ok(format!("{plain}\n").into_bytes()),
                None => Err("no secret key".to_owned()),
            }
        }

        fn must_succeed(&self) -> bool {
            self.0
        }
    }

    fn message(body: &str) -> String {
        format!("{BEGIN}\n{body}\n{END}")
    }

    #[test]
    fn messages_are_replaced_wherever_they_stand() {
        let one_line = message("for us: x").replace('\n', "\\n");
        let mut value = Value::from(Map::from_iter([
            ("a", Value::from(message("for us: secret") + "\n")),
            ("b", Value::list([Value::from("plain\n"), Value::from(one_line), Value::Int(1)])),
            ("c", Value::from(message("for us: bytes"))),
            ("d", Value::from(format!("user:{}:end", message("for us: pw")))),
        ]));
        decrypt_in(&mut value, &Keys(true)).unwrap();
        let wanted = Map::from_iter([
            ("a", Value::from("secret")),
            ("b", Value::list([Value::from("plain\n"), Value::from("x"), Value::Int(1)])),
            ("c", Value::Bytes(vec![0xff])),
            ("d", Value::from("user:pw\n:end")),
        ]);
        assert_eq!(value, wanted.into());
    }

    #[test]
    fn what_cannot_be_decrypted_is_an_error_or_stays() {
        let text = message("for others");
        let error = decrypted(&text, &Keys(true)).unwrap_err();
        assert_eq!(error, "a message cannot be decrypted: no secret key");
        assert_eq!(decrypted(&text, &Keys(false)), Ok(Some(text.into())));
        assert_eq!(decrypted("-----BEGIN PGP MESSAGE----- cut", &Keys(true)), Ok(None));
    }
}
