maild:
  service.dead:
  - enable: False
  pkg.purged:
  - require:
    - service: maild

webd:
  service.dead: []

webd disabled:
  service.disabled:
  - name: webd
  - require:
    - pkg: maild

tools:
  pkg.removed:
  - pkgs: [tool, never-there]

sleeper:
  process.absent:
  - name: no-such-process

net.ipv4.ip_forward:
  sysctl.present:
  - value: 0
