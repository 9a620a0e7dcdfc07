other:
  test.nop: [{require: [{id: sub-one}]}]
