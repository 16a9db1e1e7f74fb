import { measureLatency } from './latency.js';

export const run = () => measureLatency('Kafka');
