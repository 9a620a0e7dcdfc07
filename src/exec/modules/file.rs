//! `file.*`: files, directories, links, and what is in them.

mod attributes;
mod backups;
mod block;
mod comment;
mod content;
mod difference;
mod facts;
mod find;
mod hash;
mod line;
mod make;
mod manage;
mod managed;
mod names;
mod node;
mod open_files;
mod owner;
mod patch;
mod place;
pub mod remove;
mod replace;
mod search;
mod sed;
mod source;
#[cfg(test)]
mod tests;

use halite_core::host::{Attributes, Host};
use halite_core::module::{Module, function};
use halite_core::{Ctx, Fault, paths};
use halite_file::content::{Part, put};
use halite_file::{in_python_words, refused};
use std::path::Path;

pub const MODULE: Module = Module {
    name: "file",
    doc: "Files, directories, links, and what is in them.",
    functions: &[
        function::<facts::Access>("access"),
        function::<content::Append>("append"),
        function::<source::ApplyTemplateOnContents>("apply_template_on_contents"),
        function::<names::Basename>("basename").inline(),
        function::<block::Blockreplace>("blockreplace"),
        function::<attributes::Chattr>("chattr"),
        function::<managed::CheckFileMeta>("check_file_meta"),
        function::<hash::CheckHash>("check_hash"),
        function::<managed::CheckManaged>("check_managed"),
        function::<managed::CheckManagedChanges>("check_managed_changes"),
        function::<owner::CheckPerms>("check_perms"),
        function::<owner::Chgrp>("chgrp"),
        function::<owner::Chown>("chown"),
        function::<comment::Comment>("comment"),
        function::<comment::CommentLine>("comment_line"),
        function::<search::Contains>("contains"),
        function::<search::ContainsGlob>("contains_glob"),
        function::<search::ContainsRegex>("contains_regex"),
        function::<place::Copy>("copy"),
        function::<backups::DeleteBackup>("delete_backup"),
        function::<facts::DirectoryExists>("directory_exists"),
        function::<names::Dirname>("dirname").inline(),
        function::<facts::Diskusage>("diskusage"),
        function::<hash::ExtractHash>("extract_hash"),
        function::<facts::FileExists>("file_exists"),
        function::<find::Find>("find"),
        function::<node::GetDevmm>("get_devmm"),
        function::<difference::GetDiff>("get_diff"),
        function::<owner::GetGid>("get_gid"),
        function::<owner::GetGroup>("get_group"),
        function::<hash::GetHash>("get_hash"),
        function::<managed::GetManaged>("get_managed"),
        function::<owner::GetMode>("get_mode"),
        function::<attributes::GetSelinuxContext>("get_selinux_context"),
        function::<hash::GetSourceSum>("get_source_sum"),
        function::<hash::GetSum>("get_sum"),
        function::<owner::GetUid>("get_uid"),
        function::<owner::GetUser>("get_user"),
        function::<owner::GidToGroup>("gid_to_group"),
        function::<search::Grep>("grep"),
        function::<owner::GroupToGid>("group_to_gid"),
        function::<node::IsBlkdev>("is_blkdev"),
        function::<node::IsChrdev>("is_chrdev"),
        function::<node::IsFifo>("is_fifo"),
        function::<facts::IsHardlink>("is_hardlink"),
        function::<facts::IsLink>("is_link"),
        function::<names::Join>("join").inline(),
        function::<owner::Lchown>("lchown"),
        function::<line::Line>("line"),
        function::<place::Link>("link"),
        function::<backups::ListBackups>("list_backup"),
        function::<backups::ListBackups>("list_backups"),
        function::<backups::ListBackupsDir>("list_backups_dir"),
        function::<attributes::Lsattr>("lsattr"),
        function::<facts::Lstat>("lstat"),
        function::<make::Makedirs>("makedirs"),
        function::<make::MakedirsPerms>("makedirs_perms"),
        function::<manage::ManageFile>("manage_file"),
        function::<make::Mkdir>("mkdir"),
        function::<node::Mknod>("mknod"),
        function::<node::MknodBlkdev>("mknod_blkdev"),
        function::<node::MknodChrdev>("mknod_chrdev"),
        function::<node::MknodFifo>("mknod_fifo"),
        function::<place::Move>("move"),
        function::<names::Normpath>("normpath").inline(),
        function::<open_files::OpenFiles>("open_files"),
        function::<names::Pardir>("pardir").inline(),
        function::<patch::Patch>("patch"),
        function::<names::PathExistsGlob>("path_exists_glob"),
        function::<content::Prepend>("prepend"),
        function::<sed::Psed>("psed"),
        function::<content::Read>("read"),
        function::<facts::Readdir>("readdir"),
        function::<facts::Readlink>("readlink"),
        function::<remove::Remove>("remove"),
        function::<backups::DeleteBackup>("remove_backup"),
        function::<place::Rename>("rename"),
        function::<replace::Replace>("replace"),
        function::<backups::RestoreBackup>("restore_backup"),
        function::<attributes::Restorecon>("restorecon"),
        function::<remove::Rmdir>("rmdir"),
        function::<search::Search>("search"),
        function::<sed::Sed>("sed"),
        function::<sed::SedContains>("sed_contains"),
        function::<content::SeekRead>("seek_read"),
        function::<content::SeekWrite>("seek_write"),
        function::<owner::SetMode>("set_mode"),
        function::<attributes::SetSelinuxContext>("set_selinux_context"),
        function::<source::SourceList>("source_list"),
        function::<facts::Stats>("stats"),
        function::<facts::Statvfs>("statvfs"),
        function::<place::Symlink>("symlink"),
        function::<content::Touch>("touch"),
        function::<content::Truncate>("truncate"),
        function::<owner::UidToUser>("uid_to_user"),
        function::<comment::Uncomment>("uncomment"),
        function::<owner::UserToUid>("user_to_uid"),
        function::<content::Write>("write"),
    ],
};

/// A path that must be absolute, `~` expanded; the fault is in Salt's words.
fn absolute(ctx: &Ctx, path: &str, complaint: &str) -> Result<String, Fault> {
    let path = paths::expand_user(ctx.host, path);
    match path.starts_with('/') {
        true => Ok(path),
        false => Err(Fault::invocation(complaint)),
    }
}

/// A file as text. Bytes that are none are a fault of whoever asked for it to be edited.
fn text_of(host: &dyn Host, path: &str) -> Result<String, Fault> {
    let bytes = host.read(Path::new(path)).map_err(|error| refused(path, &error))?;
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Ok(text),
        _ => Err(Fault::invocation(format!("Cannot perform string replacements on a binary file: {path}"))),
    }
}

/// Puts a new text in the place of a file, which keeps owner and mode. Links in the path must have been resolved.
fn rewrite(host: &dyn Host, path: &str, text: &str) -> Result<(), Fault> {
    host.write(Path::new(path), text.as_bytes(), Attributes::default()).map_err(|error| refused(path, &error))
}

/// Copies a file with owner and mode to another name, as a backup of it.
fn back_up(host: &dyn Host, path: &str, backup: &str) -> Result<(), Fault> {
    let stat = host.stat(Path::new(path)).map_err(|error| refused(path, &error))?;
    let attributes = Attributes { mode: Some(stat.mode), uid: Some(stat.uid), gid: Some(stat.gid) };
    put(host, Part::At(path), None, Path::new(backup), attributes).map_err(|error| refused(backup, &error))
}
