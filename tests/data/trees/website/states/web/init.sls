include:
- users

webd:
  pkg.installed:
  - version: '1.2'
  service.running:
  - enable: True
  - watch:
    - file: /etc/webd/webd.conf
    - pkg: webd

/etc/webd/webd.conf:
  file.managed:
  - source: salt://web/files/webd.conf.jinja
  - template: jinja
  - context:
      port: {{ salt['pillar.get']('site:port', 80) }}
      workers: {{ salt['pillar.get']('site:workers', 1) }}
  - user: root
  - group: www
  - mode: '0640'
  - require:
    - pkg: webd
    - group: www

/srv/www:
  file.directory:
  - user: www
  - group: www
  - dir_mode: '2755'
  - makedirs: True
  - require:
    - user: www

webd-log:
  file.directory:
  - name: /var/lib/webd/state
  - makedirs: True
  - mode: '0700'
  cmd.run:
  - name: id -u www >/var/lib/webd/state/owner
  - creates: /var/lib/webd/state/owner
  - require:
    - file: webd-log

vhost.example:
  host.present:
  - ip: 127.0.1.2
  - names:
    - {{ pillar.site.name }}
    - static.example.com
