//! Patches, which dnf and zypper have, and what zypper alone knows: patterns, products, capabilities.

use super::manager::Manager;
use super::zypper::search::{self, Patches, Products};
use super::{change, dnf, rpm, zypper};
use halite_core::module::Run;
use halite_core::{Ctx, Reply};
use halite_value::record;
use halite_value::record::{Keywords, Rest};
use halite_value::{Map, Value};

const WITH_PATCHES: [Manager; 2] = [Manager::Dnf, Manager::Zypper];

record! {
    /// Lists the patches of all repositories: whether they are installed, and what they are.
    ///
    ///   salt '*' pkg.list_patches
    pub struct ListPatches {
        /// Read the lists anew first.
        refresh: bool = false,
        /// Another root, for zypper.
        root: Option<String> = (),
        kwargs: Keywords,
    }
}

impl Run for ListPatches {
    fn run(self, ctx: &Ctx) -> Reply {
        let manager = Manager::expect(ctx, "list_patches", &WITH_PATCHES)?;
        let root = self.root.as_deref();
        if self.refresh {
            let mut how = change::how(&self.kwargs.0);
            how.root = self.root.clone();
            manager.refresh(ctx, &how)?;
        }
        Ok(match manager {
            Manager::Zypper => search::patches(ctx, Patches::All, root)?,
            _ => dnf::patches(ctx)?,
        }
        .into())
    }
}

record! {
    /// Lists the patches that are installed.
    ///
    ///   salt '*' pkg.list_installed_patches
    pub struct ListInstalledPatches {
        /// Another root, for zypper.
        root: Option<String> = (),
        kwargs: Keywords,
    }
}

impl Run for ListInstalledPatches {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(match Manager::expect(ctx, "list_installed_patches", &WITH_PATCHES)? {
            Manager::Zypper => search::patches(ctx, Patches::Installed, self.root.as_deref())?,
            _ => {
                let mut patches = dnf::patches(ctx)?;
                patches.retain(|_, patch| patch.at("installed") == Some(&Value::Bool(true)));
                patches
            }
        }
        .into())
    }
}

/// Reads zypper's lists anew where that is wanted.
fn refresh_if(ctx: &Ctx, wanted: bool, more: &Map, root: Option<&str>) -> Result<(), halite_core::Fault> {
    if wanted {
        zypper::refresh(ctx, more, root)?;
    }
    Ok(())
}

record! {
    /// Shows what zypper knows of packages that can be had.
    ///
    ///   salt '*' pkg.info_available bash
    ///   salt '*' pkg.info_available bash zsh refresh=False
    pub struct InfoAvailable {
        /// The packages.
        names: Rest,
        /// `refresh` (True): read the lists anew first; `root`: another root.
        kwargs: Keywords,
    }
}

impl Run for InfoAvailable {
    fn run(self, ctx: &Ctx) -> Reply {
        Manager::expect(ctx, "info_available", &[Manager::Zypper])?;
        let names: Vec<String> = self.names.0.iter().map(Value::to_text).collect();
        if names.is_empty() {
            return Ok(Map::new().into());
        }
        let more = &self.kwargs.0;
        refresh_if(ctx, more.at("refresh").is_none_or(Value::truthy), more, more.str_at("root"))?;
        Ok(search::info(ctx, &names, more.str_at("root"))?.into())
    }
}

record! {
    /// Lists the patterns that zypper shows: whether they are installed, and what they are.
    ///
    ///   salt '*' pkg.list_patterns
    pub struct ListPatterns {
        /// Read the lists anew first.
        refresh: bool = false,
        /// Another root.
        root: Option<String> = (),
    }
}

impl Run for ListPatterns {
    fn run(self, ctx: &Ctx) -> Reply {
        Manager::expect(ctx, "list_patterns", &[Manager::Zypper])?;
        let root = self.root.as_deref();
        refresh_if(ctx, self.refresh, &Map::new(), root)?;
        Ok(search::patterns(ctx, root)?.into())
    }
}

record! {
    /// Lists the patterns that are installed, those that zypper does not show too.
    ///
    ///   salt '*' pkg.list_installed_patterns
    pub struct ListInstalledPatterns {
        /// Another root.
        root: Option<String> = (),
    }
}

impl Run for ListInstalledPatterns {
    fn run(self, ctx: &Ctx) -> Reply {
        Manager::expect(ctx, "list_installed_patterns", &[Manager::Zypper])?;
        Ok(search::installed_patterns(ctx, self.root.as_deref())?.into())
    }
}

