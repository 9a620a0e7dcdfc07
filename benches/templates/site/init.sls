{%- from 'site/map.jinja' import site, root with context %}
{%- from 'site/macros.jinja' import directory, require, listed %}
{%- set users = pillar['users'] %}
{%- set vhosts = pillar['vhosts'] %}
{%- set fqdn = grains['fqdn'] %}

{# -- the package and its service ------------------------------------------------------- #}
site_package:
  pkg.installed:
    - name: {{ site['package'] }}
{%- if pillar['version'] %}
    - version: {{ pillar['version'] }}
{%- endif %}
{%- if site['modules'] %}
    - pkgs:
{%- for module in site['modules'] %}
      - {{ site['package'] }}-{{ module | replace('_', '-') }}
{%- endfor %}
{%- endif %}

site_service:
  service.running:
    - name: {{ site['service'] }}
    - enable: True
    - reload: {{ pillar['reload'] | default(false) }}
    - watch:
      - pkg: site_package
{%- for name in vhosts | sort %}
      - file: {{ site['sites'] }}/{{ name }}.conf
{%- endfor %}

{# -- directories ---------------------------------------------------------------------------- #}
{{ directory(root, site['user'], site['group']) }}

{{ directory(site['confdir'] ~ '/snippets', mode='0750') }}

{{ directory('/var/log/site', site['user'], 'adm', '2750') }}

{# -- accounts --------------------------------------------------------------------------- #}
{%- for name, user in users | dictsort %}
{%- if user['absent'] is defined and user['absent'] %}
user_{{ name }}:
  user.absent:
    - name: {{ name }}
    - purge: True
{%- else %}
user_{{ name }}:
  group.present:
    - name: {{ name }}
    - gid: {{ user['uid'] }}
  user.present:
    - name: {{ name }}
    - fullname: {{ user['fullname'] | default(name | capitalize) }}
    - uid: {{ user['uid'] }}
    - gid: {{ user['uid'] }}
    - home: {{ user['home'] | default('/home/' ~ name) }}
    - shell: {{ user['shell'] | default('/bin/bash') }}
{{- listed('groups', user['groups']) }}
{{- require('group', [name]) }}

{{ directory('/home/' ~ name ~ '/.ssh', name, name, '0700') }}

{%- for key in user['keys'] %}
ssh_{{ name }}_{{ loop.index }}:
  ssh_auth.present:
    - user: {{ name }}
    - name: {{ key }}
    - comment: {{ name }}@{{ fqdn }} {{ loop.index }}/{{ loop.length }}
    - require:
      - file: /home/{{ name }}/.ssh
{%- endfor %}

{%- if user['sudo'] is defined %}
sudo_{{ name }}:
  file.managed:
    - name: /etc/sudoers.d/{{ name }}
    - mode: '0440'
    - contents: |
{%- for rule in user['sudo'] %}
        {{ name }} ALL=({{ rule['as'] | default('root') }}) {{ 'NOPASSWD:' if rule['free'] else '' }}{{ rule['cmd'] }}
{%- endfor %}
{%- endif %}
{%- endif %}
{%- endfor %}

{# -- virtual hosts ---------------------------------------------------------------------- #}
{%- for name, vhost in vhosts | dictsort %}
{%- set docroot = root ~ '/' ~ name %}
{%- set port = 443 if vhost['tls'] else 80 %}

{{ directory(docroot, site['user'], site['group'], '0755') }}

{{ site['sites'] }}/{{ name }}.conf:
  file.managed:
    - user: root
    - group: root
    - mode: '0644'
    - contents: |
        <VirtualHost *:{{ port }}>
          ServerName {{ name }}
{%- for alias in vhost['aliases'] %}
          ServerAlias {{ alias }}
{%- endfor %}
          DocumentRoot {{ docroot }}
          ErrorLog /var/log/site/{{ name }}-error.log
          CustomLog /var/log/site/{{ name }}-access.log combined
{%- if vhost['tls'] %}
          SSLEngine on
          SSLCertificateFile /etc/ssl/certs/{{ name }}.pem
          SSLCertificateKeyFile /etc/ssl/private/{{ name }}.key
{%- endif %}
{%- for header, value in vhost['headers'] | dictsort %}
          Header always set {{ header }} "{{ value }}"
{%- endfor %}
{%- for rule in vhost['proxy'] %}
          ProxyPass {{ rule['path'] }} {{ rule['to'] }}
          ProxyPassReverse {{ rule['path'] }} {{ rule['to'] }}
{%- endfor %}
          <Directory {{ docroot }}>
            Options {{ vhost['options'] | join(' ') }}
            AllowOverride {{ 'All' if vhost['htaccess'] else 'None' }}
            Require all granted
          </Directory>
        </VirtualHost>
{{- require('file', [docroot, '/var/log/site']) }}
{%- if not vhost['enabled'] %}

{{ site['confdir'] }}/sites-enabled/{{ name }}.conf:
  file.absent
{%- elif grains['os_family'] == 'Debian' %}

{{ site['confdir'] }}/sites-enabled/{{ name }}.conf:
  file.symlink:
    - target: {{ site['sites'] }}/{{ name }}.conf
    - require:
      - file: {{ site['sites'] }}/{{ name }}.conf
{%- endif %}
{%- endfor %}

{# -- timers ----------------------------------------------------------------------------- #}
{%- macro timer(name, command, minute='0', hour='*') %}
cron_{{ name }}:
  cron.present:
    - name: {{ command }}
    - identifier: {{ name }}
    - user: {{ site['user'] }}
    - minute: '{{ minute }}'
    - hour: '{{ hour }}'
{%- endmacro %}
{%- for name in vhosts | sort %}
{{ timer('log_' ~ loop.index, '/usr/local/bin/rotate ' ~ name, minute=(loop.index0 * 7) % 60) }}
{%- if loop.last %}
{{ timer('summary', '/usr/local/bin/summary ' ~ loop.length, hour=4) }}
{%- endif %}
{%- endfor %}

{# -- rules of the firewall --------------------------------------------------------------- #}
{%- set ports = namespace(all=[22], text='') %}
{%- for name, vhost in vhosts.items() if vhost['enabled'] %}
{%- set port = 443 if vhost['tls'] else 80 %}
{%- if port not in ports.all %}
{%- set ports.all = ports.all + [port] %}
{%- endif %}
{%- endfor %}
{%- for port in ports.all | sort %}
firewall_{{ port }}:
  iptables.append:
    - chain: INPUT
    - jump: ACCEPT
    - proto: tcp
    - dport: {{ port }}
    - match: [state, comment]
    - comment: "{{ '%s %d of %d' | format('rule', loop.index, loop.length) }}"
{%- if not loop.first %}
    - require:
      - iptables: firewall_{{ loop.previtem }}
{%- endif %}
{%- endfor %}

{# -- files that every host has ----------------------------------------------------------- #}
{%- for path, text in pillar['files'] | dictsort %}
{{ path }}:
  file.managed:
    - mode: '{{ '0600' if 'secret' in path else '0644' }}'
    - contents: |
        {{ text | indent(8) }}
{%- endfor %}
{#- counted for the notice below -#}
{%- set total = users | length + vhosts | length %}
{%- if total > 3 and grains['num_cpus'] >= 2 and not pillar['quiet'] %}

site_notice:
  test.show_notification:
    - text: {{ total }} accounts and hosts on {{ fqdn }} ({{ grains['os'] | lower }})
{%- endif %}
