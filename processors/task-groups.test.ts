import { expect, it } from 'vitest';
import { taskGroupsOf } from './task-groups.js';

it('a process runs the groups that its arguments name, all without arguments', () => {
  expect(taskGroupsOf([])).toEqual(['stream', 'tables']);
  expect(taskGroupsOf(['tables'])).toEqual(['tables']);
  expect(taskGroupsOf(['tables', 'stream', 'tables'])).toEqual(['stream', 'tables']);
});

it('an unknown group is an error that names the known ones', () => {
  expect(() => taskGroupsOf(['stream', 'sinks'])).toThrow(
    'Unknown task group sinks: use stream or tables, or none to run all',
  );
});
