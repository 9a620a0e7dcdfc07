base:
  '*': [base]
