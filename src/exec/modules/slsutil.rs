//! `slsutil.*`: helpers for SLS files and templates.

mod banner;
mod merged;
mod paths;
mod renderer;
mod serialized;

use halite_core::module::{Module, Run, function};
use halite_value::Value;
use halite_value::record;

pub const MODULE: Module = Module {
    name: "slsutil",
    doc: "Merge, read, write and render data, and find files, for SLS files and templates.",
    functions: &[
        function::<banner::Banner>("banner"),
        function::<Boolstr>("boolstr"),
        function::<serialized::Deserialize>("deserialize"),
        function::<paths::DirExists>("dir_exists"),
        function::<paths::FileExists>("file_exists"),
        function::<paths::Findup>("findup"),
        function::<merged::Merge>("merge"),
        function::<merged::MergeAll>("merge_all"),
        function::<paths::PathExists>("path_exists"),
        function::<renderer::Renderer>("renderer"),
        function::<serialized::Serialize>("serialize"),
        function::<merged::Update>("update").changing_first(|_| true),
    ],
};

record! {
    /// Answers one of two texts, by a truth.
    ///
    ///   salt '*' slsutil.boolstr True yes no
    pub struct Boolstr {
        /// What decides.
        value: Value,
        /// The answer if it is true.
        r#true: Value = "true",
        /// The answer if it is not.
        r#false: Value = "false",
    }
}

impl Run for Boolstr {
    fn run(self, _: &halite_core::Ctx) -> halite_core::Reply {
        Ok(if self.value.truthy() { self.r#true } else { self.r#false }.into())
    }
}
