//! What somebody on the wire sees.

use crate::fleet::{Fleet, free_port};
use crate::proxy::Proxy;
use halite_keys::PublicKey;

#[test]
fn nothing_of_a_job_or_of_its_minion_is_in_clear() {
    let mut fleet = Fleet::prepare(&[], "auto_accept: True\n", "");
    fleet.start_master();
    let proxy = Proxy::start(free_port(), fleet.ret_port);
    fleet.configure_minion("secretive", proxy.port, "grains: {role: treasury}\n");
    fleet.start_minion("secretive");
    fleet.wait_connected(&["secretive"]);
    let ran = fleet.salt(&["secretive", "cmd.run", "echo gold is in the cellar | tr a-z A-Z"]);
    assert!(ran.out.contains("GOLD IS IN THE CELLAR"), "{}{}", ran.out, ran.err);
    let seen = proxy.seen();
    assert!(seen.len() > 1000, "the proxy was not on the way");
    for word in
        ["secretive", "cmd.run", "gold is in", "GOLD IS IN", "treasury", "test.", "return", "stand", "jid", "root"]
    {
        assert!(!holds(&seen, word.as_bytes()), "'{word}' is in clear");
    }
    let minion = PublicKey::load(&fleet.path("secretive/pki/minion.pub")).unwrap();
    assert!(!holds(&seen, minion.as_bytes()), "the minion's key tells who it is");
    let master = PublicKey::load(&fleet.path("pki/master/master.pub")).unwrap();
    assert!(
        holds(&seen, master.as_bytes()),
        "the handshake must show the master's key, so this looks at the right bytes"
    );
}

fn holds(bytes: &[u8], word: &[u8]) -> bool {
    bytes.windows(word.len()).any(|window| window == word)
}
