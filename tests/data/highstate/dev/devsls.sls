dev-{{ saltenv }}-{{ slspath }}:
  test.nop:
    - text: {{ sls }} {{ tplfile }} {{ tpldir }} {{ tpldot }}
