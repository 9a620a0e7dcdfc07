{% set backup = '/usr/local/sbin/backup' %}
{{ backup }}:
  file.managed:
  - mode: 755
  - contents:
    - '#!/bin/sh'
    - exec tar -cf /var/backups/www.tar -C /srv www

backup nightly:
  cron.present:
  - name: {{ backup }}
  - identifier: backup
  - user: root
  - minute: 17
  - hour: 3
  - comment: All of /srv/www
  - require:
    - file: {{ backup }}

PATH:
  cron.env_present:
  - value: /usr/bin:/bin:/usr/local/sbin
  - user: root

rotate:
  ini.options_present:
  - name: /etc/rotate.ini
  - separator: '='
  - sections:
      webd:
        keep: 14
        compress: 'yes'

release:
  archive.extracted:
  - name: /opt/release
  - source: file:///srv/release.tar.gz
  - source_hash: file:///srv/release.tar.gz.sha256
  - user: www
  - group: www
  - require:
    - user: www
