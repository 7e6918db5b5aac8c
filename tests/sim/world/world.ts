import { OnrampError } from "../../../client/mod.ts";
import { type DeliveryHealth, PollError } from "../../../sync/mod.ts";
import { LedgerError, type Transition } from "../../../ledger/mod.ts";
import type { Driver } from "../../../ledger/for_sync.ts";
import { FileDriver, type RecordedEvent } from "../../../ledger/testing/mod.ts";
import {
  createSandbox,
  type Sandbox,
  type VirtualClock,
} from "../../../sandbox/mod.ts";
import { Dice } from "./dice.ts";
import { type SpoolFaults, VirtualDisk } from "./virtual_disk.ts";
import { NO_STORE_FAULTS } from "./faulty_driver.ts";
import { FOLD_VERSIONS } from "./fold_versions.ts";
import { addOne, Broken, Journal } from "./journal.ts";
import { type Plan, planOf } from "./plan.ts";
import type { Ports, PortTools } from "./ports.ts";
import { Process } from "./process.ts";
import { purchaseOf, Shop } from "../shop/shop.ts";
import { wholeClock } from "./virtual_time.ts";

/** What a world is made from. */
export interface WorldOptions {
  readonly seed: number;
  /** Ports that break a rule on purpose. */
  readonly ports?: Partial<Ports>;
  /** Path of a database file; memory when left out. */
  readonly file?: string;
}

const encoder = new TextEncoder();

/** Click id that very many orders of the past share. */
export const clickOfCrowd = "campaign-of-a-crowd";

/** How far our own clock is set back at once, in milliseconds. */
const setBackMs = 10 * 60_000;

/**
 * The service, the network, the disks and our processes, on one clock.
 * Databases and spools outlive the processes, as disks do.
 */
export class World {
  readonly plan: Plan;
  readonly dice: Dice;
  readonly clock: VirtualClock;
  readonly sandbox: Sandbox;
  readonly ports: Partial<Ports>;
  readonly tools: PortTools;
  readonly journal: Journal;
  readonly secret = "a-secret-of-the-simulation-0000000";
  /** The database without faults, for those who look from outside. */
  readonly store: Driver;
  /** The disk of the spool. */
  readonly disk = new VirtualDisk();
  readonly processes: readonly Process[];
  /** Delivery as the watchdog last saw it. */
  delivery: DeliveryHealth | null = null;
  spoolFaults: SpoolFaults;
  receiverFails: number;
  readonly shop = new Shop();
  /** Path of the database; null in memory. */
  readonly file: string | null;
  readonly #counts = new Map<string, number>();
  #clockBackMs = 0;
  #folder: string | null = null;
  #files = 0;

  constructor({ seed, ports = {}, file }: WorldOptions) {
    this.dice = new Dice(`sim ${seed}`);
    this.plan = planOf(this.dice.fork("plan"));
    const { attack } = this.plan;
    this.clock = wholeClock(this.plan.startMs, { turns: 2 });
    this.journal = new Journal(() => this.clock.now());
    this.ports = ports;
    const ids = this.dice.fork("tools");
    this.tools = {
      clock: this.clock,
      newId: () => `01SIM${ids.int(1e12, 9e12)}${ids.int(1e8, 9e8)}`,
    };
    this.file = file ?? null;
    this.store = this.#open();
    this.spoolFaults = this.plan.spoolFaults;
    this.receiverFails = this.plan.receiverFails;
    this.sandbox = createSandbox({
      seed,
      clock: this.clock,
      webhookUrl: `http://partner/webhooks/${this.secret}`,
      fetch: (input, init) => this.#deliver(String(input), init ?? {}),
      disableRule: this.plan.disableRule,
      cancelSpelling: this.plan.cancelSpelling,
      faults: { ...this.plan.service, ...attack.lasting, ...attack.passing },
      orderForm: attack.form,
    });
    this.processes = rolesOf(this.plan).map((role) =>
      new Process(this, role, this.dice.fork(role.name))
    );
  }

  /** The time by our own machines' clock, in milliseconds since the epoch. */
  now(): number {
    return this.clock.now() - this.#clockBackMs;
  }

  /** Sets our own clock back. */
  setClockBack(ms: number = setBackMs): void {
    this.journal.count("clock set back");
    this.#clockBackMs += ms;
  }

  /** The process that takes webhooks. */
  get front(): Process {
    return this.processes.find(({ role }) => role.endpoint) as Process;
  }

