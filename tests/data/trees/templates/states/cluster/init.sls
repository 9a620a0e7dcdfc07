{% from tpldir ~ '/map.jinja' import cluster with context %}
{{ cluster.path }}:
  file.recurse:
  - source: salt://{{ slspath }}/etc
  - template: jinja
  - include_empty: True
  - context:
      cluster: {{ cluster | json }}

{% for name, data in cluster.nodes | dictsort %}
{{ name }}:
  host.present:
  - ip: {{ data.get('ip', '10.2.0.1') }}
  cron.present:
  - name: ping -c1 {{ name }}
  - minute: {{ loop.index * 7 }}
  - identifier: ping-{{ name }}
{% endfor %}

members:
  file.accumulated:
  - name: nodes
  - filename: /etc/cluster/members
  - text: {{ cluster.nodes.keys() | sort | list | tojson }}
  - require_in:
    - file: /etc/cluster/members

/etc/cluster/members:
  file.managed:
  - source: salt://cluster/members
  - template: jinja
  - require:
    - file: {{ cluster.path }}

cluster:
  group.present:
  - gid: 6000
  user.present:
  - uid: 6000
  - gid: 6000
  - createhome: False
  - home: /nonexistent
  - require:
    - group: cluster
  grains.present:
  - value: {{ cluster.options | tojson }}
