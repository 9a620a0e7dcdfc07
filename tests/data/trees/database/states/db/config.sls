{% from 'db/map.jinja' import db with context %}
dbd-ini:
  ini.options_present:
  - name: {{ db.config }}
  - separator: '='
  - sections:
      server:
        port: {{ db.port }}
        shared_buffers: {{ db.shared_buffers }}
      log:
        level: debug
  - require:
    - pkg: dbd-package

dbd-ini-old:
  ini.options_absent:
  - name: {{ db.config }}
  - separator: '='
  - sections:
      server: [bind]
  - require:
    - ini: dbd-ini

dbd-service:
  service.running:
  - name: dbd
  - enable: True
  - reload: True
  - watch:
    - ini: dbd-ini

{% for key, value in db.sysctl.items() %}
{{ key }}:
  sysctl.present:
  - value: {{ value }}
  - config: /etc/sysctl.d/60-db.conf
{% endfor %}

{% for name in db.databases %}
create {{ name }}:
  cmd.run:
  - name: touch {{ db.data }}/base/{{ name }} && echo "changed=yes made={{ name }}"
  - unless: test -e {{ db.data }}/base/{{ name }}
  - runas: dbd
  - stateful: False
  - require:
    - file: dbd-data
    - service: dbd-service
{% endfor %}

db-role:
  grains.list_present:
  - name: databases
  - value: {{ db.databases | yaml }}

db-alias:
  alias.present:
  - name: dbd
  - target: root
