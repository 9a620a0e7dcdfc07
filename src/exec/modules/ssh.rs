//! `ssh.*`: keys of users and of hosts.

mod auth;
mod keys;
mod known_hosts;

use halite_core::accounts::{Account, account};
use halite_core::module::{Module, function};
use halite_core::{Ctx, Fault};
use halite_lang::base64;
use halite_lang::digest::HashType;

pub const MODULE: Module = Module {
    name: "ssh",
    doc: "Keys of users and of hosts.",
    functions: &[
        function::<auth::AuthKeys>("auth_keys"),
        function::<auth::CheckKey>("check_key"),
        function::<auth::CheckKeyFile>("check_key_file"),
        function::<known_hosts::CheckKnownHost>("check_known_host"),
        function::<known_hosts::GetKnownHostEntries>("get_known_host_entries"),
        function::<known_hosts::HashKnownHosts>("hash_known_hosts"),
        function::<keys::HostKeys>("host_keys"),
        function::<keys::KeyIsEncrypted>("key_is_encrypted"),
        function::<known_hosts::RecvKnownHostEntries>("recv_known_host_entries"),
        function::<auth::RmAuthKey>("rm_auth_key"),
        function::<auth::RmAuthKeyFromFile>("rm_auth_key_from_file"),
        function::<known_hosts::RmKnownHost>("rm_known_host"),
        function::<auth::SetAuthKey>("set_auth_key"),
        function::<auth::SetAuthKeyFromFile>("set_auth_key_from_file"),
        function::<known_hosts::SetKnownHost>("set_known_host"),
        function::<keys::UserKeys>("user_keys"),
    ],
};

/// The fingerprint of a key, two digits at a time; nothing for what is no base64.
fn fingerprint(key: &str, kind: Option<&str>) -> Result<Option<String>, Fault> {
    let kind = kind.filter(|kind| !kind.is_empty()).unwrap_or("sha256");
    let known = HashType::named(kind)
        .ok_or_else(|| Fault::execution(format!("The fingerprint_hash_type {kind} is not supported.")))?;
    let is_base64 = key.len().is_multiple_of(4) && key.chars().all(|c| c.is_ascii_alphanumeric() || "+/=".contains(c));
    let Some(raw) = base64::decode(key.as_bytes()).ok().filter(|_| is_base64) else { return Ok(None) };
    let digits: Vec<char> = known.of_bytes(&raw).chars().collect();
    Ok(Some(digits.chunks(2).map(String::from_iter).collect::<Vec<String>>().join(":")))
}

fn user(ctx: &Ctx, name: &str) -> Result<Account, Fault> {
    account(ctx, name, None)?.ok_or_else(|| Fault::execution(format!("User '{name}' does not exist")))
}
