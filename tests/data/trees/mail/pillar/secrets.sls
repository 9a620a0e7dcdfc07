#!yaml
sasl: {password: "pa55: w#rd"}
