guard:
  iptables.chain_present:
  - table: filter
  - family: ipv4

{% for net in pillar.firewall.trusted %}
trust {{ net }}:
  iptables.append:
  - table: filter
  - chain: guard
  - jump: ACCEPT
  - source: {{ net }}
  - require:
    - iptables: guard
{% endfor %}

{% for port in pillar.firewall.tcp %}
port {{ port }}:
  iptables.append:
  - table: filter
  - chain: INPUT
  - jump: ACCEPT
  - proto: tcp
  - dport: {{ port }}
  - match: state
  - connstate: NEW
{% endfor %}

lo:
  iptables.insert:
  - position: 1
  - table: filter
  - chain: INPUT
  - in-interface: lo
  - jump: ACCEPT

forward:
  iptables.set_policy:
  - table: filter
  - chain: FORWARD
  - policy: DROP

rp:
  sysctl.present:
  - name: net.ipv4.conf.all.rp_filter
  - value: 1

gateway:
  host.present:
  - ip: 10.0.0.254
