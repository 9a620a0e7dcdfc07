{{ pillar.backup.target }}:
  file.directory:
  - makedirs: True
  - mode: '0700'

/dev/vdb1:
  mount.fstab_present:
  - fs_file: /var/backups/db
  - fs_vfstype: ext4
  - fs_mntops: noauto,nofail
  - fs_freq: 0
  - fs_passno: 2

dump:
  cron.present:
  - name: pg_dump >{{ pillar.backup.target }}/dump
  - user: dbd
  - hour: {{ pillar.backup.hour }}
  - minute: '*/30'
  - identifier: dump
  - require:
    - user: dbd-user

dbd-environment:
  file.managed:
  - name: /etc/default/dbd
  - contents: DBD_HOME={{ salt['user.info']('root').home }}
  environ.setenv:
  - name: LANG
  - value: C.UTF-8
