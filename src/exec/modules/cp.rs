//! `cp.*`: files from the master, from elsewhere, and for the master.

mod cached;
mod get;
mod listed;
mod push;
mod receive;
#[cfg(test)]
mod tests;

use halite_core::module::{Module, Run, function};
use halite_core::{Ctx, Fault};
use halite_node::fileserver::client::saltenv;
use halite_node::templates;
use halite_value::{Map, Value};

pub const MODULE: Module = Module {
    name: "cp",
    doc: "Bring files to the minion, and take some to the master.",
    functions: &[
        function::<cached::CacheDest>("cache_dest"),
        function::<cached::CacheDir>("cache_dir"),
        function::<cached::CacheFile>("cache_file"),
        function::<cached::CacheFileSsh>("cache_file_ssh"),
        function::<cached::CacheFiles>("cache_files"),
        function::<cached::CacheLocalFile>("cache_local_file"),
        function::<cached::CacheMaster>("cache_master"),
        function::<listed::Envs>("envs"),
        function::<get::GetDir>("get_dir"),
        function::<get::GetFile>("get_file"),
        function::<get::GetFileStr>("get_file_str"),
        function::<get::GetTemplate>("get_template"),
        function::<get::GetUrl>("get_url"),
        function::<listed::HashFile>("hash_file"),
        function::<listed::HashFileSsh>("hash_file_ssh"),
        function::<cached::IsCached>("is_cached"),
        function::<listed::ListMaster>("list_master"),
        function::<listed::ListMasterDirs>("list_master_dirs"),
        function::<listed::ListMasterSymlinks>("list_master_symlinks"),
        function::<cached::ListMinion>("list_minion"),
        function::<listed::ListStates>("list_states"),
        function::<push::Push>("push"),
        function::<push::PushDir>("push_dir"),
        function::<receive::Recv>("recv"),
        function::<receive::RecvChunked>("recv_chunked"),
        function::<listed::StatFile>("stat_file"),
    ],
};

/// The environment that an argument means.
fn environment(ctx: &Ctx, given: &Value) -> String {
    match given {
        Value::Null => saltenv(ctx, None),
        given => saltenv(ctx, Some(&given.to_text())),
    }
}

/// Resolves markup in the names of files, where an engine for it is named.
fn rendered<const N: usize>(
    ctx: &Ctx,
    names: [String; N],
    saltenv: &str,
    engine: &Value,
    more: &Map,
) -> Result<[String; N], Fault> {
    if !engine.truthy() {
        return Ok(names);
    }
    if !templates::ENGINES.contains(&engine.to_text().as_str()) {
        let message = format!("Attempted to render file paths with unavailable engine {}", engine.to_text());
        return Err(Fault::execution(message));
    }
    let mut context = Map::new();
    if let Some(Value::Map(over)) = more.at("pillar") {
        let mut pillar = ctx.pillar.clone();
        pillar.extend(over.clone());
        context.insert("pillar", pillar);
    }
    let mut out = names;
    for name in &mut out {
        *name = templates::render(ctx, "the name of a file", name, saltenv, context.clone())
            .map_err(|fault| Fault::execution(format!("Failed to render file path with error: {fault}")))?;
    }
    Ok(out)
}
