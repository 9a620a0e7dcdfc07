//! Whether a computation has looked beyond what it was given: at the time, at chance, at the host.
//!
//! What has looked at nothing else is the same again for the same sources, so it may be kept. A computation is on one
//! thread; whoever wants to know counts the looks of that thread before and after.

use std::cell::Cell;

thread_local! {
    static LOOKS: Cell<u64> = const { Cell::new(0) };
}

/// Notes a look.
pub fn looked() {
    LOOKS.set(LOOKS.get().wrapping_add(1));
}

/// How many looks this thread has taken.
pub fn looks() -> u64 {
    LOOKS.get()
}
