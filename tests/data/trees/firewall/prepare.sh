set -e
mkdir -p /srv/pages
printf 'hello from the page\n' >/srv/pages/index.html
printf '#!/bin/sh\necho fetched\n' >/srv/pages/tool.sh
"$PYTHON" -m http.server --directory /srv/pages --bind 127.0.0.1 8000 >/dev/null 2>&1 &
for i in 1 2 3 4 5 6 7 8 9 10; do
    "$PYTHON" -c 'import socket; socket.create_connection(("127.0.0.1", 8000))' 2>/dev/null && exit 0
    sleep 0.2
done
exit 1
