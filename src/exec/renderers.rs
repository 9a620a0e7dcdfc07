//! Renderers: what turns the text of an SLS, pillar or configuration file into data or into other text.

pub mod gpg;
pub mod jinja;
pub mod json;
pub mod pipe;
pub mod secrets;
pub mod text;
pub mod toml;
pub mod yaml;
pub mod yamlex;
