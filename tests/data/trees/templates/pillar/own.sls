nodes:
  node1: {tags: [first]}
number: 0644
truth: yes
