{% for name, vhost in pillar.site.vhosts | dictsort %}
{{ vhost.root }}:
  file.recurse:
  - source: salt://web/content
  - template: jinja
  - defaults: {title: {{ name }}}
  - user: www
  - group: www
  - file_mode: '0644'
  - dir_mode: '0755'
  - require:
    - file: /srv/www

/etc/webd/conf.d/{{ name }}.conf:
  file.managed:
  - contents: |
      server {{ name }} {
        listen {{ vhost.ports | join(' ') }};
      }
  - makedirs: True
  - watch_in:
    - service: webd

/etc/webd/enabled/{{ name }}.conf:
  file.symlink:
  - target: ../conf.d/{{ name }}.conf
  - makedirs: True
{% endfor %}
