//! Functions that take time, or give something that nobody can foresee.

use halite_core::module::Run;
use halite_core::{Ctx, Fault, Reply};
use halite_lang::digest::HashType;
use halite_lang::random;
use halite_value::Value;
use halite_value::record;
use num_bigint::BigInt;
use std::time::{Duration, Instant, SystemTime};

record! {
    /// Computes a Fibonacci number; shows it and the seconds that it took.
    ///
    ///   salt '*' test.fib 3
    pub struct Fib {
        /// Which number.
        num: i64,
    }
}

impl Run for Fib {
    fn run(self, ctx: &Ctx) -> Reply {
        if self.num < 0 {
            return Err(Fault::invocation("a Fibonacci number has no negative place"));
        }
        let begin = ctx.host.now();
        let (mut number, mut next) = (BigInt::from(0), BigInt::from(1));
        for _ in 0..self.num {
            if ctx.is_cancelled() {
                return Err(Fault::Cancelled);
            }
            (number, next) = (next.clone(), number + next);
        }
        Ok(Value::List(vec![Value::from_big(number), seconds(ctx, begin)]).into())
    }
}

record! {
    /// Computes the Collatz sequence of a number; shows it and the seconds that it took.
    ///
    ///   salt '*' test.collatz 3
    pub struct Collatz {
        /// The number to begin with, at least 1.
        start: i64,
    }
}

impl Run for Collatz {
    fn run(self, ctx: &Ctx) -> Reply {
        if self.start < 1 {
            return Err(Fault::invocation("the sequence begins with a number from 1"));
        }
        let begin = ctx.host.now();
        let mut steps = Vec::new();
        // Whole until it is halved for the first time: Python's division gives a float.
        let mut whole = i128::from(self.start);
        if whole % 2 != 0 && whole != 1 {
            steps.push(Value::from_big(whole.into()));
            whole = whole * 3 + 1;
        }
        let mut number = whole as f64;
        if whole != 1 {
            steps.push(Value::from_big(whole.into()));
            number /= 2.0;
        }
        while number != 1.0 {
            if ctx.is_cancelled() {
                return Err(Fault::Cancelled);
            }
            steps.push(Value::Float(number));
            number = if number % 2.0 == 0.0 { number / 2.0 } else { number * 3.0 + 1.0 };
        }
        Ok(Value::List(vec![steps.into(), seconds(ctx, begin)]).into())
    }
}

record! {
    /// Sleeps some seconds, then answers True.
    ///
    ///   salt '*' test.sleep 20
    pub struct Sleep {
        /// Seconds.
        length: i64,
    }
}

impl Run for Sleep {
    fn run(self, ctx: &Ctx) -> Reply {
        match u64::try_from(self.length) {
            Ok(seconds) => sleep(ctx, seconds),
            Err(_) => Err(Fault::invocation("nobody can sleep a negative time")),
        }
    }
}

record! {
    /// Sleeps a random number of whole seconds, then answers True.
    ///
    ///   salt '*' test.rand_sleep 60
    pub struct RandSleep {
        /// The most seconds.
        max: i64 = 60,
    }
}

impl Run for RandSleep {
    fn run(self, ctx: &Ctx) -> Reply {
        match u64::try_from(self.max) {
            Ok(most) => sleep(ctx, random::up_to(most)),
            Err(_) => Err(Fault::invocation("nobody can sleep a negative time")),
        }
    }
}

record! {
    /// Gives the hash of a random number, as hexadecimal digits.
    ///
    ///   salt '*' test.random_hash hash_type=sha512
    ///   salt '*' test.rand_str
    pub struct RandomHash {
        /// The largest number.
        size: i64 = 9_999_999_999_i64,
        /// md5, sha1, sha224, sha256, sha384 or sha512. Without it the option `hash_type`.
        hash_type: Option<String> = (),
    }
}

impl Run for RandomHash {
    fn run(self, ctx: &Ctx) -> Reply {
        let configured = || ctx.opt("hash_type").and_then(Value::as_str).map(str::to_owned);
        let kind = self.hash_type.or_else(configured).unwrap_or_else(|| "sha256".to_owned());
        let most = u64::try_from(self.size).ok().filter(|most| *most > 0);
        let Some(most) = most else {
            return Err(Fault::invocation("the largest number must be at least 1"));
        };
        let number = (random::up_to(most - 1) + 1).to_string();
        match HashType::named(&kind) {
            Some(kind) => Ok(kind.of_bytes(number.as_bytes()).into()),
            None => Err(Fault::invocation(format!("'{kind}' is not a kind of hash"))),
        }
    }
}

/// In short pieces, to notice when the job is killed.
fn sleep(ctx: &Ctx, seconds: u64) -> Reply {
    let end = Instant::now() + Duration::from_secs(seconds.min(u64::from(u32::MAX)));
    let mut left = Duration::from_secs(seconds);
    while !left.is_zero() {
        if ctx.is_cancelled() {
            return Err(Fault::Cancelled);
        }
        let piece = left.min(Duration::from_millis(200));
        ctx.host.sleep(piece);
        left = (left - piece).min(end.saturating_duration_since(Instant::now()));
    }
    Ok(true.into())
}

fn seconds(ctx: &Ctx, begin: SystemTime) -> Value {
    ctx.host.now().duration_since(begin).unwrap_or_default().as_secs_f64().into()
}
