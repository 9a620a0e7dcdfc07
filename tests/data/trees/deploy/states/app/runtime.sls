include:
- app

tool:
  pkg.latest:
  - refresh: False

run-app:
  file.managed:
  - name: /usr/local/bin/run-app
  - source: salt://app/files/run-app
  - template: jinja
  - mode: keep
  - defaults: {port: {{ pillar.app.env.APP_PORT }}}

check it:
  cmd.script:
  - source: salt://app/files/check.sh
  - cwd: /srv
  - args: "'one two' three"
  - creates: /srv/checked
  - require:
    - file: run-app
    - git: code

surroundings:
  environ.setenv:
  - value: {HOME: /root, LANG: C.UTF-8}

deployed:
  grains.present:
  - name: app:revision
  - value: {{ pillar.app.revision }}
  - force: True
  - require:
    - cmd: check it

app-group:
  group.present:
  - name: apps
  - gid: 4600
  - members: [deploy]
  - require:
    - user: deploy

cleanup:
  file.absent:
  - name: /srv/release.tar.gz.sha256
  cron.present:
  - name: /usr/local/bin/run-app
  - user: deploy
  - minute: 5
  - identifier: run-app
  - require:
    - user: deploy
    - file: run-app

finished:
  test.configurable_test_state:
  - changes: False
  - result: True
  - comment: finished
  - require:
    - sls: app
