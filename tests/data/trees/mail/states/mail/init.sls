include:
- .domains

maild:
  pkg.installed: []
  service.running:
  - enable: True
  - require:
    - pkg: maild

{% for name, target in pillar.mail.aliases.items() %}
alias {{ name }}:
  alias.present:
  - name: {{ name }}
  - target: {{ target }}
{% endfor %}

main.cf:
  file.keyvalue:
  - name: /etc/maild/main.cf
  - separator: '='
  - uncomment: '#'
  - append_if_not_found: True
  - key_values:
      myhostname: {{ grains.id }}.example.com
      relayhost: '[{{ pillar.mail.relay }}]'
      mynetworks: {{ pillar.mail.networks | join(' ') }}
      smtp_sasl: 'yes'
  - require:
    - pkg: maild
  - listen_in:
    - service: maild

sasl:
  file.managed:
  - name: /etc/maild/sasl
  - contents: {{ (pillar.mail.relay ~ ' ' ~ pillar.sasl.password) | yaml_dquote }}
  - mode: '0600'
  - show_changes: False
  - require:
    - pkg: maild

vmail:
  group.present:
  - gid: 5000
  user.present:
  - uid: 5000
  - gid: 5000
  - home: /var/vmail
  - require:
    - group: vmail

queue:
  cron.present:
  - name: test -e /run/maild.pid
  - minute: '*/5'

quota:
  ini.options_present:
  - name: /etc/maild/quota.ini
  - separator: '='
  - sections:
      default: {bytes: 1000000, messages: 500}
      ada: {bytes: 0}
  - require:
    - pkg: maild

spool:
  file.directory:
  - name: /var/spool/maild
  mount.fstab_present:
  - name: tmpfs
  - fs_file: /var/spool/maild
  - fs_vfstype: tmpfs
  - fs_mntops: size=10m,mode=700
  - mount: False

smtp.example.com:
  host.only:
  - name: 10.9.9.9
  - hostnames: [smtp.example.com, smtp]

checked:
  cmd.run:
  - name: grep -q relayhost=.smtp /etc/maild/main.cf
  - unless: test -e /srv/mail-checked
  - require:
    - file: main.cf

marked:
  file.touch:
  - name: /srv/mail-checked
  - onchanges:
    - cmd: checked
