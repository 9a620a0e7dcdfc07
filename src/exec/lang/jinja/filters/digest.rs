//! Salt's filters for digests, encodings and chance.

use super::super::error::{Failure, Res};
use super::super::eval::{Bound, Interp};
use super::super::value::Val;
use super::{Filter, filter, machine};
use crate::digest::{HashType, hex, uuid};
use crate::random::Chance;
use crate::{base64, random};
use halite_value::Value;
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest as _, Sha224, Sha256, Sha384, Sha512};
use std::io::Read as _;

pub const SALT: &[Filter] = &[
    filter("md5", &[], 0, |_, value, _| Ok(Val::from(hex(&Md5::digest(bytes(&value)?))))),
    filter("sha1", &[], 0, |_, value, _| Ok(Val::from(hex(&Sha1::digest(bytes(&value)?))))),
    filter("sha256", &[], 0, |_, value, _| Ok(Val::from(hex(&Sha256::digest(bytes(&value)?))))),
    filter("sha512", &[], 0, |_, value, _| Ok(Val::from(hex(&Sha512::digest(bytes(&value)?))))),
    filter("hmac", &["shared_secret", "challenge_hmac"], 2, |_, value, bound| {
        let signature = base64::encode(&HashType::Sha256.hmac(&bytes(&bound.val(0))?, &bytes(&value)?));
        Ok(Val::Bool(signature.as_bytes() == bytes(&bound.val(1))?))
    }),
    filter("hmac_compute", &["shared_secret"], 1, |_, value, bound| {
        Ok(Val::from(hex(&HashType::Sha256.hmac(&bytes(&bound.val(0))?, &bytes(&value)?))))
    }),
    filter("base64_encode", &[], 0, |_, value, _| Ok(Val::from(base64::encode(&bytes(&value)?)))),
    filter("base64_decode", &[], 0, decode),
    filter("uuid", &[], 0, |_, value, _| {
        value.defined()?;
        Ok(Val::from(uuid(NAMESPACE, &value.text())))
    }),
    filter("random_hash", &["hash_type"], 0, random_hash),
    filter("rand_str", &["hash_type"], 0, random_hash),
    filter("random_str", &[], 0, random_text),
    filter("random_sample", &["size", "seed"], 1, |interp, value, bound| {
        let size = usize::try_from(bound.int(0)?.unwrap_or(0)).unwrap_or(usize::MAX);
        sample(interp, &value, Some(size), bound.given(1))
    }),
    filter("random_shuffle", &["seed"], 0, |interp, value, bound| sample(interp, &value, None, bound.given(0))),
    filter("file_hashsum", &["form", "chunk_size"], 0, file_digest),
];

pub fn bytes(value: &Val) -> Res<Vec<u8>> {
    value.defined()?;
    match value {
        Val::Str(text) | Val::Markup(text) => Ok(text.as_bytes().to_vec()),
        Val::Bytes(bytes) => Ok(bytes.to_vec()),
        _ => Err(Failure::type_error("expected str, bytes, or bytearray")),
    }
}

fn decode(_: &mut Interp, value: Val, _: Bound) -> Res<Val> {
    let decoded = base64::decode(&bytes(&value)?).map_err(|error| Failure::python("Error", error))?;
    Ok(match String::from_utf8(decoded) {
        Ok(text) => Val::from(text),
        Err(error) => Val::Bytes(error.into_bytes().into()),
    })
}

/// The name space of Salt's UUIDs.
const NAMESPACE: [u8; 16] =
    [0x91, 0x63, 0x3e, 0xbf, 0x1c, 0x86, 0x5e, 0x33, 0x93, 0x5a, 0x28, 0x06, 0x1f, 0x4b, 0x48, 0x0e];

fn by_name(name: &str, data: &[u8]) -> Res<String> {
    Ok(match name {
        "md5" => hex(&Md5::digest(data)),
        "sha1" => hex(&Sha1::digest(data)),
        "sha224" => hex(&Sha224::digest(data)),
        "sha256" => hex(&Sha256::digest(data)),
        "sha384" => hex(&Sha384::digest(data)),
        "sha512" => hex(&Sha512::digest(data)),
        _ => return Err(Failure::value_error(format!("Invalid hash type: {name}"))),
    })
}

fn random_hash(_: &mut Interp, value: Val, bound: Bound) -> Res<Val> {
    value.defined()?;
    let most = value.as_index().and_then(|size| u64::try_from(size).ok()).unwrap_or(9_999_999_999);
    by_name(bound.text_or(0, "md5")?, random::up_to(most).to_string().as_bytes()).map(Val::from)
}

fn random_text(interp: &mut Interp, value: Val, _: Bound) -> Res<Val> {
    value.defined()?;
    let size = usize::try_from(value.as_index().unwrap_or(32)).unwrap_or(0);
    interp.spend(size)?;
    let bytes: Vec<u8> = (0..size / 8 + 1).flat_map(|_| random::up_to(u64::MAX).to_le_bytes()).collect();
    Ok(Val::from(base64::encode(&bytes).chars().take(size).collect::<String>()))
}

/// So many items by chance, or all of them in an order of chance; the same ones each time for the same seed.
fn sample(interp: &mut Interp, value: &Val, size: Option<usize>, seed: Option<&Val>) -> Res<Val> {
    let items = value.items(interp)?;
    let size = size.unwrap_or(items.len());
    if size > items.len() {
        return Err(Failure::value_error("Sample larger than population or is negative"));
    }
    let mut chance = match seed.filter(|seed| !seed.is_none()) {
        Some(seed) => Chance::seeded(&Value::from(hex(&Sha512::digest(seed.text().as_bytes())))).unwrap_or_default(),
        None => Chance::default(),
    };
    let picked = chance.sample(items.len(), size).into_iter().map(|at| items[at].clone()).collect();
    Ok(Val::list(picked))
}

fn file_digest(interp: &mut Interp, value: Val, bound: Bound) -> Res<Val> {
    let path = super::text::text(&value)?;
    let failed = |error: std::io::Error| Failure::python("OSError", format!("{error}: '{path}'"));
    let mut data = Vec::new();
    machine(interp)?.open(&path).and_then(|mut file| file.read_to_end(&mut data)).map_err(failed)?;
    by_name(bound.text_or(0, "sha256")?, &data).map(Val::from)
}
