import {
  commitmentOf,
  type Driver,
  genesisHash,
  isFinal,
  linkHash,
  type OrderState,
  readFact,
  type RecordedEvent,
  type SqlValue,
} from "../../ledger/mod.ts";
import { Broken, digestOf } from "./journal.ts";
import { type ExpectedRow, Shadow } from "./shadow.ts";
import { readSnapshot, type Row, type Snapshot } from "./snapshot.ts";
import type { World } from "./world.ts";

/** A confirmed end, and the events known by then. */
interface Ended {
  readonly status: string;
  readonly position: number;
}

const decoder = new TextDecoder();

/**
 * Looks at the ledger from outside, after every step, and holds it against
 * what the world saw, what the service did, and what the pure fold says.
 */
export class Inspector {
  readonly #world: World;
  readonly #store: Driver;
  readonly #shadow: Shadow;
  readonly #events: RecordedEvent[] = [];
  /** Ids of webhooks by digest of the body. */
  readonly #webhooks = new Map<string, Set<string>>();
  readonly #ended = new Map<string, Ended>();
  readonly #keys = new Set<string>();
  readonly #confirmedBy = { order: new Set<string>(), user: new Set<string>() };
  #folded = 0;
  #position = 0;
  #chained = 0;
  #hash: Uint8Array | null = null;
  #seq = 0;

