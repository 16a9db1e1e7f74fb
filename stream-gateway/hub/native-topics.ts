import type { LiveEvent } from './live-event.js';

export type Encoding = 'text' | 'deflated';

/** Running totals of one topic of the socket library: one channel in one encoding. */
interface Topic {
  readonly name: string;
  receivers: number;
  frames: number;
  bytes: number;
}

/** Membership of one connection in a topic. `settledBytes`: the topic's running total when the member joined or was last settled. */
interface Membership {
  readonly topic: Topic;
  readonly priceFeed: boolean;
  settledBytes: number;
}

/** A connection that can join topics. */
export interface NativeMember {
  readonly encoding: Encoding;
  subscribe(topic: string): void;
  unsubscribe(topic: string): void;
  /** Adds bytes sent to the connection through a topic to its usage. */
  count(priceFeed: boolean, bytes: number): void;
}

export interface NativeTopics {
  publish(event: LiveEvent): void;
  join(member: NativeMember, channel: string): void;
  leave(member: NativeMember, channel: string): void;
  /** Adds the bytes sent to the member since it joined or was last settled to its usage. */
  settle(member: NativeMember): void;
  /** Settles and removes a connection that is closed or being closed. */
  drop(member: NativeMember): void;
  /** Returns frames and bytes sent since the last call, over all members. */
  takeTotals(): { frames: number; bytes: number };
}

/**
 * Unfiltered fan-out by the topics of the socket library: one call per event and encoding, independent of the number of receivers. The bytes of a
 * connection are differences of the topic's running total, so metering costs nothing per receiver.
 */
export function createNativeTopics(publish: (topic: string, message: Buffer, isBinary: boolean) => void): NativeTopics {
  const channels = new Map<string, Record<Encoding, Topic>>();
  const memberships = new Map<NativeMember, Map<string, Membership>>();
  let frames = 0;
  let bytes = 0;

  const topicsOf = (channel: string): Record<Encoding, Topic> => {
    let topics = channels.get(channel);
    if (topics === undefined) {
      const topic = (name: string): Topic => ({ name, receivers: 0, frames: 0, bytes: 0 });
      topics = { text: topic(channel), deflated: topic(`${channel}/deflated`) };
      channels.set(channel, topics);
    }
    return topics;
  };
  const send = (topic: Topic, message: Buffer, isBinary: boolean) => {
    publish(topic.name, message, isBinary);
    topic.frames++;
    topic.bytes += message.length;
    frames += topic.receivers;
    bytes += message.length * topic.receivers;
  };
  const settleOne = (member: NativeMember, membership: Membership) => {
    const { topic, priceFeed } = membership;
    if (topic.bytes === membership.settledBytes) return;
    member.count(priceFeed, topic.bytes - membership.settledBytes);
    membership.settledBytes = topic.bytes;
  };

  return {
    publish(event) {
      const topics = channels.get(event.channel);
      if (topics === undefined) return;
      if (topics.text.receivers > 0) send(topics.text, event.frame, false);
      if (topics.deflated.receivers > 0) send(topics.deflated, event.deflated, true);
    },
    join(member, channel) {
      const topic = topicsOf(channel)[member.encoding];
      let memberTopics = memberships.get(member);
      if (memberTopics === undefined) {
        memberTopics = new Map();
        memberships.set(member, memberTopics);
      }
      memberTopics.set(channel, { topic, priceFeed: channel.startsWith('price_feed'), settledBytes: topic.bytes });
      topic.receivers++;
      member.subscribe(topic.name);
    },
    leave(member, channel) {
      const memberTopics = memberships.get(member);
      const membership = memberTopics?.get(channel);
      if (memberTopics === undefined || membership === undefined) return;
      settleOne(member, membership);
      memberTopics.delete(channel);
      if (memberTopics.size === 0) memberships.delete(member);
      membership.topic.receivers--;
      member.unsubscribe(membership.topic.name);
    },
    settle(member) {
      for (const membership of memberships.get(member)?.values() ?? []) settleOne(member, membership);
    },
    drop(member) {
      const memberTopics = memberships.get(member);
      if (memberTopics === undefined) return;
      for (const membership of memberTopics.values()) {
        settleOne(member, membership);
        membership.topic.receivers--;
        member.unsubscribe(membership.topic.name);
      }
      memberships.delete(member);
    },
    takeTotals() {
      const taken = { frames, bytes };
      frames = 0;
      bytes = 0;
      return taken;
    },
  };
}
