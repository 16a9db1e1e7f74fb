import { z } from 'zod';
import { environment } from './environment.js';
import { type SettingDoc, settingGroups } from './setting-doc.js';

/** The members of a JSON Schema that the document prints. */
interface SettingSchema extends Partial<SettingDoc> {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly default?: string | number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly format?: string;
}

const INTRODUCTION = `# Configuration

<!-- Generated from infra/config/environment.ts by \`npm run docs:config\`; CI compares. -->

Every setting is an environment variable, and every one is optional. An empty variable counts as unset. An invalid value stops the process with exit
code 78 and the variable's name; each process logs its configuration at start, with secrets redacted. \`<data>\` is \`ODDSTREAM_DATA\`.
`;

/** docs/CONFIGURATION.md: every environment variable by group, with type, bounds and default. */
export function configurationDocument(): string {
  const { properties } = z.toJSONSchema(environment, { io: 'input' }) as { properties: Record<string, SettingSchema> };
  const settings = Object.entries(properties);
  const sections = settingGroups.map((group) => {
    const rows = settings
      .filter(([, setting]) => setting.group === group)
      .map(
        ([name, setting]) => `| \`${name}\` | ${valuesOf(setting)} | ${defaultOf(setting)} | ${setting.description} |`,
      );
    return `## ${group}\n\n| Variable | Values | Default | Meaning |\n|---|---|---|---|\n${rows.join('\n')}\n`;
  });
  return [INTRODUCTION, ...sections].join('\n');
}

function valuesOf({ type, enum: values, minimum, maximum, minLength, format }: SettingSchema): string {
  if (values !== undefined) return values.map((value) => `\`${value}\``).join(', ');
  if (type === 'integer' || type === 'number') {
    const bounded = maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER;
    return bounded ? `${minimum} to ${maximum}` : `integer from ${minimum ?? 0}`;
  }
  if (format === 'uri') return 'URL';
  return minLength === undefined ? 'text' : `text, ${minLength} characters or more`;
}

function defaultOf({ default: value, unset }: SettingSchema): string {
  if (value === undefined) return unset ?? 'none';
  return value === '' ? 'none' : `\`${value}\``;
}