  constructor(world: World) {
    this.#world = world;
    this.#store = world.store;
    // A rule broken in the fold is to be caught by what it leads to.
    this.#shadow = new Shadow(
      world.dice.fork("shadow"),
      world.ports.fold?.readFact ?? readFact,
    );
  }

  /** Events recorded so far. */
  get events(): number {
    return this.#events.length;
  }

  /** Hash of the evidence chain as far as it was looked at. */
  hash(): string {
    return this.#hash?.toHex() ?? "";
  }

  /**
   * Looks once.
   *
   * @throws {Broken} When a rule is broken.
   */
  async look(): Promise<void> {
    const snapshot = await readSnapshot(this.#store, {
      events: this.#events.at(-1)?.position ?? 0,
      links: this.#events[this.#chained - 1]?.position ?? 0,
      transitions: this.#seq,
    });
    this.#noSurprise();
    if (snapshot === null) return;
    this.#seq = snapshot.transitions.at(-1)?.seq ?? this.#seq;
    this.#ingest(snapshot);
    this.#keptPromises();
    this.#answeredWell();
    this.#folds(snapshot);
    this.#onlyConfirmedByReading(snapshot);
    this.#endsStay(snapshot);
    this.#chains(snapshot);
    this.#keysOnce(snapshot);
    this.#toldWell();
  }

  /** Errors that no fault explains. */
  #noSurprise(): void {
    const [error] = this.#world.journal.unexpected;
    if (error === undefined) return;
    throw new Broken(
      "nothing fails without a cause",
      error instanceof Error ? error.stack ?? error.message : String(error),
    );
  }

  #ingest({ events, count }: Snapshot): void {
    for (const event of events) {
      this.#events.push(event);
      if (event.kind === "webhook") this.#webhook(event);
      else if (event.kind === "order_snapshot") this.#snapshot(event);
      else if (event.kind === "order_absent") this.#absence(event);
      else if (event.kind === "user_snapshot") {
        this.#confirmedBy.user.add(event.userId ?? "");
      }
    }
    check(
      "events stay",
      count === this.#events.length,
      () => `${this.#events.length} were seen, and ${count} are there`,
    );
  }

  #webhook(event: RecordedEvent): void {
    const { body, digest, eventId } = event;
    const true_ = digestOf(body ?? new Uint8Array());
    check(
      "bodies are kept as received",
      digest === true_,
      () => `the body at ${event.position} has another digest`,
    );
    const ids = this.#webhooks.get(true_) ?? new Set();
    this.#webhooks.set(true_, ids.add(eventId));
    const reached = this.#world.journal.reached.get(true_) ?? 0;
    check(
      "a delivery is stored once",
      ids.size <= reached,
      () =>
        `the body at ${event.position} is stored ${ids.size} times and was ` +
        `delivered ${reached} times: ${text(body)}`,
    );
  }

  /** The service has shown that status at some time. */
  #snapshot({ body, orderId, position }: RecordedEvent): void {
    this.#confirmedBy.order.add(orderId ?? "");
    const { status } = JSON.parse(text(body)) as { status: string };
    check(
      "readings are what the service said",
      this.#statuses(orderId).has(status.toLowerCase()),
      () => `order ${orderId} never was ${status} (position ${position})`,
    );
  }

  #absence({ orderId, position }: RecordedEvent): void {
    check(
      "absent is what the service does not have",
      this.#world.sandbox.order(orderId ?? "") === null,
      () => `order ${orderId} is there, and absent at ${position}`,
    );
  }

  #statuses(orderId: string | null): Set<string> {
    const order = this.#world.sandbox.order(orderId ?? "");
    return new Set(
      order === null ? [] : [
        "created",
        order.status.toLowerCase(),
        ...order.history.map(({ status }) => status.toLowerCase()),
      ],
    );
  }

  #keptPromises(): void {
    const { journal, disk } = this.#world;
    const spooled = new Map<string, Set<string>>();
    for (const { id, body } of disk) {
      const digest = digestOf(body);
      spooled.set(digest, (spooled.get(digest) ?? new Set()).add(id));
    }
    for (const [digest, promised] of journal.promised) {
      const kept = new Set(this.#webhooks.get(digest));
      for (const id of spooled.get(digest) ?? []) kept.add(id);
      check(
        "each 2xx is stored",
        kept.size >= promised,
        () =>
          `a body was answered 2xx ${promised} times and is stored ` +
          `${kept.size} times`,
      );
    }
  }

  /** Whatever a body says, a 5xx comes from a store that fails. */
  #answeredWell(): void {
    const { journal } = this.#world;
    for (const bad of journal.badAnswers) {
      const { status, askedMs, answeredMs, lastFaultMs } = bad;
      check(
        "no answer but 2xx without a fault of the store",
        status === 503 && lastFaultMs >= askedMs - 10_000 &&
          answeredMs - askedMs <= 5000,
        () =>
          `${status} after ${answeredMs - askedMs} ms; the last fault was ` +
          `${askedMs - lastFaultMs} ms before`,
      );
    }
    journal.badAnswers = [];
  }

  #folds({ position, orders, users }: Snapshot): void {
    check(
      "checkpoints only move on",
      position >= this.#position,
      () => `from ${this.#position} to ${position}`,
    );
    const next = this.#events.findIndex((event) => event.position > position);
    const end = next === -1 ? this.#events.length : next;
    this.#shadow.advance(this.#events.slice(this.#folded, end));
    this.#folded = Math.max(this.#folded, end);
    this.#position = position;
    sameRows("order", orders, this.#shadow.orders);
    sameRows("user", users, this.#shadow.users);
  }

  #onlyConfirmedByReading({ orders, users, transitions }: Snapshot): void {
    for (const { id, trust, status } of orders) {
      if (trust !== "confirmed") continue;
      this.#confirmed(id, status, "its state");
    }
    for (const { entity, id, trust, status } of transitions) {
      if (entity !== "order" || trust !== "confirmed") continue;
      this.#confirmed(id, status, "a transition");
    }
    for (const { id, trust } of users) {
      check(
        "nothing is confirmed without the Data API",
        trust !== "confirmed" || this.#confirmedBy.user.has(id),
        () => `user ${id} was never read`,
      );
    }
  }

  #confirmed(id: string, status: string, where: string): void {
    check(
      "nothing is confirmed without the Data API",
      this.#confirmedBy.order.has(id) &&
        this.#statuses(id).has(status.toLowerCase()),
      () => `order ${id} is confirmed ${status} by ${where}`,
    );
  }

  #endsStay({ orders, position }: Snapshot): void {
    for (const { id, trust, status, state } of orders) {
      const before = this.#ended.get(id);
      if (before !== undefined && before.status !== status) {
        const later = this.#events.some((event) =>
          event.kind === "order_snapshot" && event.orderId === id &&
          event.position > before.position && event.position <= position
        );
        check(
          "a confirmed end changes by a later reading only",
          later,
          () => `order ${id} went from ${before.status} to ${trust} ${status}`,
        );
      }
      const { status: stated } = JSON.parse(state) as OrderState;
      if (trust === "confirmed" && isFinal(stated)) {
        if (before?.status !== status) {
          this.#ended.set(id, { status, position });
        }
      } else {
        this.#ended.delete(id);
      }
    }
  }

  #chains({ links, head, ledgerId }: Snapshot): void {
    this.#hash ??= genesisHash({ environment: "sandbox", ledgerId });
    for (const [position, commitment, hash] of links) {
      const event = this.#events[this.#chained];
      check(
        "the chain covers every event",
        event?.position === position,
        () =>
          `it goes on at ${position}, the next event is at ${event?.position}`,
      );
      if (event?.body === null || event === undefined) continue;
      const expected = commitmentOf({
        body: event.body,
        digest: event.digest ?? "",
        salt: event.salt ?? new Uint8Array(),
      });
      this.#hash = linkHash(this.#hash, event, expected);
      check(
        "the chain is valid",
        hex(expected) === hex(commitment) && hex(this.#hash) === hex(hash),
        () => `the link at ${position} is wrong`,
      );
      this.#chained++;
    }
    if (head === undefined) return;
    check(
      "the chain is valid",
      head[1] === this.#chained && head[2] === hex(this.#hash),
      () => `its head says ${head[1]} events, ${this.#chained} are linked`,
    );
  }

  #keysOnce({ transitions }: Snapshot): void {
    for (const { entity, id, trust, status, seq } of transitions) {
      const key = `${entity}:${id}:${trust}.${status}`;
      check(
        "a transition is logged once",
        !this.#keys.has(key),
        () => `${key} comes again at ${seq}`,
      );
      this.#keys.add(key);
    }
  }

  /** Told again only where a fault may have lost the word that it was told. */
  #toldWell(): void {
    const { told, faults } = this.#world.journal;
    let excuses = 0;
    for (const [fault, count] of faults) {
      if (/^store (?!slow)|crash/.test(fault)) excuses += count;
    }
    let repeats = 0;
    for (const [key, count] of told) {
      repeats += count - 1;
      check("only what was logged is told", this.#keys.has(key), () => key);
    }
    check(
      "nobody is told twice without a fault",
      repeats <= excuses,
      () => `${repeats} were told again, after ${excuses} faults`,
    );
  }
}

function sameRows(
  entity: string,
  rows: readonly Row[],
  expected: ReadonlyMap<string, ExpectedRow>,
): void {
  const rule = "states are the fold of the events";
  check(
    rule,
    rows.length === expected.size,
    () =>
      `there are ${rows.length} ${entity}s, the events name ${expected.size}`,
  );
  for (const row of rows) {
    const should = expected.get(row.id);
    for (const part of ["state", "activity", "fold"] as const) {
      check(
        rule,
        row[part] === should?.[part],
        () =>
          `the ${part} of ${entity} ${row.id} is\n  ${row[part]}\nand should ` +
          `be\n  ${should?.[part]}`,
      );
    }
  }
}

function check(rule: string, holds: boolean, detail: () => string): void {
  if (!holds) throw new Broken(rule, detail());
}

function hex(value: SqlValue | undefined): string {
  return value instanceof Uint8Array ? value.toHex() : String(value);
}

function text(body: Uint8Array | null): string {
  return decoder.decode(body ?? new Uint8Array());
}
