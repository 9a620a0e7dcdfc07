{% set app = pillar.app %}
{{ app.user }}:
  user.present:
  - uid: 4500
  - usergroup: True
  - home: /home/deploy

/srv/app.git mirror:
  git.cloned:
  - name: /srv/app.git
  - target: /srv/mirror
  - branch: main

code:
  git.latest:
  - name: /srv/app.git
  - target: /srv/code
  - rev: {{ app.revision }}
  - force_reset: True

signed:
  git.config_set:
  - name: user.email
  - value: deploy@example.com
  - repo: /srv/code
  - require:
    - git: code

/srv/code/.env:
  file.serialize:
  - serializer: json
  - dataset:
      env: {{ app.env | tojson }}
      release: {{ grains['id'] }}
  - mode: '0600'
  - user: {{ app.user }}
  - require:
    - git: code
    - user: {{ app.user }}

/etc/app.conf:
  file.keyvalue:
  - key_values: {{ app.env | tojson }}
  - separator: '='
  - append_if_not_found: True
  - create_if_missing: True

bundle:
  archive.extracted:
  - name: /srv/bundle
  - source: /srv/release.tar.gz
  - options: --strip-components=1
  - enforce_toplevel: False
  - user: {{ app.user }}
  - require:
    - user: {{ app.user }}

migrate:
  cmd.wait:
  - name: echo migrated >>/srv/migrations
  - watch:
    - git: code
