//! The thread that writes, in groups of what has come meanwhile, and the one that brings the log to the disk.

use super::write::{Write, write};
use rusqlite::Connection;
use smol::channel::{Receiver, Sender};
use std::fs::File;

/// How many writes one group takes at most.
const GROUP: usize = 512;

/// Something to be written, and who waits for it.
pub(super) struct Order {
    pub write: Write,
    pub done: Option<Sender<Result<(), String>>>,
}

/// What is written and has to be on the disk before it is told.
pub(super) type Written = Vec<Sender<Result<(), String>>>;

/// Writes until nobody is left who could order anything.
pub(super) fn write_groups(mut connection: Connection, incoming: Receiver<Order>, written: Sender<Written>) {
    while let Ok(first) = incoming.recv_blocking() {
        let mut group = vec![first];
        fill(&mut group, &incoming);
        commit(&mut connection, group, &written);
    }
}

/// Brings the log to the disk for whoever waits, all at once, while the writer goes on. What stands in the log is there
/// after a crash; before the log is overwritten, SQLite has brought its content into the database and that to the disk.
pub(super) fn sync_log(log: File, written: Receiver<Written>) {
    while let Ok(mut waiting) = written.recv_blocking() {
        while let Ok(more) = written.try_recv() {
            waiting.extend(more);
        }
        let synced = log.sync_data().map_err(|error| error.to_string());
        if let Err(error) = &synced {
            log::error!("the job database cannot be brought to the disk: {error}");
        }
        for done in waiting {
            let _ = done.try_send(synced.clone());
        }
    }
}

fn fill(group: &mut Vec<Order>, incoming: &Receiver<Order>) {
    while group.len() < GROUP {
        let Ok(order) = incoming.try_recv() else {
            return;
        };
        group.push(order);
    }
}

/// Writes a group and tells whoever waits what became of theirs: nobody hears that something is written that is not.
pub(super) fn commit(connection: &mut Connection, orders: Vec<Order>, written: &Sender<Written>) {
    let outcomes = write_group(connection, &orders);
    let mut to_disk = Vec::new();
    for (order, outcome) in orders.into_iter().zip(outcomes) {
        if let Err(error) = &outcome {
            log::error!("{} is not in the job database: {error}", order.write);
        }
        let lasting = matches!(order.write, Write::Return { .. }) && outcome.is_ok();
        match order.done {
            Some(done) if lasting => to_disk.push(done),
            Some(done) => drop(done.try_send(outcome)),
            None => {}
        }
    }
    if !to_disk.is_empty() {
        let _ = written.try_send(to_disk);
    }
}

/// Writes a group in one transaction, which takes it whole or not at all. When it is not taken, each order is written in
/// a transaction of its own, so that one that fails takes no other with it.
fn write_group(connection: &mut Connection, orders: &[Order]) -> Vec<Result<(), String>> {
    if write_together(connection, orders).is_ok() {
        return vec![Ok(()); orders.len()];
    }
    let mut alone = |order| write_together(connection, std::slice::from_ref(order)).map_err(|error| error.to_string());
    orders.iter().map(&mut alone).collect()
}

fn write_together(connection: &mut Connection, orders: &[Order]) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    for order in orders {
        write(&transaction, &order.write)?;
    }
    transaction.commit()
}
