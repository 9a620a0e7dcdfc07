//! How two files differ: `file.get_diff`.

use halite_core::module::Run;
use halite_core::{Ctx, Fault, Reply};
use halite_file::content::Part;
use halite_file::difference::{Ignored, Shown, between};
use halite_node::fileserver::client::{FileClient, Wanted, saltenv};
use halite_value::Value;
use halite_value::record;

record! {
    /// Shows how two files differ; they may be on the file server. With one of the `ignore_` arguments: whether a difference
    /// is left that counts, and all of it.
    ///
    ///   salt '*' file.get_diff /home/fred/.vimrc salt://users/fred/.vimrc
    ///   salt '*' file.get_diff /tmp/foo.txt /tmp/bar.txt show_filenames=False
    pub struct GetDiff {
        /// A file.
        file1: String,
        /// The other.
        file2: String,
        /// The environment of the file server.
        saltenv: Option<String> = "base",
        /// Show the names of both.
        show_filenames: bool = true,
        /// Show how they differ, and not only that they do.
        show_changes: bool = true,
        /// They come of a template: not shown where `obfuscate_templates` is on.
        template: bool = false,
        /// For an http address: a hash with which a copy in the cache is good enough.
        source_hash_file1: Option<String> = (),
        /// The same for the other.
        source_hash_file2: Option<String> = (),
        /// Lines in another order do not count.
        ignore_ordering: bool = false,
        /// Blanks at the ends of lines do not count, nor does their order.
        ignore_whitespace: bool = false,
        /// What stands behind this text, or one of these, does not count, nor does the order of lines.
        ignore_comment_characters: Value = (),
    }
}

impl Run for GetDiff {
    fn run(self, ctx: &Ctx) -> Reply {
        let environment = saltenv(ctx, self.saltenv.as_deref());
        let mut found = Vec::new();
        let mut missing = Vec::new();
        for (file, source_hash) in [(&self.file1, self.source_hash_file1), (&self.file2, self.source_hash_file2)] {
            let wanted = Wanted { source_hash, ..Wanted::default() };
            match FileClient::new(ctx).cache_file(file, &environment, &wanted)? {
                Some(path) => found.push(path),
                None => missing.push(format!("File {file} not found")),
            }
        }
        let [one, other] = found.as_slice() else {
            return Err(Fault::execution(format!("Failed to cache one or more files: {}", missing.join("; "))));
        };
        let ignored = Ignored::new(self.ignore_ordering, self.ignore_whitespace, &self.ignore_comment_characters);
        let shown = Shown { changes: self.show_changes, of_template: self.template };
        let mut difference = between(ctx, Part::At(one), Part::At(other), shown, ignored.as_ref())?;
        if self.show_filenames
            && let Some(rest) = difference.text.strip_prefix("--- \n+++ \n")
        {
            difference.text = format!("--- {one}\n+++ {other}\n{rest}");
        }
        Ok(match ignored {
            Some(_) => Value::List(vec![difference.counts.into(), difference.text.into()]).into(),
            None => difference.text.into(),
        })
    }
}
