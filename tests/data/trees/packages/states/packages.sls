answers:
  debconf.set:
  - name: asker
  - data:
      asker/domain: {type: string, value: tree.example.com}
      asker/agree: {type: boolean, value: 'true'}

asker:
  pkg.installed:
  - require:
    - debconf: answers

pinned:
  pkg.installed:
  - pkgs:
    - tool: {{ pillar.versions.tool }}
    - webd: {{ pillar.versions.webd }}
  - hold: True
  - order: 3

from file:
  pkg.installed:
  - sources:
    - editor-a: /srv/repo/editor-a_1.0.deb

second editor:
  pkg.latest:
  - name: editor-b

held:
  pkg.held:
  - name: editor-b
  - require:
    - pkg: second editor

without:
  pkg.purged:
  - pkgs: [zip, unzip]

bzip2:
  pkg.removed: []

webd:
  service.running:
  - enable: False
  - require:
    - pkg: pinned
  - watch:
    - file: /etc/webd/webd.conf

/etc/webd/webd.conf:
  file.uncomment:
  - regex: workers 4
  - require:
    - pkg: pinned

webd-user:
  user.present:
  - name: webd
  - system: True
  - uid: 350
  - home: /var/www
  - createhome: False
  - shell: /bin/false

/var/www:
  file.directory:
  - user: webd
  - recurse: [user]
  - require:
    - user: webd-user
    - pkg: pinned

written:
  cmd.run:
  - name: tool >/srv/tool.version
  - onchanges:
    - pkg: pinned

listened:
  cmd.run:
  - name: echo listened >>/srv/listened
  - onchanges_any:
    - pkg: second editor
    - pkg: asker

package-list:
  grains.present:
  - value: {{ pillar.versions | tojson }}
