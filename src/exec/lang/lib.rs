//! Languages and forms of data: what reads and writes YAML, Jinja, JSON, TOML, regular expressions, targets. Nothing here
//! knows a node: what a text may ask of one arrives as a trait.

pub mod base64;
pub mod diff;
pub mod digest;
pub mod gpg;
pub mod ini;
pub mod jinja;
pub mod json;
pub mod merge;
pub mod net;
pub mod outside;
pub mod patterns;
pub mod pipe;
pub mod random;
pub mod regex;
pub mod secrets;
pub mod serializers;
pub mod tags;
pub mod target;
pub mod text;
pub mod toml;
pub mod words;
pub mod yaml;
pub mod yamlex;
