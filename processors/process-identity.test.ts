import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { FatalError } from '../infra/errors.js';
import { processIdentity } from './process-identity.js';

const portVariable = 'ADMIN_PORT_PROCESSORS';
const identity = (adminPort: number, memberName?: string) => processIdentity({ adminPort, memberName, portVariable });

describe('processIdentity', () => {
  it('has the directory of the port, also with a member name', () => {
    expect(identity(9102)).toEqual({ member: `${hostname()}:9102`, stateDirectory: '9102' });
    expect(identity(9102, 'one')).toEqual({ member: 'one', stateDirectory: '9102' });
  });

  it('has a directory of the member name with port 0, inside the parent and of no other process', () => {
    expect(identity(0, 'one')).toEqual({ member: 'one', stateDirectory: 'member-one' });
    expect(identity(0, '..').stateDirectory).toBe('member-..');
    expect(identity(0, '9102').stateDirectory).not.toBe(identity(9102).stateDirectory);
  });

  it('rejects port 0 without a member name, and names the setting', () => {
    expect(() => identity(0)).toThrow(FatalError);
    expect(() => identity(0)).toThrow(/^Bad configuration:\n {2}ADMIN_PORT_PROCESSORS: .*set a port, or MEMBER_NAME$/);
  });
});
