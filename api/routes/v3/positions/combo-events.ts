import { z } from 'zod';
import { timeRangeOf } from '../../../fills/filter.js';
import { timeRangeAliases } from '../../../http/aliases.js';
import type { Aliases } from '../../../http/query-parameters.js';
import { defineRoute, type RequestContext, type Route } from '../../../http/route.js';
import { cursorsOf, cursorText } from '../../../pagination/cursor.js';
import { cursorPage } from '../../../pagination/list-page.js';
import {
  type PnlEventFilter,
  type PnlEventRow,
  pnlEventCursor,
  pnlEventCursorOf,
} from '../../../positions/pnl-events.sql.js';
import type { Readers } from '../../../readers.js';
import type { TableGroup } from '../../../readiness/table-groups.js';
import { pageFields, pagingOf } from '../envelope.js';
import { paging, times, v3, v3Route } from '../params.js';
import { examplePaging } from '../trades/examples.js';
import { comboAliases, comboParams, comboTokensOf } from '../trades/query.js';
import { actions, eventKinds, exampleComboEvent } from './combos.serialize.js';

/** Query parameters of all lists of combo events. */
const listQuery = {
  ...comboParams,
  ...times,
  ...paging,
  cursor: cursorText('`next_cursor` of the previous page; exact even while events arrive.'),
};
const listAliases = { ...comboAliases, ...timeRangeAliases('after', 'before') };
const eventKindParam = v3.choice('event_kind', eventKinds, 'Default all.', ', ').optional();
const redemptionsQuery = {
  ...listQuery,
  redemption_scope: v3
    .choice(
      'redemption_scope',
      ['full', 'partial', 'transformation', 'all'],
      'full: the position was empty afterwards; partial: shares were left. transformation: always empty. Default all.',
    )
    .default('all'),
  tx_hash: v3.hashOf('tx_hash', 'Only redemptions of this transaction.'),
};

/** Selects the events of a list. */
type EventSelection = Pick<PnlEventFilter, 'actions' | 'emptied' | 'txHash'>;

/** Selects the events of a query's kind. */
const kindOf = ({ event_kind: kind }: { readonly event_kind?: keyof typeof actions }): EventSelection => ({
  actions: kind === undefined ? null : [actions[kind]],
});
/** Selects the redemptions of a query; null: none can match. */
function redemptionsOf(query: z.output<z.ZodObject<typeof redemptionsQuery>>): EventSelection | null {
  const { redemption_scope: scope, tx_hash: txHash = null } = query;
  if (scope === 'transformation') return null;
  return { actions: ['REDEEM'], emptied: scope === 'all' ? null : scope === 'full', txHash };
}

/** The lists of combo events below a path: of a wallet that the path names, or of all wallets. */
interface EventLists<Event extends z.ZodType, Redemption extends z.ZodType> {
  readonly path: string;
  readonly source: string;
  readonly tag: string;
  readonly reads: readonly TableGroup[];
  /** Parameters that select the wallet; `address` in the path, or `wallet` in the query. */
  readonly params?: z.ZodObject;
  readonly filter: z.ZodRawShape;
  readonly aliases: Aliases;
  /** Example of the fields before the list. */
  readonly head: Readonly<Record<string, string>>;
  readonly activity: { readonly summary: string; readonly description: string };
  readonly redemptions: { readonly summary: string };
  readonly event: Event;
  readonly eventFrom: (row: PnlEventRow) => z.input<Event>;
  readonly redemption: Redemption;
  readonly redemptionFrom: (row: PnlEventRow, payout: bigint) => z.input<Redemption>;
}

/** Defines the list of position changes in combos and that of redemptions, both newest first. */
export function comboEventRoutes<Event extends z.ZodType, Redemption extends z.ZodType>(
  { combos }: Readers,
  of: EventLists<Event, Redemption>,
): readonly Route[] {
  const common = { ...v3Route, tag: of.tag, ...(of.params === undefined ? {} : { params: of.params }) } as const;
  const head = z.object(Object.fromEntries(Object.keys(of.head).map((name) => [name, z.string()])));
  const success = (description: string, list: 'activity' | 'redemptions', row: z.ZodType, example: unknown) => {
    const source = `${of.source}.${list}`;
    const next_cursor = cursorsOf(pnlEventCursor, { endpoint: `${of.path}/${list}` }).write(
      pnlEventCursorOf(exampleComboEvent),
    );
    return {
      description,
      schema: head.extend({
        [list]: z.array(row),
        position_type: z.literal('combo'),
        source: z.literal(source),
        ...pageFields,
      }),
      example: { ...of.head, [list]: [example], position_type: 'combo', source, ...examplePaging, next_cursor },
    };
  };
  /** A page of the events that a query selects; `choice` null: none can match. */
  const read = async (
    list: 'activity' | 'redemptions',
    { address }: { readonly address?: string },
    query: z.output<z.ZodObject<typeof listQuery>> & { readonly wallet?: string | undefined },
    choice: EventSelection | null,
    context: RequestContext,
    serialize: (rows: readonly PnlEventRow[]) => Promise<readonly unknown[]> | readonly unknown[],
  ) => {
    const filter = {
      ...(choice ?? { actions: [] }),
      wallet: address ?? query.wallet ?? null,
      tokenIds: choice === null ? [] : comboTokensOf(query),
      ...timeRangeOf(query.after, query.before),
    };
    const page = await cursorPage(pnlEventCursor, context, query, (beyond) =>
      combos.events({ ...filter, beyond }, query),
    );
    const body = {
      ...(address === undefined ? {} : { address }),
      [list]: await serialize(page.rows),
      position_type: 'combo',
      source: `${of.source}.${list}`,
      ...pagingOf(query, page, context),
    };
    return { body: body as never };
  };

  const activity = defineRoute({
    ...common,
    ...of.activity,
    path: `${of.path}/activity`,
    reads: of.reads,
    query: z.object({ ...listQuery, ...of.filter, event_kind: eventKindParam }),
    aliases: { ...listAliases, ...of.aliases },
    success: success('A page of position changes', 'activity', of.event, of.eventFrom(exampleComboEvent)),
    handler: ({ params, query }, context) =>
      read('activity', params ?? {}, query, kindOf(query), context, (rows) => rows.map(of.eventFrom)),
  });

  const example = of.redemptionFrom(exampleComboEvent, BigInt(exampleComboEvent.cash));
  const redemptions = defineRoute({
    ...common,
    ...of.redemptions,
    path: `${of.path}/redemptions`,
    reads: [...of.reads, 'wallet_activity'],
    query: z.object({ ...redemptionsQuery, ...of.filter }),
    aliases: { ...listAliases, ...of.aliases, redemption_type: 'redemption_scope' },
    success: success('A page of redemptions', 'redemptions', of.redemption, example),
    handler: ({ params, query }, context) =>
      read('redemptions', params ?? {}, query, redemptionsOf(query), context, async (rows) => {
        const payouts = await combos.payouts(rows);
        return rows.map((row, i) => of.redemptionFrom(row, payouts[i] ?? 0n));
      }),
  });

  return [activity, redemptions];
}
