#!jinja|yaml
{% set rows = [] %}
{% for name, data in pillar.nodes.items() %}{% do rows.append({'name': name, 'tags': data.tags}) %}{% endfor %}
/srv/report.txt:
  file.managed:
  - contents: {{ (rows | map(attribute='name') | sort | join(', ') ~ ' ' ~ pillar.unicode ~ ' ' ~ pillar.number ~ ' ' ~ pillar.truth) | yaml_encode }}

/srv/grains.json:
  file.serialize:
  - serializer: json
  - dataset:
      os: {{ grains.os }}
      family: {{ grains.os_family }}
      rows: {{ rows | tojson }}

/srv/motd:
  file.managed:
  - contents_pillar: motd
  - contents_newline: False

block:
  file.blockreplace:
  - name: /srv/marked
  - marker_start: '# begin'
  - marker_end: '# end'
  - content: {{ pillar.motd | yaml_encode }}
  - append_if_not_found: True
  - require:
    - file: marked

marked:
  file.managed:
  - name: /srv/marked
  - contents: head
  - replace: False

joined:
  cmd.run:
  - name: cat /srv/report.txt /srv/motd >/srv/joined
  - onchanges:
    - file: /srv/report.txt
    - file: /srv/motd

settings:
  ini.options_present:
  - name: /srv/settings.ini
  - sections: {{ {'nodes': {'count': pillar.nodes | length, 'names': pillar.nodes | sort | join(' ')}} | tojson }}

quiet:
  test.succeed_without_changes: []
