names:
  cmd.run:
    - names: [c, a, b: [{order: 5}]]
    - require_in: [last]
  test.nop: []
last:
  test:
    - nop
    - order: last
first: test.nop
both:
  file.managed:
    - watch: [{test: last}]
    - watch_any: [{test: last}]
    - order: first
