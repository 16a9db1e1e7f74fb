import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCodec } from '../../schemas/codec.js';
import type { AccountCommand, AccountState, LedgerEntry } from '../../schemas/types.gen.js';
import { applyCommand } from './apply-command.js';
import { type AccountsState, applyChange, createAccountsState } from './state.js';
import { ALLOWANCE, NEXT, START, type Step, tokenModel } from './testing/token-model.js';

const codec = createCodec();
const DAY_MS = 86_400_000;
/** All quantities are multiples of it: a package has ten. */
const UNIT = 1_000_000;
const meter = 'api_requests' as const;
const account_id = 'a';

function commandOf(step: Step, nowMs: number): AccountCommand['command'] | null {
  const cents = 'count' in step ? step.count * 2_000 : 0;
  const checkout_id = 'checkout' in step ? `checkout ${step.checkout}` : '';
  switch (step.do) {
    case 'start':
      return {
        'oddstream.StartCheckout': {
          account_id,
          checkout_id,
          meter,
          count: step.count,
          amount_cents: cents,
          provider: 'test',
          provider_ref: '',
        },
      };
    case 'complete':
    case 'wrong amount':
      return {
        'oddstream.CompleteCheckout': {
          account_id,
          checkout_id,
          payment_ref: checkout_id,
          amount_cents: step.do === 'complete' ? cents : cents + 1,
          paid_at_ms: nowMs,
        },
      };
    case 'expire':
      return { 'oddstream.ExpireCheckout': { account_id, checkout_id } };
    case 'courtesy':
      return {
        'oddstream.GrantCourtesy': {
          account_id,
          grant_id: `courtesy ${step.grant}`,
          meter,
          quantity: step.units * UNIT,
          expires_at_ms: nowMs + step.days * DAY_MS,
          note: '',
        },
      };
    case 'settle':
      return {
        'oddstream.SettleUsage': {
          account_id,
          meter,
          period_start_ms: step.late || nowMs < NEXT ? START : NEXT,
          used: step.units * UNIT,
        },
      };
    default:
      return null;
  }
}

