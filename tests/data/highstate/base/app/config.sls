app-conf:
  file:
    - managed
    - name: /etc/app.conf
    - watch: [{pkg: app-pkgs}]
    - contents: |
        multi
        line
app-svc:
  service:
    - running
    - enable: True
    - watch: [{file: app-conf}]
    - watch_any: [{file: app-conf}]
