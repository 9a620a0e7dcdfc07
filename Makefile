# Short names for what packaging/*.sh and cargo do.

PREFIX = /usr/local
DESTDIR =
SEEDS = 50
MINUTES = 10
HALITE = $(shell find target -maxdepth 3 -type f -path '*release/halite' 2>/dev/null | head -n 1)

.PHONY: demo test build bench chaos soak install

demo:
	sh packaging/demo.sh

test:
	sh packaging/test.sh

build:
	. packaging/env.sh && prepare && cargo build --release

# Against real Salt, which it installs into a folder of its own: BENCH_SALT=no leaves that out.
bench: build
	python3 tests/bench.py

# A kill -9, a cut or a silent connection at every moment of a job's way, SEEDS times.
chaos:
	. packaging/env.sh && prepare && HALITE_CHAOS_SEEDS=$(SEEDS) cargo test --test tests chaos -- --nocapture

soak:
	. packaging/env.sh && prepare && HALITE_SOAK_MINUTES=$(MINUTES) cargo test --test tests soak -- --nocapture

# The one file and its links, as `make install DESTDIR= PREFIX=/usr`.
install: build
	install -d $(DESTDIR)$(PREFIX)/bin
	install -m 0755 $(HALITE) $(DESTDIR)$(PREFIX)/bin/halite
	cd $(DESTDIR)$(PREFIX)/bin && ./halite install .
