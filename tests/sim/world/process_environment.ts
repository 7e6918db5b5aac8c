import type { DeliveryHealth } from "../../../sync/mod.ts";
import type { Transition } from "../../../ledger/mod.ts";
import type { Driver } from "../../../ledger/for_sync.ts";
import type { Sandbox, VirtualClock } from "../../../sandbox/mod.ts";
import type { SpoolFaults, VirtualDisk } from "./virtual_disk.ts";
import type { Journal } from "./journal.ts";
import type { Plan } from "./plan.ts";
import type { Ports, PortTools } from "./ports.ts";
import type { Shop } from "../shop/shop.ts";

/** What a process of ours finds around it: all that outlives the process. */
export interface ProcessEnvironment {
  readonly plan: Plan;
  readonly clock: VirtualClock;
  readonly sandbox: Sandbox;
  readonly ports: Partial<Ports>;
  readonly tools: PortTools;
  readonly journal: Journal;
  /** Path secret of the webhook endpoint. */
  readonly secret: string;
  /** The disk of the spool. */
  readonly disk: VirtualDisk;
  readonly spoolFaults: SpoolFaults;
  /** Rate at which the receiver of transitions fails. */
  readonly receiverFails: number;
  /** The partner's shop. */
  readonly shop: Shop;
  /** Delivery as the watchdog last saw it. */
  delivery: DeliveryHealth | null;
  /** The time by our own machines' clock, in milliseconds since the epoch. */
  now(): number;
  /** A connection to the database for one process. */
  openStore(): Driver;
  /**
   * What the subscription's handler does; `by` is the run of a process, and
   * `reference` what it is told to release.
   */
  receive(transition: Transition, by: object, reference: string | null): void;
  /** Notes an error unless a fault explains it. */
  expect(error: unknown, stopped: AbortSignal | null): void;
  /** Counts something that was done. */
  count(what: string): void;
}
