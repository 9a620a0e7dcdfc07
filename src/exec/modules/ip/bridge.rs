//! Bridges, as what is newer than scripts has them.

/// How a parameter is set, and the word that netplan and NetworkManager have for it.
pub const PARAMETERS: &[(&str, &str)] = &[
    ("fd", "forward-delay"),
    ("forward_delay", "forward-delay"),
    ("ageing", "ageing-time"),
    ("maxage", "max-age"),
    ("hello", "hello-time"),
    ("priority", "priority"),
];
