//! `salt-master`: accepts keys, hands out jobs and gathers what comes back.

pub mod database;
pub mod jobs;
