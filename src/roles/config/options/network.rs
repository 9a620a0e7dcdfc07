//! Options: network.

use crate::config::option::{Default, Opt, Section};

// The default differs between master and minion.
const ZMQ_MONITOR: Opt =
    Opt::truth("zmq_monitor", true, "Log what happens to ZeroMQ's sockets.").without_effect("there is no ZeroMQ below");

const KEEPALIVE_TIMES: &str =
    "the system's own times count (net.ipv4.tcp_keepalive_*); silence is noticed within 45 s without TCP's help";

/// Of master and minion alike.
pub const COMMON: Section = Section {
    title: "Network",
    options: &[
        Opt::text("interface", "0.0.0.0", "Address that the master listens on; 0.0.0.0 is every IPv4 address."),
        Opt::port("publish_port", 4505, "Port that jobs for everybody are published on."),
        Opt::truth("ipv6", false, "True: IPv6 alone; False: IPv4 alone; unset: whatever the name resolves to.")
            .or(Default::Null),
        Opt::truth("tcp_keepalive", true, "Let TCP notice dead connections."),
        Opt::seconds("tcp_keepalive_idle", 300, "Seconds of silence until TCP asks; -1 is the system's setting.")
            .without_effect(KEEPALIVE_TIMES),
        Opt::integer(
            "tcp_keepalive_cnt",
            -1,
            "How many keepalive questions go unanswered before a connection is dead; -1 is the system's setting.",
        )
        .without_effect(KEEPALIVE_TIMES),
        Opt::seconds("tcp_keepalive_intvl", -1, "Seconds between two keepalive questions; -1 is the system's setting.")
            .without_effect(KEEPALIVE_TIMES),
        Opt::integer("max_event_size", 1_048_576, "Largest event, in bytes; a larger one is refused."),
        Opt::text("transport", "zeromq", "How bytes travel; Salt knows `zeromq`, `tcp` and `ws`.")
            .without_effect("there is one transport, and it authenticates both ends"),
        Opt::truth("zmq_filtering", false, "Send jobs for a list of minions to those alone.")
            .without_effect("a job for a list of minions reaches those alone in any case"),
        Opt::integer("sock_pool_size", 1, "Sockets kept open to the master for sending.")
            .without_effect("there is no ZeroMQ below"),
        Opt::any("ssl", Default::Null, "TLS of the transports `tcp` and `ws`.")
            .without_effect("every connection is encrypted and authenticated without TLS"),
        Opt::truth("disable_aes_with_tls", false, "Leave out Salt's own encryption where TLS is on.")
            .without_effect("every connection is encrypted and authenticated without TLS"),
        Opt::text("ipc_mode", "ipc", "`ipc` for sockets that are files, `tcp` for local ports.")
            .without_effect("local sockets are files, and a slow reader loses its own events alone"),
        Opt::integer("ipc_write_buffer", 0, "Bytes that may wait in a local socket; 0 is no limit.")
            .without_effect("local sockets are files, and a slow reader loses its own events alone"),
        Opt::number("http_connect_timeout", 20.0, "Seconds until a web server must have been reached."),
        Opt::number("http_request_timeout", 3600.0, "Seconds that a whole download may take."),
        Opt::integer("http_max_body", 107_374_182_400, "Largest body of an answer, in bytes."),
        Opt::truth("use_os_truststore", false, "Trust the certificates that the system trusts.")
            .without_effect("the certificates of the system are used"),
    ],
};

/// Of the master.
pub const MASTER: Section = Section {
    title: "Network",
    options: &[
        Opt::port("ret_port", 4506, "Port that minions send requests and returns to."),
        Opt::any("transport_opts", Default::Null, "Settings by transport.")
            .without_effect("there is one transport, and it authenticates both ends"),
        Opt::integer("zmq_backlog", 1000, "Connections that wait for an answer in the listening socket.")
            .without_effect("there is no ZeroMQ below"),
        ZMQ_MONITOR.or(Default::Truth(false)),
        Opt::integer("pub_hwm", 1000, "Messages kept for one slow subscriber.")
            .without_effect("there is no ZeroMQ below"),
        Opt::number("publish_drain_timeout", 60.0, "Seconds that the publisher gives its queue when it ends.")
            .without_effect("there is no ZeroMQ below"),
        Opt::integer("pub_server_write_queue_size", 10_000, "Messages that wait in the publisher.")
            .without_effect("there is no ZeroMQ below"),
        Opt::port("tcp_master_pub_port", 4512, "Local port of the master's event bus.")
            .without_effect("local sockets are files, and a slow reader loses its own events alone"),
        Opt::port("tcp_master_pull_port", 4513, "Local port for events into the master's bus.")
            .without_effect("local sockets are files, and a slow reader loses its own events alone"),
        Opt::port("tcp_master_publish_pull", 4514, "Local port between the master's workers and its publisher.")
            .without_effect("local sockets are files, and a slow reader loses its own events alone"),
        Opt::port("tcp_master_workers", 4515, "Local port between the master's processes.")
            .without_effect("local sockets are files, and a slow reader loses its own events alone"),
        Opt::seconds("request_server_aes_session", 0, "Seconds that a session key of requests is kept.")
            .without_effect("sessions have lifetimes of their own"),
        Opt::seconds("request_server_ttl", 0, "Seconds after which a request is too old.")
            .without_effect("sessions have lifetimes of their own"),
    ],
};

