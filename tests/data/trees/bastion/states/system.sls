Europe/Berlin:
  timezone.system:
  - utc: True

net.ipv4.ip_forward:
  sysctl.present:
  - value: 0

bastion:
  host.present:
  - ip: 10.0.0.1
  - clean: True

editors:
  pkg.installed:
  - pkgs: [editor-a, editor-b]

wipe:
  cron.present:
  - name: find /tmp -mtime +10 -delete
  - special: '@daily'
  - identifier: wipe
  - comment: keeps /tmp small
