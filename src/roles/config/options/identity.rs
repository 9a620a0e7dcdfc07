//! Options: identity and keys.

use crate::config::option::{Default, Opt, Section};

// The default differs between master and minion.
const AUTO_ACCEPT: Opt = Opt::only_true("auto_accept", true, "Accept every new key without being asked. Dangerous.");
const SIGN_PUB_MESSAGES: Opt = Opt::truth("sign_pub_messages", false, "Sign what is published.")
    .without_effect("everything is authenticated in any case");

/// Of master and minion alike.
pub const COMMON: Section = Section {
    title: "Identity and keys",
    options: &[
        Opt::text("id", "", "Name of this node; where unset, the name of the host."),
        Opt::text("append_domain", "", "Domain that an id without it gets."),
        Opt::truth(
            "minion_id_caching",
            true,
            "Keep a guessed id in a file, so that it stays when the host's name changes.",
        ),
        Opt::truth("minion_id_lowercase", false, "Write a guessed id in small letters."),
        Opt::any(
            "minion_id_remove_domain",
            Default::Truth(false),
            "True takes any domain from a guessed id, a text that one.",
        ),
        Opt::only_true("open_mode", false, "Accept every key, also a second one for the same id. Dangerous."),
        Opt::integer("autosign_timeout", 120, "Minutes that a key put in by hand for acceptance stays good."),
        Opt::truth("permissive_pki_access", false, "Let the group read the keys."),
        Opt::integer("keysize", 2048, "Bits of new RSA keys.")
            .without_effect("keys and algorithms are fixed: Ed25519, X25519 and XChaCha20-Poly1305"),
        Opt::text("keys.cache_driver", "localfs_key", "Where keys are kept.")
            .without_effect("keys are files in pki_dir"),
        Opt::text("master_sign_key_name", "master_sign", "Name of the signing key's files."),
    ],
};

/// Of the master.
pub const MASTER: Section = Section {
    title: "Identity and keys",
    options: &[
        Opt::any("master_id", Default::Null, "Name of the master, for several that share a job cache.").awaits("the syndic"),
        AUTO_ACCEPT.or(Default::Truth(false)),
        Opt::path("autosign_file", "", "File with ids, patterns or expressions whose keys are accepted."),
        Opt::path("autoreject_file", "", "File with ids whose keys are rejected; it wins over `autosign_file`."),
        Opt::path(
            "autosign_grains_dir",
            "",
            "Directory with one file for each grain, whose lines are values for which keys are accepted.",
        ),
        Opt::truth("allow_minion_key_revoke", true, "Let a minion have its own key deleted (`saltutil.revoke_auth`)."),
        Opt::text("key_cache", "", "Keep a list of the accepted keys (`sched`).")
            .without_effect("keys are files in pki_dir"),
        Opt::text("key_pass", "", "Pass phrase of the master's key.")
            .or(Default::Null)
            .without_effect("keys are files that their owner alone may read"),
        Opt::text("signing_key_pass", "", "Pass phrase of the signing key.")
            .or(Default::Null)
            .without_effect("keys are files that their owner alone may read"),
        Opt::truth("master_sign_pubkey", false, "Sign the master's key with a signing key, which is made where it is missing; minions that have its public half demand the signature."),
        Opt::text("master_pubkey_signature", "", "File with a signature of the master's key, made beforehand.")
            .or(Default::Null),
        Opt::truth("master_use_pubkey_signature", false, "With `master_sign_pubkey`, send the signature in `master_pubkey_signature`, so that the signing key need not be on the master."),
        SIGN_PUB_MESSAGES.or(Default::Truth(true)),
        Opt::truth("require_minion_sign_messages", false, "Refuse what a minion has not signed.")
            .without_effect("everything is authenticated in any case"),
        Opt::truth("drop_messages_signature_fail", false, "Drop what carries a wrong signature.")
            .without_effect("everything is authenticated in any case"),
        Opt::text("publish_signing_algorithm", "PKCS1v15-SHA1", "Padding and hash of the signatures of publications.")
            .without_effect("keys and algorithms are fixed: Ed25519, X25519 and XChaCha20-Poly1305"),
        Opt::integer("minimum_auth_version", 3, "Oldest protocol that a minion may speak.")
            .without_effect("keys and algorithms are fixed: Ed25519, X25519 and XChaCha20-Poly1305"),
        Opt::truth(
            "rotate_aes_key",
            true,
            "Change the key of publications when a minion's key is deleted or rejected.",
        )
        .without_effect(
            "the key of publications changes at every start, every day, and whenever a key is deleted or rejected",
        ),
        Opt::seconds("publish_session", 86_400, "Seconds after which the key of publications changes.").without_effect(
            "the key of publications changes at every start, every day, and whenever a key is deleted or rejected",
        ),
        Opt::truth("ping_on_rotate", false, "Ask all minions to answer after the key of publications has changed.")
            .without_effect(
                "the key of publications changes at every start, every day, and whenever a key is deleted or rejected",
            ),
        Opt::integer("auth_mode", 1, "How minions prove who they are.")
            .without_effect("there is one transport, and it authenticates both ends"),
        Opt::integer("max_minions", 0, "Minions that may be connected at the same time; 0 is no limit."),
        Opt::truth("auth_events", true, "Fire an event at every handshake."),
        Opt::list("auth_events_autosign_grains", &[], "Kinds of handshakes (accept, pend, reject, denied, full, duplicate) whose events show the grains that `autosign_grains` sends.").or(Default::Null),
        Opt::truth("auth_events_pend_autosign_grains", false, "The same for `pend`, its old name."),
    ],
};

