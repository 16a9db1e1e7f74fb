#!/bin/sh
# wget -q -O /dev/null <url>
exec node -e 'fetch(process.argv[1]).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))' "$4"
