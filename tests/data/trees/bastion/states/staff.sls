{% from 'macros.jinja' import account %}
{% for name, settings in pillar.staff.items() %}
{{ account(name, settings) }}
{% endfor %}

{% for name in pillar.gone %}
{{ name }}:
  user.absent:
  - purge: True
  - force: True
{% endfor %}

/etc/sudoers.d/staff:
  file.managed:
  - contents: |
      {%- for name, settings in pillar.staff.items() if settings.sudo is defined %}
      {{ name }} ALL=(ALL) NOPASSWD: ALL
      {%- endfor %}
  - mode: '0440'
  - check_cmd: /usr/sbin/visudo -c -q -f
