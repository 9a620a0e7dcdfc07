banner:
  file.managed:
  - name: /etc/issue.net
  - contents_pillar: banner

/etc/ntp.conf:
  file.managed:
  - contents: |
      # time
      {%- for server in pillar.ntp %}
      server {{ server }} iburst
      {%- endfor %}
      driftfile /var/lib/ntp/drift

/etc/adduser.conf:
  file.keyvalue:
  - key: DIR_MODE
  - value: '0700'
  - separator: '='
  - uncomment: '#'
  - append_if_not_found: True

/etc/login.defs:
  file.replace:
  - pattern: ^UMASK\s+\d+
  - repl: "UMASK\t\t027"
  - backup: False

/etc/skel/.bashrc:
  file.comment:
  - regex: ^HISTSIZE
  - backup: False

/etc/bash.bashrc:
  file.append:
  - source: salt://base/profile
  - require:
    - file: /etc/skel/.bashrc

/etc/securetty:
  file.prepend:
  - text: tty1
  - makedirs: True
  - require:
    - file: secure

secure:
  file.managed:
  - name: /etc/securetty
  - replace: False

/etc/limits.d:
  file.directory:
  - clean: True
  - require:
    - file: limit

limit:
  file.managed:
  - name: /etc/limits.d/a.conf
  - contents: '* soft nofile 4096'
  - makedirs: True

/etc/motd.d/10:
  file.copy:
  - source: /etc/issue
  - makedirs: True

/etc/motd.d/20:
  file.hardlink:
  - target: /etc/motd.d/10
  - require:
    - file: /etc/motd.d/10

/var/lib/spool:
  file.directory:
  - mode: '1777'

/root/.profile.old:
  file.rename:
  - source: /root/.profile
  - force: True
