import { flagParam, offsetParam, walletParam } from './chain-params.js';
import { choiceParam, integerParam } from './params.js';

/** Parameters of /v1 and /v2, whose errors are `Invalid <name>. Use ...`. */
export const named = {
  choice: <const T extends string>(name: string, values: readonly T[], description: string) =>
    choiceParam({ description, invalid: `Invalid ${name}. Use: ${values.join(', ')}`, values }),
  flag: (name: string, description: string) => flagParam({ description, invalid: `Invalid ${name}. Use: true, false` }),
  sortDirection: choiceParam({
    description: 'Default DESC.',
    invalid: 'Invalid sortDirection. Use: ASC, DESC',
    values: ['ASC', 'DESC'],
  }).default('DESC'),
  /** Values over `max` are clamped. */
  limit: (
    max: number,
    fallback: number,
    description = `Rows per page. Default ${fallback}; values over ${max} are clamped to ${max}.`,
  ) =>
    integerParam({
      description,
      invalid: 'Invalid limit. Use a whole number, 1 or more',
      min: 1,
      max,
      clamp: true,
    }).default(fallback),
  offset: (max: number) =>
    offsetParam({
      invalid: 'Invalid offset. Use a whole number, 0 or more',
      tooDeep: `Invalid offset. Max ${max}`,
      max,
    }).default(0),
  /** A wallet in the path. */
  wallet: walletParam({ invalid: 'Invalid wallet', echo: true }),
} as const;
