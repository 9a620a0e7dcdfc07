answers:
  http.query:
  - name: http://127.0.0.1:8000/index.html
  - match: hello
  - status: 200

/srv/copy.html:
  file.managed:
  - source: http://127.0.0.1:8000/index.html
  - skip_verify: True

/usr/local/bin/fetched:
  file.managed:
  - source:
    - http://127.0.0.1:8000/nowhere
    - http://127.0.0.1:8000/tool.sh
  - source_hash: sha256=df3f283be34a7614226644e1a725254933d9e4874dfb69ee634b72248bc6a029
  - mode: '0755'

run it:
  cmd.run:
  - name: /usr/local/bin/fetched >/srv/fetched
  - creates: /srv/fetched
  - require:
    - file: /usr/local/bin/fetched

no telnet:
  process.absent:
  - name: telnetd

watcher:
  group.present:
  - gid: 8000
  user.present:
  - uid: 8000
  - gid: 8000
  - home: /home/watcher
  - require:
    - group: watcher
  cron.present:
  - name: /usr/local/bin/fetched
  - user: watcher
  - hour: '*/2'
  - require:
    - user: watcher

tool:
  pkg.installed: []

fw-rules:
  grains.present:
  - name: firewall:ports
  - value: {{ pillar.firewall.tcp | length }}
