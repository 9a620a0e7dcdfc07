sshd:
  file.managed:
  - name: /etc/ssh/sshd_config
  - contents: |
      Port 22
      #PermitRootLogin yes
      PasswordAuthentication yes
  - replace: False
  - makedirs: True

no root:
  file.replace:
  - name: /etc/ssh/sshd_config
  - pattern: ^#?PermitRootLogin.*$
  - repl: PermitRootLogin no
  - append_if_not_found: True
  - require:
    - file: sshd

keys alone:
  file.line:
  - name: /etc/ssh/sshd_config
  - match: PasswordAuthentication
  - content: PasswordAuthentication no
  - mode: replace
  - require:
    - file: no root

staff only:
  file.blockreplace:
  - name: /etc/ssh/sshd_config
  - marker_start: '# -- staff'
  - marker_end: '# -- end'
  - content: AllowUsers {{ pillar.staff | join(' ') }}
  - append_if_not_found: True
  - require:
    - file: keys alone

git.example.com:
  ssh_known_hosts.present:
  - user: root
  - key: AAAAC3NzaC1lZDI1NTE5AAAAIBgD19qFUjY6S3p8Xw+Sdr89AjW56ndLG0ympb/OGf1J
  - enc: ssh-ed25519
  - hash_known_hosts: False

/etc/motd:
  file.append:
  - text:
    - This is {{ grains.id }}.
    - Whoever enters is written down.
