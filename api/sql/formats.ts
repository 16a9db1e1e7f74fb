/** Formats of results: the engine's name and the content type. JSON has the types of the columns in `meta`. */
export const sqlFormats = {
  json: { engineName: 'JSONCompact', contentType: 'application/json' },
  csv: { engineName: 'CSVWithNames', contentType: 'text/csv' },
  parquet: { engineName: 'Parquet', contentType: 'application/vnd.apache.parquet' },
} as const;
export type SqlFormat = keyof typeof sqlFormats;
