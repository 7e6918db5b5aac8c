import { ulid } from "ulid";
import type { Delivery } from "../../../ledger/mod.ts";
import { Inbox } from "../../../webhooks/testing/mod.ts";
import type { Dice } from "../world/dice.ts";
import { Life } from "../world/life.ts";
import { VirtualDisk } from "../world/virtual_disk.ts";
import type { World } from "../world/world.ts";

const encoder = new TextEncoder();

/** Names of the faults, as they are counted. */
export const TRACE_NAMES: readonly string[] = [
  "forged order of a person",
  "forged claim on another's order",
  "only a click id of a person",
  "person in an unknown body",
  "person in a dead process's spool",
];

/** Whom webhooks are about. */
export interface Traced {
  /** The user. */
  readonly person: string;
  /** A click id that is the person's alone; null without one. */
  readonly clickId: string | null;
  /** An order of somebody else; null without one. */
  readonly otherOrder: string | null;
}

/**
 * Webhooks that name a person: forged ones, with an order that nobody made or
 * with somebody else's; a login that names a click id alone; and some of a type
 * that nobody knows.
 */
export function tracesOf(
  { journal }: World,
  { person, clickId, otherOrder }: Traced,
  dice: Dice,
): object[] {
  const traces: object[] = [];
  const leave = (fault: string, ...bodies: object[]) => {
    if (!dice.chance(0.7)) return;
    journal.count(fault);
    traces.push(...bodies);
  };
  const user = { user_id: person };
  const id = `01NOORDER${dice.int(1e9, 9e9)}`;
  leave("forged order of a person", {
    ...{ type: "order_complete", click_id: "", user },
    order: { id },
  });
  if (otherOrder !== null) {
    leave("forged claim on another's order", {
      ...{ type: "payment_started", click_id: "", user },
      order: { id: otherOrder },
    });
  }
  if (clickId !== null) {
    leave("only a click id of a person", {
      ...{ type: dice.pick(["login", "registration"]), click_id: clickId },
    });
  }
  leave("person in an unknown body", {
    type: "screening_done",
    result: { subjects: [{ of: dice.chance(0.5) ? person : [person] }] },
  });
  return traces;
}

/** Deliveries as the endpoint makes them. */
export function deliveriesOf(
  world: World,
  bodies: readonly object[],
  dice: Dice,
): Delivery[] {
  return bodies.map((body) => ({
    id: ulid(world.now(), () => dice.unit()),
    receivedAt: new Date(world.now()).toISOString(),
    body: encoder.encode(JSON.stringify(body)),
  }));
}

/** The spool of a process that took deliveries and died. */
export class DeadSpool {
  readonly #world: World;
  readonly #dice: Dice;
  readonly disk = new VirtualDisk();
  #taking: Life | null = null;

  constructor(world: World, dice: Dice) {
    this.#world = world;
    this.#dice = dice;
  }

  /** Leaves deliveries in it. */
  async leave(deliveries: readonly Delivery[]): Promise<void> {
    const life = new Life(() => {});
    const spool = this.#open(life, "left");
    for (const delivery of deliveries) await spool.put(delivery);
    this.#world.journal.count("person in a dead process's spool");
    life.kill();
  }

  /** Takes into a ledger what was left, and overwrites it. */
  async drain(take: (records: Uint8Array) => Promise<unknown>): Promise<void> {
    // A process that crashed meanwhile holds its files no more.
    this.#taking?.kill();
    this.#taking = new Life(() => {});
    const spool = this.#open(this.#taking, "taken");
    await spool.tidy();
    await spool.drain(async (records) => {
      await take(records);
    });
    await spool.tidy();
    await spool.close();
  }

  #open(life: Life, name: string): Inbox {
    const names = this.#dice.fork(name);
    return new Inbox({
      folder: this.disk.open({
        life,
        dice: names.fork("disk"),
        faults: () => ({ refuses: 0, crash: 0 }),
        onFault: () => {},
      }),
      writer: names.int(1, 2 ** 31).toString(16).padStart(8, "0"),
      now: () => this.#world.now(),
      maxBytes: 1 << 20,
      onDamage: () => {},
    });
  }
}
