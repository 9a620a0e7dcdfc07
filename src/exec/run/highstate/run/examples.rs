//! The example in the documentation of each state, on the way from an SLS to the state's arguments that each run takes.

use super::caller::{arguments, full_name, verified};
use crate::highstate::{Compiler, low, verify};
use crate::states;
use crate::testing::World;
use halite_core::NoMaster;
use halite_core::state::{Function, REACTION};
use halite_value::Map;

fn world() -> World {
    World { opts: Map::from_iter([("renderer", "jinja|yaml"), ("file_client", "local")]), ..World::new() }
}

#[test]
fn each_state_has_an_example_that_binds() {
    let world = world();
    let of = |name: String| faults(&world, &name, states::find(&name).unwrap().info.doc);
    let faults: Vec<String> = states::names().flat_map(of).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn an_example_that_is_wrong_is_found() {
    let world = world();
    for (name, doc, told) in [
        ("test.nop", &[" Only words."][..], "it has no example"),
        ("test.nop", &["   x:", "     test.nope: []"], "'test.nope' is not available"),
        ("test.nop", &["   x:", "     test.nop: ["], "Rendering"),
        ("test.nop", &["   x:", "     test.nop: 1"], "not formed as a list"),
        ("group.absent", &["   x:", "     group.absent:", "       - nonsense: 1"], "nonsense"),
        ("file.copy", &["   /f:", "     file.copy: []"], "Missing parameter source"),
        ("test.nop", &["   x:", "     test.nop: []", "   /f:", "     file.copy: []"], "Missing parameter source"),
        ("cmd.mod_watch", &["   x:", "     cmd.run: []"], "it has no example"),
    ] {
        let faults = faults(&world, name, doc).join("\n");
        assert!(faults.contains(told), "{doc:?}: {faults}");
    }
    let right = ["   x:", "     cmd.run:", "       - watch:", "         - test: y"];
    assert_eq!(faults(&world, "cmd.mod_watch", &right), [""; 0]);
}

/// What is wrong with the examples of a state, of which there must be one.
fn faults(world: &World, name: &str, doc: &[&str]) -> Vec<String> {
    let function = states::find(name).unwrap();
    let mut faults = Vec::new();
    let mut has_example = false;
    for example in indented(doc) {
        match chunks(world, &example) {
            Err(errors) => faults.extend(errors),
            Ok(chunks) => {
                has_example |= chunks.iter().any(|chunk| shows(chunk, name, function));
                faults.extend(chunks.iter().flat_map(|chunk| unbound(world, chunk)));
            }
        }
    }
    if faults.is_empty() && !has_example {
        faults.push("it has no example".to_owned());
    }
    faults.iter().map(|fault| format!("{name}: {fault}")).collect()
}

/// The pieces of a documentation that stand two blanks in, as all that is to be typed does.
fn indented(doc: &[&str]) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for line in doc {
        // The first blank is the comment's.
        match (line.strip_prefix("   "), pieces.last_mut()) {
            (Some(rest), Some(piece)) => *piece += &format!("{rest}\n"),
            (None, Some(piece)) if line.trim().is_empty() && !piece.is_empty() => piece.push('\n'),
            _ => pieces.push(String::new()),
        }
    }
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

/// The chunks that an SLS is cut into, unless it is wrong. Requisites may name what is in no example.
fn chunks(world: &World, sls: &str) -> Result<Vec<Map>, Vec<String>> {
    let ctx = world.ctx(&NoMaster);
    let compiler = Compiler::new(&ctx).map_err(|fault| vec![fault.to_string()])?;
    let high = compiler.render_single("example", sls.into())?;
    let errors = verify::high(&high);
    if errors.is_empty() { Ok(low::cut_all(high, &Map::new()).chunks) } else { Err(errors) }
}

/// Whether a chunk is of this state, or of one that shares its record and so its documentation. No SLS names a reaction: what
/// watches something in the same module leads to it.
fn shows(chunk: &Map, name: &str, function: &Function) -> bool {
    let full = full_name(chunk);
    let is_shared = || states::find(&full).is_some_and(|other| other.info.doc == function.info.doc);
    let leads_to = || {
        let is_of_module = name.strip_suffix(REACTION) == full.strip_suffix(chunk.str_at("fun").unwrap_or_default());
        function.name == REACTION && is_of_module && chunk.contains("watch")
    };
    full == name || is_shared() || leads_to()
}

/// Why a chunk is not taken by its state, or by what that becomes when what it watches has changed.
fn unbound(world: &World, chunk: &Map) -> Vec<String> {
    let mut chunks = vec![chunk.clone()];
    let reaction = format!("{}.{REACTION}", chunk.str_at("state").unwrap_or_default());
    if chunk.contains("watch") && states::find(&reaction).is_some() {
        chunks.push(super::reaction_of(chunk));
    }
    let unbound = |chunk: &Map| match verified(&world.opts, chunk) {
        (Some(function), errors) if errors.is_empty() => {
            let bound = function.check(arguments(chunk, function));
            bound.err().map(|error| format!("{}: {error:?}", full_name(chunk))).into_iter().collect()
        }
        (_, errors) => errors,
    };
    chunks.iter().flat_map(unbound).collect()
}
