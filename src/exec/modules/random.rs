//! `random.*`: numbers, samples, passwords and their hashes.

mod shadow;

use super::hashutil::bytes;
use halite_core::module::{Module, Run, function};
use halite_core::{Ctx, Fault, Reply};
use halite_lang::base64;
use halite_lang::digest::HashType;
use halite_lang::random::Chance;
use halite_value::Value;
use halite_value::record;
use halite_value::record::Record;
use num_bigint::{BigInt, BigUint};

pub const MODULE: Module = Module {
    name: "random",
    doc: "Draw numbers, samples and passwords.",
    functions: &[
        function::<GetStr>("get_str").inline(),
        function::<Hash>("hash").inline(),
        function::<RandInt>("rand_int").inline(),
        function::<Sample>("sample").inline(),
        function::<Seed>("seed").inline(),
        function::<shadow::ShadowHash>("shadow_hash"),
        function::<Shuffle>("shuffle").inline(),
        function::<StrEncode>("str_encode").inline(),
    ],
};

/// A password is not longer; it would be made for minutes, and fill the memory.
const LONGEST: i64 = 1 << 20;

record! {
    /// Returns the digest of a text.
    ///
    ///   salt '*' random.hash 'I am a string' md5
    pub struct Hash {
        /// The text.
        value: Value,
        /// The kind: md5, sha1, sha224, sha256, sha384 or sha512.
        algorithm: String = "sha512",
    }
}

impl Run for Hash {
    fn run(self, _: &Ctx) -> Reply {
        let kind = HashType::named(&self.algorithm).filter(|kind| kind.name() == self.algorithm);
        let kind = kind.ok_or_else(|| Fault::invocation("You must specify a valid algorithm."))?;
        Ok(kind.of_bytes(bytes::<Self>("random.hash", "value", &self.value)?).into())
    }
}

record! {
    /// Returns a text in another encoding.
    ///
    ///   salt '*' random.str_encode 'I am a new string' base64
    pub struct StrEncode {
        /// The text.
        value: Value,
        /// The encoding. There is one: base64.
        encoder: String = "base64",
    }
}

impl Run for StrEncode {
    fn run(self, _: &Ctx) -> Reply {
        match (&self.value, self.encoder.as_str()) {
            (Value::Str(text), "base64") => Ok(base64::encode(text.as_bytes()).into()),
            (Value::Bytes(bytes), "base64") => Ok(base64::encode(bytes).into()),
            _ => Err(Fault::invocation("Value must be an encode-able string")),
        }
    }
}

record! {
    /// Returns a text of random characters, for passwords.
    ///
    ///   salt '*' random.get_str 128
    ///   salt '*' random.get_str 128 chars='abc123.!()'
    ///   salt '*' random.get_str 128 lowercase=False whitespace=True
    pub struct GetStr {
        /// How many characters.
        length: Value = 20,
        /// The characters to choose from. With it nothing below counts.
        chars: Option<String> = (),
        /// Whether there may be small letters.
        lowercase: bool = true,
        /// Whether there may be capital letters.
        uppercase: bool = true,
        /// Whether there may be digits.
        digits: bool = true,
        /// Whether there may be punctuation.
        punctuation: bool = true,
        /// Whether there may be blanks, tabs and line ends.
        whitespace: bool = false,
        /// All of them.
        printable: bool = false,
    }
}

impl Run for GetStr {
    fn run(self, _: &Ctx) -> Reply {
        let length = whole(&self.length)?;
        if length > LONGEST {
            return Err(Fault::invocation(format!("a text of {length} characters is too long: {LONGEST} at most")));
        }
        let alphabet = self.alphabet();
        if alphabet.is_empty() && length > 0 {
            return Err(Fault::execution("there is no character to choose from"));
        }
        let count = BigUint::from(alphabet.len());
        let draw = |_| usize::try_from(Chance::Kernel.below(&count)).ok().and_then(|at| alphabet.get(at));
        Ok((0..length).filter_map(draw).collect::<String>().into())
    }
}

