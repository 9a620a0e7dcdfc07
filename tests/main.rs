//! Tests of the whole: real programs, and rules that hold across files.

mod layers;
