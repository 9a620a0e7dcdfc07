local:
  pkgrepo.managed:
  - name: deb file:/srv/more ./
  - file: /etc/apt/sources.list.d/more.list
  - refresh: False

/etc/apt/apt.conf.d/90local:
  file.managed:
  - contents: 'APT::Install-Recommends "false";'

/etc/apt/preferences.d/tool:
  file.managed:
  - contents: |
      Package: tool
      Pin: version {{ pillar.versions.tool }}
      Pin-Priority: 1001

refresh:
  module.run:
  - pkg.refresh_db: []
  - onchanges:
    - pkgrepo: local
