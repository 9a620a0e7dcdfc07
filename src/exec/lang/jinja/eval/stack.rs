//! How much of the thread's stack renderings use. What counts levels cannot know how large a level is, and a function
//! that a template calls may render another template.

use std::cell::Cell;

/// What nested renderings may use together, in bytes. Threads have two megabytes and more: the rest is for what called
/// them and for what they call.
const BUDGET: usize = 1 << 20;

thread_local! {
    /// Where the outermost rendering of this thread began.
    static START: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Held by a rendering while it runs.
pub struct Stack {
    start: usize,
    outermost: bool,
}

impl Stack {
    pub fn begin() -> Stack {
        let here = here();
        let outer = START.replace(Some(START.get().unwrap_or(here)));
        Stack { start: outer.unwrap_or(here), outermost: outer.is_none() }
    }

    pub fn is_used_up(&self) -> bool {
        self.start.abs_diff(here()) > BUDGET
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        if self.outermost {
            START.set(None);
        }
    }
}

#[inline(never)]
fn here() -> usize {
    let marker = 0_u8;
    std::hint::black_box(&raw const marker).addr()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(stack: &Stack, levels: usize) -> bool {
        let room = std::hint::black_box([0_u8; 4096]);
        stack.is_used_up() || (levels > 0 && nested(stack, levels - 1)) || room[0] != 0
    }

    #[test]
    fn all_renderings_of_a_thread_share_one_budget() {
        let outer = Stack::begin();
        let inner = Stack::begin();
        assert_eq!(outer.start, inner.start);
        drop(inner);
        assert!(!nested(&outer, 10));
        assert!(nested(&outer, 300));
        drop(outer);
        assert_eq!(START.get(), None);
    }
}
