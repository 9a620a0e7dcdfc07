# Short names for what packaging/*.sh and cargo do.

PREFIX = /usr/local
SYSCONFDIR = /etc
DESTDIR =
BIN = $(DESTDIR)$(PREFIX)/bin
SHARE = $(DESTDIR)$(PREFIX)/share
SEEDS = 50
MINUTES = 10
HALITE = $(shell find target -maxdepth 3 -type f -path '*release/halite' 2>/dev/null | head -n 1)

.PHONY: demo test build bench chaos flood soak big-files generate install deb rpm tar check-packages

demo:
	sh packaging/demo.sh

test:
	sh packaging/test.sh

build:
	. packaging/env.sh && prepare && cargo build --release

# Against real Salt, which it installs into a directory of its own: BENCH_SALT=no leaves that out.
bench: build
	python3 tests/bench.py

# A kill -9, a cut or a silent connection at every moment of a job's way, SEEDS times.
chaos:
	. packaging/env.sh && prepare && HALITE_CHAOS_SEEDS=$(SEEDS) cargo test --test tests chaos -- --nocapture

# The goodput of honest minions while unauthenticated connections flood the master, in the median: on a machine that does nothing else.
flood:
	. packaging/env.sh && prepare && HALITE_FLOOD=median \
		cargo test --release --test tests hold_up_an_honest_minion -- --nocapture --test-threads=1

# Files of 4 GiB, of which there are two or three at a time below TMPDIR, with 64 MiB of memory.
big-files:
	. packaging/env.sh && prepare && HALITE_BIG_FILES=1 cargo test --test tests big_files -- --test-threads=1

soak:
	. packaging/env.sh && prepare && HALITE_SOAK_MINUTES=$(MINUTES) cargo test --test tests soak -- --nocapture

# What is made from the declarations and kept in the repository; a test says when it is stale.
generate:
	. packaging/env.sh && prepare && cargo run --quiet -- generate completions packaging/completions && \
		cargo run --quiet -- generate config packaging/etc && \
		cargo run --quiet -- generate man packaging/man && \
		cargo run --quiet -- generate reference docs/reference && \
		cargo run --quiet -- generate services packaging/services

# The one file and its links, as `make install DESTDIR= PREFIX=/usr`; beside them manual pages, completions, and sample
# files of the configuration where there are none yet.
install: build
	install -d $(BIN) $(SHARE)/man/man1 $(SHARE)/bash-completion/completions $(SHARE)/zsh/site-functions \
		$(SHARE)/fish/vendor_completions.d $(DESTDIR)$(SYSCONFDIR)/salt
	install -m 0755 $(HALITE) $(BIN)/halite
	cd $(BIN) && ./halite install .
	install -m 0644 packaging/man/*.1 $(SHARE)/man/man1
	install -m 0644 packaging/completions/bash/* $(SHARE)/bash-completion/completions
	install -m 0644 packaging/completions/zsh/* $(SHARE)/zsh/site-functions
	install -m 0644 packaging/completions/fish/* $(SHARE)/fish/vendor_completions.d
	for file in master minion; do \
		[ -e $(DESTDIR)$(SYSCONFDIR)/salt/$$file ] || \
		install -m 0644 packaging/etc/$$file $(DESTDIR)$(SYSCONFDIR)/salt/$$file; done

# Packages of the release build, in target/packages.
deb rpm tar: build
	sh packaging/package.sh $@

# Installed, upgraded, removed and purged in roots of their own: as root, with debootstrap, lintian and rpm.
check-packages: build
	sh packaging/check-packages.sh