  /** A connection to the database for one process. */
  openStore(): Driver {
    if (this.file !== null) return this.#open();
    const { store } = this;
    return {
      location: store.location,
      batch: (statements, mode) => store.batch(statements, mode),
      ...(store.copyTo && { copyTo: store.copyTo.bind(store) }),
      // A database in memory lives as long as its only connection.
      close: () => Promise.resolve(),
    };
  }

  /** Sends bytes to the endpoint as anybody may. */
  async post(body: Uint8Array<ArrayBuffer>): Promise<Response> {
    const url = `http://partner/webhooks/${this.secret}`;
    return await this.front.receive(
      new Request(url, { method: "POST", body }),
      body,
    );
  }

  /** What the subscription's handler does: it remembers what it did. */
  receive(
    transition: Transition,
    by: object,
    reference: string | null,
  ): void {
    const { told, effects } = this.journal;
    const { key, id, logged } = transition;
    if (!told.has(key)) {
      effects.push(transition);
      if (logged?.entered === "yes") {
        const clickId = this.sandbox.order(id)?.clickId ?? "";
        this.shop.ship(id, purchaseOf(reference, clickId), this.clock.now());
      }
    }
    this.journal.tell(key, by);
  }

  /** Path of a file that is gone when the run is over. */
  newFile(): string {
    this.#folder ??= Deno.makeTempDirSync({ prefix: "rampkit-sim-" });
    return `${this.#folder}/${++this.#files}.db`;
  }

  /** An event with the body that it had, if that was to be erased. */
  whole(event: RecordedEvent): RecordedEvent {
    const before = this.journal.erased.get(event.eventId);
    return before === undefined
      ? event
      : { ...before, position: event.position };
  }

  /** Lets work go on beside everything else; errors must be expected ones. */
  background(work: Promise<unknown>): void {
    work.catch((error) => this.expect(error, null));
  }

  /** Notes an error unless a fault explains it. */
  expect(error: unknown, stopped: AbortSignal | null): void {
    if (stopped?.aborted === true && error === stopped.reason) return;
    if (error instanceof Broken) this.journal.broken.push(error);
    else if (!this.explains(error)) this.journal.unexpected.push(error);
  }

  /** Whether a fault explains an error. */
  explains(error: unknown): boolean {
    if (error instanceof LedgerError) {
      return ["busy", "full", "unreachable"].includes(error.code) ||
        (this.plan.upgrades && error.message.startsWith("A newer version"));
    }
    return error instanceof OnrampError || error instanceof PollError ||
      (error instanceof TypeError && error.message.startsWith("Simulated:"));
  }

  count(what: string): void {
    addOne(this.#counts, what);
  }

  /** How often something was counted. */
  counted(what: string): number {
    return this.#counts.get(what) ?? 0;
  }

  /** Ends every fault but those that last, and starts what is down. */
  heal(): void {
    this.sandbox.heal();
    this.sandbox.setFaults(this.plan.attack.lasting);
    this.sandbox.enableDelivery();
    this.spoolFaults = { refuses: 0, crash: 0 };
    this.receiverFails = 0;
    const [, today] = FOLD_VERSIONS;
    for (const process of this.processes) {
      if (process.foldVersion < today) process.upgrade(today);
      process.weather.faults = NO_STORE_FAULTS;
      process.weather.outage = null;
      process.revive();
    }
  }

  async close(): Promise<void> {
    await this.sandbox.close();
    await this.store.close();
    if (this.#folder !== null) {
      await Deno.remove(this.#folder, { recursive: true });
    }
  }

  #open(): Driver {
    return new FileDriver({
      path: this.file ?? ":memory:",
      busyTimeoutMs: 50,
    });
  }

  async #deliver(url: string, init: RequestInit): Promise<Response> {
    const body = encoder.encode(String(init.body));
    return await this.front.receive(
      new Request(url, { ...init, body }),
      body,
    );
  }
}

function rolesOf({ shape }: Plan): {
  readonly name: string;
  readonly endpoint: boolean;
  readonly poller: boolean;
}[] {
  if (shape === "together") {
    return [{ name: "both", endpoint: true, poller: true }];
  }
  const front = { name: "endpoint", endpoint: true, poller: false };
  const names = shape === "rivals" ? ["poller a", "poller b"] : ["poller"];
  return [
    front,
    ...names.map((name) => ({ name, endpoint: false, poller: true })),
  ];
}
