{% from 'db/map.jinja' import db with context %}
dbd-group:
  group.present:
  - name: dbd
  - gid: 500

dbd-user:
  user.present:
  - name: dbd
  - uid: 500
  - gid: 500
  - home: {{ db.data }}
  - shell: /bin/sh
  - require:
    - group: dbd-group

dbd-package:
  pkg.installed:
  - pkgs:
    - {{ db.package }}
    - tool: '2.0'
  - require:
    - user: dbd-user

dbd-data:
  file.directory:
  - names:
    - {{ db.data }}/base
    - {{ db.data }}/wal:
      - mode: '0750'
  - user: dbd
  - group: dbd
  - mode: '0700'
  - makedirs: True
  - require:
    - user: dbd-user
