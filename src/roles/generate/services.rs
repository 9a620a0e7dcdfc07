//! What starts the daemons at boot: scripts for init.d and OpenRC, units of systemd. They are written by hand; the file
//! carries them, so that a host needs nothing else.

use super::Made;

const FILES: [(&str, &str); 6] = [
    ("init.d/salt-master", include_str!("../../../packaging/services/init.d/salt-master")),
    ("init.d/salt-minion", include_str!("../../../packaging/services/init.d/salt-minion")),
    ("openrc/salt-master", include_str!("../../../packaging/services/openrc/salt-master")),
    ("openrc/salt-minion", include_str!("../../../packaging/services/openrc/salt-minion")),
    ("systemd/salt-master.service", include_str!("../../../packaging/services/systemd/salt-master.service")),
    ("systemd/salt-minion.service", include_str!("../../../packaging/services/systemd/salt-minion.service")),
];

pub fn all() -> Vec<Made> {
    FILES.iter().map(|(path, text)| Made { path: (*path).to_owned(), text: (*text).to_owned() }).collect()
}

/// One of them; empty where there is none of this path.
pub fn text(path: &str) -> &'static str {
    FILES.iter().find(|(of, _)| *of == path).map_or("", |(_, text)| text)
}
