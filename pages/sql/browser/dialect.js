// ClickHouse's SQL for the editor: words that are highlighted and completed.

import { SQLDialect } from '@codemirror/lang-sql';

const KEYWORDS =
  'all and anti any array as asc asof between by case cast columns create cross cube describe desc distinct else end estimate except exists explain extract fill filter final first following format from full global group grouping having ilike in inner intersect interpolate interval into is join last left like limit natural not null nulls offset on or order outer over partition pipeline plan preceding prewhere range right rollup row rows select semi settings sets show syntax table tables then ties to top totals unbounded union using values view when where window with';
const TYPES =
  'array bool date date32 datetime datetime64 decimal decimal128 decimal256 decimal32 decimal64 enum8 enum16 fixedstring float32 float64 int128 int16 int256 int32 int64 int8 lowcardinality map nullable string tuple uint128 uint16 uint256 uint32 uint64 uint8 uuid';

/** Functions that are completed; the engine has more. */
export const FUNCTIONS =
  'abs addDays any anyLast argMax argMin arrayJoin arrayMap arraySort avg avgIf bar ceil coalesce concat corr count countIf countDistinct cutToFirstSignificantSubdomain dateDiff dateTrunc empty exp first_value floor formatReadableQuantity formatReadableSize greatest groupArray groupUniqArray has if ifNull isNull isNotNull lag lagInFrame last_value lead leadInFrame least length like log log10 lower match max maxIf median min minIf multiIf notEmpty now now64 nullIf parseDateTimeBestEffort position quantile quantileExact quantiles quantilesExact rank replaceAll round row_number sign sqrt stddevPop substring sum sumIf sumMap toDate toDateTime toDateTime64 toDayOfWeek toDecimal128 toFloat64 toHour toInt64 toIntervalHour toMinute toMonday toMonth toStartOfDay toStartOfFiveMinutes toStartOfHour toStartOfInterval toStartOfMinute toStartOfMonth toStartOfWeek toString toUInt64 toUnixTimestamp toYYYYMM topK trim tuple uniq uniqExact uniqIf upper varPop'.split(
    ' ',
  );

export const clickHouse = SQLDialect.define({
  keywords: KEYWORDS,
  types: TYPES,
  backslashEscapes: true,
  caseInsensitiveIdentifiers: true,
  identifierQuotes: '`"',
  operatorChars: '*+-%<>!=&|~^/?:',
});