record! {
    /// Lists the products of SUSE that are installed, or all.
    ///
    ///   salt '*' pkg.list_products
    ///   salt '*' pkg.list_products all=True
    pub struct ListProducts {
        /// Also those that could be installed.
        all: bool = false,
        /// Read the lists anew first.
        refresh: bool = false,
        /// Another root.
        root: Option<String> = (),
    }
}

impl Run for ListProducts {
    fn run(self, ctx: &Ctx) -> Reply {
        Manager::expect(ctx, "list_products", &[Manager::Zypper])?;
        let root = self.root.as_deref();
        refresh_if(ctx, self.refresh, &Map::new(), root)?;
        let which = if self.all { Products::All } else { Products::Installed };
        Ok(Value::list(search::products(ctx, which, root)?).into())
    }
}

record! {
    /// Lists what installed packages provide, with the packages that do, with rpm of SUSE.
    ///
    ///   salt '*' pkg.list_provides
    pub struct ListProvides {
        /// Another root.
        root: Option<String> = (),
        kwargs: Keywords,
    }
}

impl Run for ListProvides {
    fn run(self, ctx: &Ctx) -> Reply {
        Manager::expect(ctx, "list_provides", &[Manager::Zypper])?;
        Ok(rpm::provides(ctx, self.root.as_deref())?.into())
    }
}

record! {
    /// Finds packages with zypper, by name and by what it is told to look into.
    ///
    ///   salt '*' pkg.search bash
    ///   salt '*' pkg.search 'editor' search_descriptions=True
    ///   salt '*' pkg.search /usr/bin/vi provides=True match=exact
    pub struct Search {
        /// What is looked for.
        criteria: String,
        /// Read the lists anew first.
        refresh: bool = false,
        /// `match`: `exact`, `words` or `substrings`; `provides`, `recommends`, `requires`, `suggests`, `conflicts`,
        /// `obsoletes`, `file_list`, `search_descriptions`, `case_sensitive`, `installed_only`, `not_installed_only`,
        /// `details`: on where they are given; `root`: another root.
        kwargs: Keywords,
    }
}

impl Run for Search {
    fn run(self, ctx: &Ctx) -> Reply {
        Manager::expect(ctx, "search", &[Manager::Zypper])?;
        let root = self.kwargs.0.str_at("root");
        refresh_if(ctx, self.refresh, &self.kwargs.0, root)?;
        Ok(search::search(ctx, &self.criteria, &self.kwargs.0, root)?.into())
    }
}

record! {
    /// Shows a list of packages with capabilities in it replaced by the packages that have them, with zypper.
    ///
    ///   salt '*' pkg.resolve_capabilities '[vim, {python3-base: 3.6}]' resolve_capabilities=True
    pub struct ResolveCapabilities {
        /// Names, or `NAME: VERSION`.
        pkgs: Value,
        /// Read the lists anew first.
        refresh: bool = false,
        /// Another root.
        root: Option<String> = (),
        /// `resolve_capabilities`: without it the list stays as it is.
        kwargs: Keywords,
    }
}

impl Run for ResolveCapabilities {
    fn run(self, ctx: &Ctx) -> Reply {
        Manager::expect(ctx, "resolve_capabilities", &[Manager::Zypper])?;
        let root = self.root.as_deref();
        refresh_if(ctx, self.refresh, &self.kwargs.0, root)?;
        let resolves = self.kwargs.0.at("resolve_capabilities").is_some_and(Value::truthy);
        let exact = || Map::from_iter([("match", Value::from("exact"))]);
        let mut shown = Vec::new();
        for (mut name, version) in super::pairs(&self.pkgs)? {
            if resolves && search::search(ctx, &name, &exact(), root).is_err() {
                let mut options = exact();
                options.insert("provides", true);
                match search::search(ctx, &name, &options, root) {
                    Ok(found) if found.len() == 1 => name = found.keys().map(Value::to_text).collect(),
                    Ok(_) => log::warn!("Found ambiguous match for capability '{name}'."),
                    Err(fault) => log::debug!("{fault}"),
                }
            }
            shown.push(match version {
                Some(version) => Map::from_iter([(name, version)]).into(),
                None => Value::from(name),
            });
        }
        Ok(Value::List(shown).into())
    }
}
