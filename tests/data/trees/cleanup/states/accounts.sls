{% for name in pillar.gone.users %}
{{ name }}:
  user.absent:
  - purge: {{ loop.first }}
{% endfor %}

leaver3:
  user.present:
  - uid: 7003
  - gid: 7001
  - allow_gid_change: True
  - shell: /usr/sbin/nologin
  - require:
    - group: stayers

stayers:
  group.present:
  - gid: 7001

leavers:
  group.absent:
  - require:
    - user: leaver3

ada@example.com:
  ssh_auth.absent:
  - user: root
  - name: AAAAC3NzaC1lZDI1NTE5AAAAIBRvc2VzIGFyZSByZWQsIHZpb2xldHMgYXJlIGJsdWU=
  - enc: ssh-ed25519

old.example.com:
  ssh_known_hosts.absent:
  - user: root