impl GetStr {
    /// Each character once, so that all are as likely. Others than those of ASCII are left out, as by Salt.
    fn alphabet(&self) -> Vec<char> {
        let is_wanted = |c: &char| {
            let all = self.printable;
            match c {
                'a'..='z' => all || self.lowercase,
                'A'..='Z' => all || self.uppercase,
                '0'..='9' => all || self.digits,
                ' ' | '\t'..='\r' => all || self.whitespace,
                other => other.is_ascii_punctuation() && (all || self.punctuation),
            }
        };
        match self.chars.as_deref().filter(|chars| !chars.is_empty() && !self.printable) {
            Some(chars) => ('\0'..='\x7f').filter(|c| chars.contains(*c)).collect(),
            None => ('\0'..='\x7f').filter(is_wanted).collect(),
        }
    }
}

/// What Python's `int` makes of it.
fn whole(value: &Value) -> Result<i64, Fault> {
    match value {
        Value::Int(number) => Ok(*number),
        Value::Bool(truth) => Ok((*truth).into()),
        Value::Float(number) => Ok(*number as i64),
        Value::Str(text) => text
            .trim()
            .parse()
            .map_err(|_| Fault::execution(format!("invalid literal for int() with base 10: {}", value.repr()))),
        other => Err(Fault::execution(format!(
            "int() argument must be a string, a bytes-like object or a real number, not '{}'",
            other.type_name()
        ))),
    }
}

record! {
    /// Returns a number between two others, both of which it may be.
    ///
    ///   salt '*' random.rand_int 1 10
    pub struct RandInt {
        /// The smallest.
        start: Value = 1,
        /// The largest.
        end: Value = 10,
        /// A number or text: with the same one, the same number each time.
        seed: Value = (),
    }
}

impl Run for RandInt {
    fn run(self, _: &Ctx) -> Reply {
        let (first, last) = (integer("start", &self.start)?, integer("end", &self.end)?);
        if last < first {
            return Err(Fault::invocation(format!("there is no number from {first} to {last}: start is above end")));
        }
        Ok(Value::from_big(chance(&self.seed)?.between(&first, &last)).into())
    }
}

record! {
    /// Returns a number from 0 on, the same one each time: it depends on the minion's id alone.
    ///
    ///   salt '*' random.seed 60
    ///   salt '*' random.seed 10 hash=something
    pub struct Seed {
        /// How many numbers there are: the largest is one less.
        range: Value = 10,
        /// A number or text to take in place of the minion's id.
        hash: Value = (),
    }
}

impl Run for Seed {
    fn run(self, ctx: &Ctx) -> Reply {
        let count = integer("range", &self.range)?;
        let Some(count) = count.to_biguint().filter(|count| *count != BigUint::ZERO) else {
            return Err(Fault::invocation(format!("range is {count}: there is no number from 0 on below it")));
        };
        let seed = if self.hash.is_null() { ctx.grains.at("id").cloned().unwrap_or_default() } else { self.hash };
        Ok(Value::from_big(chance(&seed)?.below(&count).into()).into())
    }
}

record! {
    /// Returns some items of a list, none twice.
    ///
    ///   salt '*' random.sample '["one", "two"]' 1 seed="something"
    pub struct Sample {
        /// The list, or a text: its characters.
        value: Value,
        /// How many items.
        size: i64,
        /// A text: with the same one, the same items each time.
        seed: Value = (),
    }
}

impl Run for Sample {
    fn run(self, _: &Ctx) -> Reply {
        let items = items(self.value)?;
        match usize::try_from(self.size) {
            Ok(size) if size <= items.len() => drawn::<Self>("random.sample", &items, size, &self.seed),
            _ => Err(Fault::invocation("Sample larger than population or is negative")),
        }
    }
}

record! {
    /// Returns the items of a list in a random order.
    ///
    ///   salt '*' random.shuffle '["one", "two"]' seed="something"
    pub struct Shuffle {
        /// The list, or a text: its characters.
        value: Value,
        /// A text: with the same one, the same order each time.
        seed: Value = (),
    }
}

