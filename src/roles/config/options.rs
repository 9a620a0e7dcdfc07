//! Every option of the configuration, declared once: one file for each section of the sample file.
//!
//! A new option is one line in its section. Master and minion share what is the same for both.

mod access;
mod daemon;
mod files;
mod git;
mod grains;
mod identity;
mod jobs;
mod log;
mod modules;
mod network;
mod output;
mod pillar;
mod ssh;
mod states;
mod syndic;
mod windows;

use super::option::Section;

/// The sections of the master's file, in its order.
pub const MASTER: &[&Section] = &[
    &network::COMMON,
    &network::MASTER,
    &daemon::COMMON,
    &daemon::MASTER,
    &identity::COMMON,
    &identity::MASTER,
    &access::COMMON,
    &access::MASTER,
    &jobs::COMMON,
    &jobs::MASTER,
    &syndic::COMMON,
    &syndic::MASTER,
    &output::COMMON,
    &output::MASTER,
    &log::COMMON,
    &log::MASTER,
    &files::COMMON,
    &files::MASTER,
    &git::COMMON,
    &git::MASTER,
    &states::COMMON,
    &states::MASTER,
    &pillar::COMMON,
    &pillar::MASTER,
    &grains::MASTER,
    &modules::COMMON,
    &modules::MASTER,
    &ssh::MASTER,
    &windows::COMMON,
    &windows::MASTER,
];

/// The sections of the minion's file, in its order.
pub const MINION: &[&Section] = &[
    &network::COMMON,
    &network::MINION,
    &daemon::COMMON,
    &daemon::MINION,
    &identity::COMMON,
    &identity::MINION,
    &access::COMMON,
    &access::MINION,
    &jobs::COMMON,
    &jobs::MINION,
    &syndic::COMMON,
    &output::COMMON,
    &log::COMMON,
    &log::MINION,
    &files::COMMON,
    &files::MINION,
    &git::COMMON,
    &states::COMMON,
    &states::MINION,
    &pillar::COMMON,
    &pillar::MINION,
    &grains::MINION,
    &modules::COMMON,
    &modules::MINION,
    &windows::COMMON,
    &windows::MINION,
];