/// Of the minion.
pub const MINION: Section = Section {
    title: "Identity and keys",
    options: &[
        Opt::any(
            "id_function",
            Default::EmptyMap,
            "Function whose answer is the id where none is set or kept: its name, or a map of it to its keyword arguments.",
        ),
        AUTO_ACCEPT,
        Opt::list("autosign_grains", &[], "Grains that are sent along with a new key."),
        Opt::text("master_finger", "", "Fingerprint that the master's key must have."),
        Opt::text("syndic_finger", "", "Fingerprint that the key of the master behind a syndic must have.")
            .awaits("the syndic"),
        Opt::truth(
            "verify_master_pubkey_sign",
            false,
            "Trust no master without the public half of the signing key (`master_sign.pub` in `pki_dir`), which is demanded wherever it is there.",
        ),
        Opt::truth("always_verify_signature", false, "Check the signature of the master's key at every connection.")
            .without_effect("the master proves at every handshake that it holds its key"),
        SIGN_PUB_MESSAGES,
        Opt::truth("minion_sign_messages", false, "Sign what the minion sends.")
            .without_effect("everything is authenticated in any case"),
        Opt::text("encryption_algorithm", "OAEP-SHA1", "Padding of RSA encryption.")
            .without_effect("keys and algorithms are fixed: Ed25519, X25519 and XChaCha20-Poly1305"),
        Opt::text("signing_algorithm", "PKCS1v15-SHA1", "Padding and hash of RSA signatures.")
            .without_effect("keys and algorithms are fixed: Ed25519, X25519 and XChaCha20-Poly1305"),
        Opt::seconds("acceptance_wait_time", 10, "Seconds until a minion whose key is not accepted asks again."),
        Opt::seconds(
            "acceptance_wait_time_max",
            0,
            "Seconds that `acceptance_wait_time` grows to; 0: it stays the same.",
        ),
        Opt::truth("rejected_retry", false, "Ask again after a rejection too, rather than end.")
            .without_effect("a minion asks its masters for as long as it runs"),
        Opt::seconds(
            "random_reauth_delay",
            10,
            "Up to so many seconds are waited before the minion authenticates again.",
        ),
        Opt::seconds("auth_timeout", 5, "Seconds that the master has for an answer in the handshake."),
        Opt::integer("auth_tries", 7, "Tries of the handshake before it is given up.")
            .without_effect("a minion asks its masters for as long as it runs"),
        Opt::integer("auth_retries", 0, "Rounds of `auth_tries`.")
            .without_effect("a minion asks its masters for as long as it runs"),
        Opt::truth("auth_safemode", false, "Wait instead of ending when the master cannot be authenticated.")
            .without_effect("a minion asks its masters for as long as it runs"),
        Opt::seconds("recon_default", 1000, "Milliseconds until a lost connection is made anew, at first."),
        Opt::seconds("recon_max", 10_000, "Milliseconds that are added to `recon_default` at most."),
        Opt::truth(
            "recon_randomize",
            true,
            "Choose the wait before a new connection at random, so that not all minions come at once.",
        ),
        Opt::seconds(
            "return_retry_timer",
            5,
            "Seconds until a return that was not acknowledged is sent again, at least.",
        )
        .without_effect("a return is kept and sent until it is acknowledged"),
        Opt::seconds(
            "return_retry_timer_max",
            10,
            "Seconds until a return that was not acknowledged is sent again, at most.",
        )
        .without_effect("a return is kept and sent until it is acknowledged"),
        Opt::integer("return_retry_tries", 3, "How often a return is sent.")
            .without_effect("a return is kept and sent until it is acknowledged"),
    ],
};
