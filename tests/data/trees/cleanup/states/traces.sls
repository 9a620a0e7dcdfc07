{% for path in pillar.gone.files %}
{{ path }}:
  file.absent: []
{% endfor %}

spool:
  file.tidied:
  - name: /srv/spool
  - age: 30
  - matches: ['.*\.log$']

old host:
  host.absent:
  - name: old.example.com
  - ip: 10.3.0.1

/bin/gone:
  cron.absent:
  - identifier: gone

LONG_GONE:
  cron.env_absent: []

gone:
  alias.absent: []

/mnt/old:
  mount.fstab_absent:
  - name: /dev/old
  - fs_file: /mnt/old

settings:
  ini.options_absent:
  - name: /srv/settings.ini
  - separator: '='
  - sections:
      a: [x]

b:
  ini.sections_absent:
  - name: /srv/settings.ini
  - sections: [b]

no such grain:
  grains.absent:
  - name: never

NEVER:
  environ.setenv:
  - value: False
  - false_unsets: True