/// Of the minion.
pub const MINION: Section = Section {
    title: "Network",
    options: &[
        Opt::any(
            "master",
            Default::Text("salt"),
            "Master of this minion: a name, an address, or a list of them, each perhaps with `:port`.",
        ),
        Opt::port("master_port", 4506, "Port of the master's requests (its `ret_port`)."),
        Opt::text(
            "master_type",
            "str",
            "Use of a list of masters: `str` (one), `failover`, `disable` (none) or `func` (a function names it).",
        ),
        Opt::text(
            "master_uri_format",
            "default",
            "`ip_only` takes nothing but addresses for `master`; `default` takes names too, and ports behind either.",
        ),
        Opt::seconds(
            "master_alive_interval",
            0,
            "Seconds between looks whether the master is still there, with several masters.",
        )
        .without_effect("a connection that breaks, or does not answer, is noticed"),
        Opt::truth("master_failback", false, "Go back to the first master of the list when it is there again.")
            .without_effect(
                "a minion is connected to one of its masters at a time, and turns to the next when that is gone",
            ),
        Opt::seconds("master_failback_interval", 0, "Seconds between looks whether the first master is there again.")
            .without_effect(
                "a minion is connected to one of its masters at a time, and turns to the next when that is gone",
            ),
        Opt::truth("master_shuffle", false, "Old name of `random_master`."),
        Opt::truth("random_master", false, "Take the masters of a list in random order."),
        Opt::integer("master_tries", -1, "How often a minion tries its masters before it ends; -1 is for ever.")
            .without_effect("a minion asks its masters for as long as it runs"),
        Opt::truth("use_master_when_local", false, "Connect to the master even where files are local.")
            .without_effect("`salt-call --local` alone goes without the master"),
        Opt::text("source_interface_name", "", "Interface that the minion connects from.")
            .without_effect("connections leave from the address and port that the system chooses"),
        Opt::text("source_address", "", "Address that the minion connects from.")
            .without_effect("connections leave from the address and port that the system chooses"),
        Opt::port("source_ret_port", 0, "Local port of the connection for requests; 0 lets the system choose.")
            .without_effect("connections leave from the address and port that the system chooses"),
        Opt::port("source_publish_port", 0, "Local port of the connection for jobs; 0 lets the system choose.")
            .without_effect("connections leave from the address and port that the system chooses"),
        Opt::seconds(
            "retry_dns",
            30,
            "Seconds until a master's name that does not resolve is asked for again; 0 makes it an error.",
        )
        .without_effect("names are resolved anew for each connection"),
        Opt::integer("retry_dns_count", 0, "How often such a name is asked for; unset is for ever.")
            .or(Default::Null)
            .without_effect("names are resolved anew for each connection"),
        Opt::truth("resolve_dns_fallback", true, "Ask again when a name stops resolving while the minion runs.")
            .without_effect("names are resolved anew for each connection"),
        ZMQ_MONITOR,
        Opt::integer("tcp_authentication_retries", 5, "Tries to authenticate with the `tcp` transport.")
            .without_effect("there is one transport, and it authenticates both ends"),
        Opt::seconds("tcp_reconnect_backoff", 1, "Seconds between connections of the `tcp` transport.")
            .without_effect("there is one transport, and it authenticates both ends"),
        Opt::port("tcp_pub_port", 4510, "Local port of the minion's event bus where sockets cannot be files.")
            .without_effect("local sockets are files, and a slow reader loses its own events alone"),
        Opt::port("tcp_pull_port", 4511, "Local port for events into the minion's bus.")
            .without_effect("local sockets are files, and a slow reader loses its own events alone"),
        Opt::seconds("ipc_write_timeout", 0, "Seconds that a write to a local socket may take.")
            .or(Default::Null)
            .without_effect("local sockets are files, and a slow reader loses its own events alone"),
        Opt::seconds("request_channel_timeout", 60, "Seconds that one request to the master may take.")
            .without_effect("what fails is asked again, for as long as it takes"),
        Opt::integer("request_channel_tries", 3, "How often a request is sent before it fails.")
            .without_effect("what fails is asked again, for as long as it takes"),
        Opt::text("proxy_host", "", "Host of the HTTP proxy for downloads."),
        Opt::port("proxy_port", 0, "Port of the HTTP proxy; 0 is none."),
        Opt::text("proxy_username", "", "User at the HTTP proxy."),
        Opt::text("proxy_password", "", "Password at the HTTP proxy."),
        Opt::list("no_proxy", &[], "Hosts that are reached without the HTTP proxy.").or(Default::Null),
    ],
};