impl Run for Shuffle {
    fn run(self, _: &Ctx) -> Reply {
        let items = items(self.value)?;
        drawn::<Self>("random.shuffle", &items, items.len(), &self.seed)
    }
}

fn items(value: Value) -> Result<Vec<Value>, Fault> {
    match value {
        Value::List(items) => Ok(items),
        Value::Str(text) => Ok(text.chars().map(|c| c.to_string().into()).collect()),
        other => Err(Fault::invocation(format!("the value has to be a list, not {}", other.repr()))),
    }
}

fn drawn<R: Record>(fun: &str, items: &[Value], size: usize, seed: &Value) -> Reply {
    let seed = match seed {
        Value::Null => Value::Null,
        seed => HashType::Sha512.of_bytes(bytes::<R>(fun, "seed", seed)?).into(),
    };
    let places = chance(&seed)?.sample(items.len(), size);
    Ok(Value::list(places.into_iter().filter_map(|at| items.get(at).cloned())).into())
}

fn chance(seed: &Value) -> Result<Chance, Fault> {
    if seed.is_null() {
        return Ok(Chance::Kernel);
    }
    Chance::seeded(seed)
        .map_err(|_| Fault::invocation(format!("{} can be no seed: it has to be a number or text", seed.repr())))
}

fn integer(name: &'static str, value: &Value) -> Result<BigInt, Fault> {
    match value {
        Value::Int(number) => Ok((*number).into()),
        Value::Big(number) => Ok(number.as_ref().clone()),
        Value::Bool(truth) => Ok(i64::from(*truth).into()),
        Value::Float(number) if number.fract() == 0.0 && number.abs() < 9e15 => Ok((*number as i64).into()),
        other => Err(Fault::invocation(format!("{name} has to be a whole number, not {}", other.repr()))),
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::World;
    use halite_core::context::NoMaster;
    use halite_core::module::call;
    use halite_value::Value;
    use halite_value::record::Arguments;

    fn run(fun: &str, arguments: Arguments) -> Value {
        call(&World::new().ctx(&NoMaster), fun, arguments).unwrap().value
    }

    #[test]
    fn a_text_has_the_characters_that_are_asked_for() {
        let text = run("random.get_str", Arguments::positional([2000]).with("punctuation", false)).to_text();
        assert!(text.len() == 2000 && text.chars().all(|c| c.is_ascii_alphanumeric()), "{text}");
        assert!(['a', 'Z', '7'].iter().all(|c| text.contains(*c)));
        let text = run("random.get_str", Arguments::positional([500]).with("chars", "ab!"));
        assert!(text.to_text().chars().all(|c| "ab!".contains(c)) && text.to_text().contains('!'));
        let none = Arguments::positional([3]).with("chars", "ä");
        assert!(call(&World::new().ctx(&NoMaster), "random.get_str", none).is_err());
        let endless = Arguments::positional([i64::MAX]);
        assert!(call(&World::new().ctx(&NoMaster), "random.get_str", endless).is_err());
    }

    #[test]
    fn what_has_no_seed_differs() {
        let order = || run("random.shuffle", Arguments::positional([Value::list(0..100)]));
        assert_ne!(order(), order());
        let hash = || run("random.shadow_hash", Arguments::default().with("password", "p")).to_text();
        assert_ne!(hash(), hash());
        assert!(hash().starts_with("$6$") && hash().len() == "$6$$".len() + 16 + 86);
    }

    /// A hash with the salt that was drawn is the same hash.
    #[test]
    fn each_kind_of_hash_draws_a_salt_that_it_takes() {
        for kind in ["sha512", "sha256", "blowfish", "md5", "crypt"] {
            let hash =
                run("random.shadow_hash", Arguments::positional([Value::Null, "p".into(), kind.into()])).to_text();
            let salt = match kind {
                "crypt" => &hash[..2],
                "blowfish" => &hash[4..29],
                _ => hash.split('$').nth(2).unwrap(),
            };
            assert_eq!(run("random.shadow_hash", Arguments::positional([salt, "p", kind])).to_text(), hash, "{kind}");
        }
    }
}
