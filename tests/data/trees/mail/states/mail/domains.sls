/etc/maild/domains.yaml:
  file.serialize:
  - serializer: yaml
  - dataset_pillar: mail:domains
  - makedirs: True

/etc/maild/domains.json:
  file.serialize:
  - serializer: json
  - dataset_pillar: mail:domains
  - makedirs: True
  - serializer_opts:
    - indent: 4
    - sort_keys: True

{% for domain, settings in pillar.mail.domains.items() %}
{% for user in settings.users %}
/var/vmail/{{ domain }}/{{ user }}/new:
  file.directory:
  - user: vmail
  - group: vmail
  - mode: '0700'
  - makedirs: True
  - require:
    - user: vmail
{% endfor %}
{% endfor %}
