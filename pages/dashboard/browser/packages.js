// Packages beyond the allowance: buy, what is left, receipts.

import { $, time } from '/app/assets/dom.js';
import { showList } from './list.js';
import { meterName, quantity } from './meters.js';
import { request } from './requests.js';

const packageColumns = [
  { title: 'Meter', cell: (row) => meterName(row.meter) },
  { title: 'Left', kind: 'num', cell: (row) => quantity(row.meter, row.remaining) },
  { title: 'Bought', kind: 'num', cell: (row) => quantity(row.meter, row.quantity) },
  { title: 'Since', cell: (row) => time(row.granted_at) },
  { title: 'Expires', cell: (row) => time(row.expires_at) },
];

export function createPackages({ billing }) {
  $('test-payments').hidden = billing !== 'test';
  return {
    async load() {
      const { packages } = await request('GET', '/v1/account/packages');
      showList('packages', {
        columns: packageColumns,
        rows: packages,
        empty: 'No packages.',
        labelledBy: 'packages-title',
      });
    },
  };
}
