#!/bin/sh
echo "$1|$2" >/srv/checked
