//! What compiles and runs states, the runners, and the tables of all that there is.

pub mod highstate;
pub mod modules;
pub mod runners;
pub mod states;

#[cfg(test)]
mod testing {
    use halite_core::module::Functions;
    use halite_core::testing::{Known, WorldOf};

    /// All functions of Halite.
    pub struct All;

    impl Known for All {
        fn functions() -> &'static dyn Functions {
            &crate::modules::FUNCTIONS
        }
    }

    pub type World = WorldOf<All>;
}
