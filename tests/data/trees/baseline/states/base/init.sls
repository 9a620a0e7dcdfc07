de_DE.UTF-8:
  locale.present: []

Etc/UTC:
  timezone.system: []

unwanted:
  cmd.run:
  - name: touch /unwanted

hosts:
  host.present:
  - names:
    - db1: [{ip: 10.1.0.1}]
    - db2: [{ip: 10.1.0.2}]
  - order: first

vm.swappiness:
  test.nop

net.core.somaxconn:
  sysctl.present:
  - value: 1024

net.ipv4.tcp_syncookies:
  sysctl.present:
  - value: 1

operators:
  group.present:
  - system: True
  - addusers: [backup]

root:
  user.present:
  - uid: 0
  - shell: /bin/bash
  - groups: [root, adm]
  - require:
    - group: operators

role:
  grains.list_present:
  - name: duties
  - value: baseline

tidy:
  cron.file:
  - name: salt://base/crontab
  - user: backup

HOME:
  environ.setenv:
  - value: /root

/proc:
  mount.fstab_present:
  - name: proc
  - fs_file: /proc
  - fs_vfstype: proc
  - fs_mntops: hidepid=2

postmaster:
  alias.present:
  - target: root
