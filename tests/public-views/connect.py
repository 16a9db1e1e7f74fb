"""Runs the statements on stdin (JSON) with clickhouse-connect and prints their rows (JSON) as ClickHouse writes values in text."""
import datetime
import decimal
import json
import sys

import clickhouse_connect


def text(value):
    if value is None:
        return None
    if isinstance(value, bool):
        return 'true' if value else 'false'
    if isinstance(value, decimal.Decimal):
        plain = format(value, 'f')
        return plain.rstrip('0').rstrip('.') if '.' in plain else plain
    if isinstance(value, datetime.datetime):
        return value.strftime('%Y-%m-%d %H:%M:%S') + ('.%03d' % (value.microsecond // 1000))
    return str(value)


job = json.load(sys.stdin)
client = clickhouse_connect.get_client(host=job['host'], port=job['port'], database='market')
results = []
for statement in job['statements']:
    result = client.query(statement)
    results.append({'columns': list(result.column_names), 'rows': [[text(value) for value in row] for row in result.result_rows]})
json.dump(results, sys.stdout)
