www:
  group.present:
  - gid: 4000
  - system: False
  user.present:
  - uid: 4000
  - gid: 4000
  - home: /srv/www
  - createhome: False
  - shell: /usr/sbin/nologin
  - require:
    - group: www

{% for name in pillar.site.admins %}
admin {{ name }}:
  user.present:
  - name: {{ name }}
  - uid: {{ 4100 + loop.index }}
  - usergroup: True
  - groups: [www]
  - remove_groups: False
  - fullname: {{ name | capitalize }} of Administration
  - shell: /bin/bash
  - require:
    - user: www
{% endfor %}
