//! Work that is done on values where no rendering is at hand: counted here, and added to the rendering's when it next
//! counts. A value that is small in memory can be huge to walk through: ten lists of ten times the same list, and so on.

use std::cell::Cell;

/// What one walk through a value may count: steps and bytes.
pub const WALK_LIMIT: usize = 20_000_000;

thread_local! {
    static DONE: Cell<usize> = const { Cell::new(0) };
}

pub fn add(steps: usize) {
    DONE.set(DONE.get().saturating_add(steps));
}

/// What was counted since the last time.
pub fn take() -> usize {
    DONE.take()
}
