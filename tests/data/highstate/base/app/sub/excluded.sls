excl:
  test.nop: []
