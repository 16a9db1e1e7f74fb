/** Route fields that most /v1 endpoints share. */
export const v1Route = { method: 'get', apiGroup: 'v1', auth: 'key', feature: 'v1' } as const;
