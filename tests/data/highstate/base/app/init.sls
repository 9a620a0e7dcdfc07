{% import_yaml 'app/defaults.yaml' as defaults %}
{% from 'app/map.jinja' import cfg with context %}
include:
  - .config
  - app.sub
  - dev: devsls
exclude:
  - id: gone
  - sls: app.sub.excl*
extend:
  app-conf:
    file:
      - mode: '0600'
      - require:
        - test: app-first
  app-svc:
    service.running:
      - name: nginx2
gone:
  test.nop: []
app-first:
  test.nop:
    - order: first
    - text: {{ defaults.x }} {{ cfg.y }} {{ slspath }} {{ slsdotpath }} {{ slscolonpath }} {{ sls_path }} {{ tplfile }}
app-pkgs:
  pkg.installed:
    - pkgs: [a, b]
    - require_in:
      - service: app-svc
      - file: app-conf
    - watch_in: [{service: app-svc}]
app-many:
  file.managed:
    - names:
      - /a
      - /b: [{mode: '0644'}, {user: bob}]
      - /a
    - group: root
    - onchanges_any: [{pkg: app-pkgs}, {file: app-conf}]
    - prereq: [{test: app-last}]
app-last:
  test.nop:
    - order: last
    - use: [{file: app-conf}]
app-glob:
  cmd.run:
    - name: echo {{ grains.id }}
    - require: [{'file': '/a*'}, {sls: app.sub}, {sls: 'app.c*'}, app-first]
    - listen: [{file: app-conf}]
    - onfail_all: [{pkg: app-pkgs}]
neg:
  test.nop: [{order: -5}]
neg2:
  test.nop: [{order: -50}]
