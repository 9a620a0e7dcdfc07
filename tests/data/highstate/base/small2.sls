small2: test.nop
