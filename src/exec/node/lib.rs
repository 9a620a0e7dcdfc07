//! What a node has: grains, pillar, files, templates, and how it shows its answers.

pub mod apt_sources;
pub mod fileserver;
pub mod grains;
pub mod keyring;
pub mod network_owner;
pub mod outputters;
pub mod package_tool;
pub mod pillar;
pub mod signature;
pub mod sls;
pub mod templates;

#[cfg(test)]
mod testing {
    use halite_core::function::Table;
    use halite_core::module::{Functions, Module, Run, RunFn, function};
    use halite_core::testing::{Known, WorldOf};
    use halite_core::{Ctx, Reply};
    use halite_value::record;

    record! {
        /// What templates call that is there whenever they are rendered.
        pub struct Get {
            key: String,
        }
    }

    impl Run for Get {
        fn run(self, ctx: &Ctx) -> Reply {
            Ok(ctx.grains.at(&self.key).cloned().unwrap_or_default().into())
        }
    }

    record! {
        /// What templates call that may be another thing each time.
        pub struct Shell {
            cmd: String,
        }
    }

    impl Run for Shell {
        fn run(self, _: &Ctx) -> Reply {
            Ok(self.cmd.into())
        }
    }

    const MODULES: &[&Module] = &[
        &Module { name: "cmd", doc: "", functions: &[function::<Shell>("shell")] },
        &Module { name: "grains", doc: "", functions: &[function::<Get>("get").inline()] },
    ];

    /// Two functions, one of each kind.
    pub struct Two;

    impl Known for Two {
        fn functions() -> &'static dyn Functions {
            static FUNCTIONS: Table<RunFn> = Table(&[MODULES]);
            &FUNCTIONS
        }
    }

    pub type World = WorldOf<Two>;
}
