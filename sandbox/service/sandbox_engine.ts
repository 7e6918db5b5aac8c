import type { SandboxClock } from "../clocks/clock.ts";
import { realClock } from "../clocks/real_clock.ts";
import type { TriggerInput } from "../delivery/delivery_log.ts";
import { checkDisableRule } from "../delivery/retry_schedule.ts";
import { WebhookEmitter } from "../delivery/webhook_emitter.ts";
import { WebhookSender } from "../delivery/webhook_sender.ts";
import { type SandboxCounters, zeroCounters } from "../engine/counters.ts";
import { EntityFactory } from "../engine/entity_factory.ts";
import { OrderStore } from "../engine/order_store.ts";
import { partnerWithDefaults, type SandboxPartner } from "../engine/partner.ts";
import { SessionStore } from "../engine/session_store.ts";
import { UserStore } from "../engine/user_store.ts";
import { FaultInjector } from "../faults/fault_injector.ts";
import type { OrderForm } from "../faults/odd_rows.ts";
import { Random } from "../seeded/random.ts";
import { backfill, type BackfillOptions } from "./backfill.ts";
import { OrderCommands } from "./order_commands.ts";
import { populate, type PopulateOptions } from "./populate.ts";
import type { SandboxOptions } from "./sandbox_options.ts";
import { UserCommands } from "./user_commands.ts";

/**
 * The service without its HTTP routes: orders, users, sessions, webhooks and
 * faults, on one clock and from one seed.
 */
export class SandboxEngine {
  readonly seed: number;
  readonly partnerId: string;
  readonly apiKey: string;
  readonly assets: "production" | "sandbox";
  readonly clock: SandboxClock;
  orderForm: OrderForm;
  partner: Required<SandboxPartner>;
  readonly random: Random;
  readonly counters: SandboxCounters = zeroCounters();
  readonly injector: FaultInjector;
  readonly factory: EntityFactory;
  readonly orders: OrderStore = new OrderStore();
  readonly users: UserStore = new UserStore();
  readonly sessions: SessionStore;
  readonly sender: WebhookSender;
  readonly emitter: WebhookEmitter;
  readonly userCommands: UserCommands;
  readonly orderCommands: OrderCommands;
  readonly #closing = new AbortController();
  readonly #tasks = new BackgroundTasks(this.#closing.signal);

  constructor(options: SandboxOptions) {
    const disableRule = options.disableRule ?? "ladder_from_previous";
    checkDisableRule(disableRule);
    this.seed = options.seed ?? 1;
    this.partnerId = options.partnerId ?? "01SANDBOXPARTNER0000000000";
    this.apiKey = options.apiKey ?? "sandbox-key";
    this.assets = options.assets ?? "sandbox";
    this.clock = options.clock ?? realClock();
    this.orderForm = options.orderForm ?? "current";
    this.partner = partnerWithDefaults(options.partner);
    this.random = new Random(this.seed);
    this.injector = new FaultInjector(this.random.fork("faults"));
    this.injector.set(options.faults ?? {});
    this.factory = new EntityFactory(this.random, this.assets);
    this.sessions = new SessionStore(this);
    this.sender = new WebhookSender({
      clock: this.clock,
      injector: this.injector,
      counters: this.counters,
      fetch: options.fetch ?? ((input, init) => fetch(input, init)),
      webhookUrl: options.webhookUrl ?? null,
      disableRule,
      logLimit: options.logLimit ?? 100_000,
    });
    const now = () => this.now();
    const { sender, injector, counters, factory, users, orders } = this;
    this.emitter = new WebhookEmitter({
      sender,
      injector,
      counters,
      factory,
      cancelSpelling: options.cancelSpelling ?? "order_cancelled",
      now,
    });
    const { emitter } = this;
    this.userCommands = new UserCommands({ users, factory, emitter, now });
    this.orderCommands = new OrderCommands({
      orders,
      sessions: this.sessions,
      userCommands: this.userCommands,
      factory,
      emitter,
      injector,
      counters,
      now,
      onOrder: options.onOrder ?? (() => {}),
    });
  }

  /** The service's own time: the clock's, plus the skew that is set. */
  now(): number {
    return this.clock.now() + this.injector.faults.clockSkewMs;
  }

  /** Aborted when the sandbox closes. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Sends an event that did not happen. */
  trigger(input: TriggerInput): void {
    const order = input.orderId === undefined
      ? null
      : this.orderCommands.mustGet(input.orderId);
    const userId = input.userId ?? order?.userId;
    const user = userId === undefined
      ? null
      : this.userCommands.mustGet(userId);
    this.emitter.trigger(input, order, user);
  }

  /** Simulates customers who buy; resolves when the last visit is over. */
  populate(options: PopulateOptions): Promise<void> {
    return this.#tasks.add(populate(this, options));
  }

  /** Writes finished orders into the past, without webhooks. */
  backfill(options: BackfillOptions): void {
    backfill(this, options);
  }

  /** Resolves when no visit is running and no webhook is due. */
  async idle(): Promise<void> {
    await this.#tasks.idle();
    await this.sender.idle();
  }

  /** Stops everything: no timer and no request is left. */
  async close(): Promise<void> {
    this.#closing.abort(
      new DOMException("The sandbox is closed", "AbortError"),
    );
    await this.#tasks.idle();
    await this.sender.close();
  }
}

/** Tasks that run in the background until the sandbox closes. */
class BackgroundTasks {
  readonly #closing: AbortSignal;
  readonly #running = new Set<Promise<void>>();

  constructor(closing: AbortSignal) {
    this.#closing = closing;
  }

  /** Adds a task. It does not fail because the sandbox closed. */
  add(task: Promise<void>): Promise<void> {
    const result = task.catch((error) => {
      if (!this.#closing.aborted) throw error;
    }).finally(() => this.#running.delete(settled));
    const settled = result.catch(() => {});
    this.#running.add(settled);
    return result;
  }

  /** Resolves when no task is running. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}