const CHECKOUTS = 4;
/** The number of packages is a property of the checkout, so that a completion has the right amount. */
const countOf = (checkout: number) => checkout + 1;
const checkout = fc.integer({ min: 0, max: CHECKOUTS - 1 });
const tenths = fc.integer({ min: 0, max: 10 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'start' as const,
        'start' as const,
        'complete' as const,
        'complete' as const,
        'wrong amount' as const,
        'expire' as const,
      ),
      checkout,
      count: fc.constant(0),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('refund' as const), checkout, tenths, failed: tenths }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('dispute' as const),
      checkout,
      tenths,
      dispute: fc.integer({ min: 0, max: 1 }),
      reason: fc.constantFrom('dispute' as const, 'dispute_won' as const, 'dispute_lost' as const),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('courtesy' as const),
      grant: fc.integer({ min: 0, max: 5 }),
      units: fc.integer({ min: 1, max: 9 }),
      days: fc.integer({ min: 1, max: 40 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('settle' as const),
      units: fc.integer({ min: 0, max: 80 }),
      late: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait' as const), days: fc.integer({ min: 1, max: 12 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const) }) },
);

/** The processor's state as a restart finds it: the last record of each entity, in any order, through the codec. */
function restarted(records: ReadonlyMap<string, AccountState | null>): AccountsState {
  const state = createAccountsState();
  for (const [entity, value] of [...records].reverse()) {
    const event = value === null ? null : codec.decode(codec.encode('account_state', value));
    applyChange(state, { entity, value: event?.kind === 'account_state' ? event.value : null });
  }
  return state;
}

describe('the ledger of an account', () => {
  it('agrees with a model of single units over any order of events, repeats and restarts', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
        let state = createAccountsState();
        const model = tokenModel();
        const records = new Map<string, AccountState | null>();
        const ledger: LedgerEntry[] = [];
        let nowMs = START;
        let commands = 0;
        const send = (command: AccountCommand['command'], id = `c${++commands}`) => {
          const changes = applyCommand(state, { id, issued_at_ms: nowMs, command, author: 'system' });
          for (const { entity, value } of changes) {
            if (value !== null && 'oddstream.LedgerEntry' in value.state) {
              expect(records.has(entity)).toBe(false);
              ledger.push(value.state['oddstream.LedgerEntry']);
            }
            records.set(entity, value);
          }
          return changes;
        };
        send({ 'oddstream.CreateAccount': { account_id, plan: 'starter', label: '' } });
        for (const drawn of steps) {
          if (drawn.do === 'wait') nowMs += drawn.days * DAY_MS;
          // The second period is the last one.
          nowMs = Math.min(nowMs, NEXT + 30 * DAY_MS);
          if (drawn.do === 'restart') state = restarted(records);
          if (drawn.do === 'wait' || drawn.do === 'restart') continue;
          const one = 'count' in drawn ? { ...drawn, count: countOf(drawn.checkout) } : drawn;
          const command: AccountCommand['command'] | null =
            one.do === 'refund' || one.do === 'dispute'
              ? {
                  'oddstream.SetRefund': {
                    account_id,
                    checkout_id: `checkout ${one.checkout}`,
                    refunded_cents: countOf(one.checkout) * 200 * one.tenths,
                    failed_cents: one.do === 'refund' ? countOf(one.checkout) * 200 * one.failed : 0,
                    reason: one.do === 'refund' ? 'refund' : one.reason,
                    dispute_id: one.do === 'refund' ? null : `dispute ${one.dispute}`,
                    occurred_at_ms: nowMs,
                  },
                }
              : commandOf(one, nowMs);
          if (command === null) continue;
          send(command);
          model.apply(one, nowMs);
          // The same command once more, with its id and with a new one: the outcome alone.
          const before = ledger.length;
          expect(send(command, `c${commands}`)).toEqual([]);
          expect(send(command).map(({ entity }) => entity)).toEqual([`outcome:c${commands}`]);
          expect(ledger.length).toBe(before);

          const free = new Map<string, number>();
          for (const token of model.tokens)
            free.set(token.grant, (free.get(token.grant) ?? 0) + (token.at === 'free' ? 1 : 0));
          expect([...state.grants.values()].map((grant) => [grant.grant_id, grant.remaining / UNIT]).sort()).toEqual(
            [...free].sort(),
          );
          const settled = state.settlements.get(`settled:a:${meter}`);
          const periods = [settled, settled?.previous].flatMap((period) =>
            period == null
              ? []
              : [[period.period_start_ms, period.used / UNIT, period.charged / UNIT, period.uncovered / UNIT]],
          );
          expect(periods.sort()).toEqual(
            [...model.periods]
              .map(([startMs, { used, charged }]) => [startMs, used, charged, Math.max(0, used - ALLOWANCE - charged)])
              .sort(),
          );
        }
        let balance = 0;
        const ofGrant = new Map<string, number>();
        ledger.forEach((entry, at) => {
          balance += entry.quantity;
          expect([entry.seq, entry.balance]).toEqual([at + 1, balance]);
          expect(balance).toBeGreaterThanOrEqual(0);
          ofGrant.set(entry.grant_id, (ofGrant.get(entry.grant_id) ?? 0) + entry.quantity);
        });
        for (const grant of state.grants.values()) expect(ofGrant.get(grant.grant_id)).toBe(grant.remaining);
        const granted = ledger.filter(({ kind }) => kind === 'granted').reduce((sum, entry) => sum + entry.quantity, 0);
        expect(granted).toBe(model.totals.granted * UNIT);
        expect(state.accounts.get('account:a')?.ledger_entries ?? 0).toBe(ledger.length);
      }),
      { numRuns: 300 },
    );
  });
});
