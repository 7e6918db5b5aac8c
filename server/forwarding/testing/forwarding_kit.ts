import { readConfig } from "../../../core/settings/config.ts";
/** A ledger, a receiver and a forwarder, for tests. */
import assert from "node:assert/strict";
import { Webhook } from "standardwebhooks";
import type { NewEvent } from "../../../ledger/mod.ts";
import { project } from "../../../ledger/testing/mod.ts";
import { appendStatement, type Driver } from "../../../ledger/for_sync.ts";
import { orderRead } from "../../../ledger/testing/projection_test_kit.ts";
import {
  Forwarder,
  type ForwarderParts,
  forwardMeters,
  ForwardReport,
} from "../forwarder.ts";
import { readForwarding } from "../read_targets.ts";
import {
  type ForwardedTransition,
  webhookSigner,
} from "../transition_message.ts";

/** What webhooks are signed with. */
export const SECRET = `whsec_${btoa("a secret of enough bytes, for tests")}`;

/** Statuses that an order goes through. */
export const STATUSES = ["created", "progress", "pending", "success"];

/** Orders that go through all statuses, one step each in turn. */
export function lives(...orders: readonly string[]): NewEvent[] {
  return STATUSES.flatMap((status, step) =>
    orders.map((orderId) => orderRead(step, { orderId, status, changed: step }))
  );
}

/** Stores events and folds them. */
export async function record(
  driver: Driver,
  ...events: readonly NewEvent[]
): Promise<void> {
  await driver.batch([appendStatement(events)], "write");
  while ((await project(driver, { assets: "sandbox" })).events > 0);
}

/** A webhook as a receiver reads it. */
export interface Received {
  readonly type: string;
  readonly timestamp: string;
  readonly data: ForwardedTransition;
}

/** What a receiver answers; null for a connection that breaks. */
export type Answer = number | Response | null;

/** A receiver that verifies each webhook and keeps those that it took. */
export class Receiver {
  /** Webhooks that were answered 204, in order. */
  readonly taken: Received[] = [];
  /** Webhooks that came, taken or not. */
  came = 0;
  /** Decides what is answered. */
  answer: (received: Received) => Answer | Promise<Answer> = () => 204;

  /** What forwarders send requests by. */
  readonly fetch = async (
    _url: string,
    init: RequestInit,
  ): Promise<Response> => {
    const body = String(init.body);
    const headers = Object.fromEntries(new Headers(init.headers));
    const received = new Webhook(SECRET).verify(body, headers) as Received;
    assert.equal(headers["webhook-id"], received.data.key);
    this.came++;
    const answer = await this.answer(received);
    if (answer === null) throw new TypeError("connection closed");
    init.signal?.throwIfAborted();
    const response = typeof answer === "number"
      ? new Response(null, { status: answer })
      : answer;
    if (response.ok) this.taken.push(received);
    return response;
  };

  /** Statuses that were taken of an order, repeats left out. */
  firsts(order: string): string[] {
    const all = this.taken.filter(({ data }) => data.id === order);
    return [...new Set(all.map(({ data }) => data.status))];
  }
}

/** What a forwarder told the log and the meters. */
export interface Told {
  readonly log: { readonly event: string; readonly fields: object }[];
  readonly metrics: Map<string, number>;
}

/** A forwarder of one target from the beginning of the log, its report, and what that tells. */
export function forwarderOn(
  driver: Driver,
  receiver: Receiver,
  changes: Partial<ForwarderParts> & { readonly to?: string } = {},
): {
  readonly forwarder: Forwarder;
  readonly report: ForwardReport;
  readonly told: Told;
} {
  const { to = "https://shop.example/hooks order.confirmed.*", ...parts } =
    changes;
  const forwarding = readForwarding(
    readConfig(() => undefined, { forwardTo: [to], forwardSecrets: SECRET }),
  );
  const [target] = forwarding?.targets ?? [];
  assert.ok(target !== undefined && forwarding !== undefined);
  const told: Told = { log: [], metrics: new Map() };
  const note = (name: string) => ({
    record: (value: number) => void told.metrics.set(name, value),
    add: (value: number) =>
      void told.metrics.set(name, (told.metrics.get(name) ?? 0) + value),
  });
  const report = new ForwardReport({
    target: "https://shop.example/hooks",
    name: target.name,
    now: Date.now,
    log: (_, event, fields = {}) => void told.log.push({ event, fields }),
    meters: forwardMeters({
      createCounter: note,
      createHistogram: note,
      createGauge: note,
      createObservableGauge: () => ({ addCallback: () => {} }),
    }),
  });
  const forwarder = new Forwarder({
    ledger: {
      driver,
      assets: "sandbox",
      onProjected: () => ({ [Symbol.dispose]: () => {} }),
    },
    target,
    sign: webhookSigner(forwarding.secrets),
    report,
    now: Date.now,
    retryDelayMs: () => 0,
    from: "start",
    post: {
      fetch: receiver.fetch,
      resolve: () => Promise.resolve(["203.0.113.1"]),
    },
    ...parts,
  });
  return { forwarder, report, told };
}

/** Runs a forwarder until a condition holds, and stops it. */
export async function runUntil(
  forwarder: Forwarder,
  until: () => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  const running = forwarder.run(stop.signal);
  try {
    await until();
  } finally {
    stop.abort();
    await running;
  }
}
