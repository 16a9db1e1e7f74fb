import type { Log, TopicPartitionOffset } from '../../infra/log/port.js';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { Codec } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import { tryDecode } from '../../schemas/try-decode.js';
import type { EventKind } from '../../schemas/types.gen.js';
import type { DraftBuilder } from './draft-builder.js';
import type { Resolutions } from './resolutions.js';
import { createSequencer, type Sequencer } from './sequencer.js';
