include: [.excluded, .other]
sub-one:
  test.succeed_with_changes:
    - use_in: [{test: sub-two}]
    - foo: bar
    - require_in: [sub-two, app-last]
sub-two:
  test.nop: []
  cmd.run:
    - names: [x, y, z]
    - require: [{test: sub-two}]
