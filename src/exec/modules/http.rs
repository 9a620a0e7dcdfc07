//! `http.*`: asks web servers, as web hooks and checks do.

mod cookies;
mod query;
mod xml;

use halite_core::module::{Module, Run, function};
use halite_core::{Ctx, Fault, Reply};
use halite_value::record;
use halite_value::record::{Arguments, Keywords, Record};
use halite_value::{Map, Value};
use query::Query;
use std::path::Path;
use std::time::Duration;

pub const MODULE: Module = Module {
    name: "http",
    doc: "Ask web servers.",
    functions: &[
        function::<Query>("query"),
        function::<UpdateCaBundle>("update_ca_bundle"),
        function::<WaitForSuccessfulQuery>("wait_for_successful_query"),
    ],
};

record! {
    /// Asks a web server again and again until it gives an answer without an error, or the time is over.
    ///
    ///   salt '*' http.wait_for_successful_query http://somelink.com/ wait_for=160 request_interval=1
    pub struct WaitForSuccessfulQuery {
        /// The address.
        url: String,
        /// For so many seconds.
        wait_for: f64 = 300.0,
        /// The arguments of `http.query`, and `request_interval`: seconds between two questions.
        kwargs: Keywords,
    }
}

/// Without an interval: so that nobody is asked without a pause.
const INTERVAL: f64 = 1.0;

impl Run for WaitForSuccessfulQuery {
    fn run(self, ctx: &Ctx) -> Reply {
        let mut keywords = self.kwargs.0;
        let interval = keywords.remove("request_interval").and_then(|given| given.as_float()).unwrap_or(INTERVAL);
        let span = |seconds: f64| Duration::try_from_secs_f64(seconds).unwrap_or_default();
        let arguments = Arguments { positional: vec![self.url.into()], keywords };
        let end = ctx.host.now() + span(self.wait_for.min(1e9));
        loop {
            let query =
                Query::bind(arguments.clone()).map_err(|error| Fault::arguments::<Query>("http.query", error))?;
            let answer = query.run(ctx);
            let has_failed =
                |answer: &Value| answer.at("error").or_else(|| answer.at("Error")).is_some_and(Value::truthy);
            if answer.as_ref().is_ok_and(|answer| !has_failed(&answer.value)) || ctx.host.now() > end {
                return answer;
            }
            if ctx.is_cancelled() {
                return Err(Fault::Cancelled);
            }
            ctx.host.sleep(span(interval.min(1e6)));
        }
    }
}

record! {
    /// Fetches the certificates that are trusted, and adds others to them. Returns None.
    ///
    ///   salt '*' http.update_ca_bundle
    ///   salt '*' http.update_ca_bundle target=/path/to/cacerts.pem
    ///   salt '*' http.update_ca_bundle merge_files=/path/to/mycert.pem
    pub struct UpdateCaBundle {
        /// Where they go; without it the option `ca_bundle`, else where the host keeps them.
        target: Option<String> = (),
        /// Where they come from; without it the option `ca_bundle_url`, else where curl publishes those of Mozilla.
        source: Option<String> = (),
        /// A file, or a list of files, whose certificates are added.
        merge_files: Value = (),
    }
}

const CERTIFICATES: &str = "https://curl.se/ca/cacert.pem";

/// Where hosts keep the certificates that they trust.
const BUNDLES: [&str; 6] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/pki/tls/certs/ca-bundle.trust.crt",
    "/etc/ssl/certs/ca-bundle.crt",
    "/var/lib/ca-certificates/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

impl Run for UpdateCaBundle {
    fn run(self, ctx: &Ctx) -> Reply {
        let option = |name: &str| ctx.opts.str_at(name).filter(|text| !text.is_empty()).map(str::to_owned);
        let there =
            || BUNDLES.iter().find(|path| ctx.host.stat(Path::new(path)).is_ok()).map(|path| (*path).to_owned());
        let Some(target) = self.target.or_else(|| option("ca_bundle")).or_else(there) else {
            return Err(Fault::execution("Unable to detect location to write CA bundle to: give target"));
        };
        let source = self.source.or_else(|| option("ca_bundle_url")).unwrap_or_else(|| CERTIFICATES.to_owned());
        let answer = Query::plain(ctx, &source)?;
        let mut bundle = match (answer.str_at("body"), answer.at("error")) {
            (Some(body), None) => body.to_owned(),
            (_, error) => {
                let error = error.map(Value::to_text).unwrap_or_default();
                return Err(Fault::execution(format!("Unable to fetch the CA bundle from {source}: {error}")));
            }
        };
        if !bundle.contains("-----BEGIN CERTIFICATE-----") {
            return Err(Fault::execution(format!("{source} has no certificates: {target} stays as it is")));
        }
        let merged = match self.merge_files {
            Value::Null => Vec::new(),
            Value::List(items) => items.iter().map(Value::to_text).collect(),
            one => vec![one.to_text()],
        };
        for path in merged {
            match ctx.host.read(Path::new(&path)) {
                Ok(bytes) => bundle.push_str(&format!("\n{}", String::from_utf8_lossy(&bytes))),
                Err(error) => log::error!("Reading from {path} caused the following error: {error}"),
            }
        }
        ctx.host
            .write(Path::new(&target), bundle.as_bytes(), Default::default())
            .map_err(|error| Fault::execution(format!("Writing to {target} caused the following error: {error}")))?;
        Ok(().into())
    }
}

/// The pairs of a map as a form carries them.
fn form(map: &Map) -> String {
    let pairs = map.iter().map(|(name, value)| format!("{}={}", quoted(&name.to_text()), quoted(&value.to_text())));
    pairs.collect::<Vec<_>>().join("&")
}

/// As Python's `quote_plus` has it.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'.' | b'-' | b'~' => out.push(byte as char),
            b' ' => out.push('+'),
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}
