{% set count = 4 %}
nodes:
{%- for n in range(1, count + 1) %}
  node{{ n }}: {ip: 10.2.0.{{ n }}, tags: [{{ 'even' if n is divisibleby 2 else 'odd' }}]}
{%- endfor %}
motd: |
  Welcome
   to   all.
unicode: "Grüße, 世界"
