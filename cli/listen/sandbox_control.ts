import { isRecord, messageOf } from "../../core/guards.ts";
import type {
  DeliveryStatus,
  Faults,
  OrderInput,
  OrderStep,
  SandboxDelivery,
  SandboxOrder,
  SandboxUser,
  StepFacts,
  TriggerInput,
  UserStep,
} from "../../sandbox/mod.ts";
import { CommandError } from "../../core/settings/errors.ts";

/** The sandbox that is controlled. */
export interface SandboxControlOptions {
  /** Its address, without a slash at the end. */
  readonly url: string;
  /** Ends a request that is under way. */
  readonly signal: AbortSignal;
  /** What is called. @default globalThis.fetch */
  readonly fetch?: typeof fetch;
}

/** Longest that an answer of the sandbox is waited for, ms. */
const ANSWER_WITHIN_MS = 10_000;

/** A sandbox in another process, through the routes under `/control`. */
export class SandboxControl {
  readonly #options: SandboxControlOptions;

  /** Asks nothing yet. */
  constructor(options: SandboxControlOptions) {
    this.#options = options;
  }

  /** Says whether webhooks are delivered, and where. */
  async delivery(): Promise<DeliveryStatus> {
    const { delivery } = await this.#ask<{ readonly delivery: DeliveryStatus }>(
      "GET",
      "/state",
    );
    return delivery;
  }

  /** The click id that a session's widget was opened with; null before. */
  session(id: string): Promise<{ readonly clickId: string | null }> {
    return this.#ask("GET", `/sessions/${encodeURIComponent(id)}`);
  }

  /** The number of the latest webhook; 0 before the first. */
  async latestWebhook(): Promise<number> {
    return (await this.#webhooks()).at(-1)?.number ?? 0;
  }

  /**
   * What the endpoint answered to the first webhook after one, 0 where nothing
   * answered; null while that is not known.
   */
  async answerAfter(number: number): Promise<number | null> {
    const next = (await this.#webhooks()).find((one) => one.number > number);
    return next?.attempts[0]?.status ?? null;
  }

  #webhooks(): Promise<readonly SandboxDelivery[]> {
    return this.#ask("GET", "/deliveries");
  }

  /** Creates an order, without a webhook. */
  createOrder(input: OrderInput): Promise<Pick<SandboxOrder, OrderFields>> {
    return this.#ask("POST", "/orders", input);
  }

  /** Lets an order take a step, with its webhook. */
  advance(
    orderId: string,
    step: OrderStep,
    facts: Partial<StepFacts> = {},
  ): Promise<Pick<SandboxOrder, OrderFields>> {
    const path = `/orders/${encodeURIComponent(orderId)}/steps`;
    return this.#ask("POST", path, { step, ...facts });
  }

  /** Creates a user, without a webhook. */
  createUser(
    input: { readonly lkyc: string },
  ): Promise<Pick<SandboxUser, "userId" | "lkyc">> {
    return this.#ask("POST", "/users", input);
  }

  /** Lets a user take a step, with its webhook. */
  advanceUser(
    userId: string,
    step: UserStep,
  ): Promise<Pick<SandboxUser, "userId" | "lkyc">> {
    const path = `/users/${encodeURIComponent(userId)}/steps`;
    return this.#ask("POST", path, { step });
  }

  /** Sends an event although nothing happened. */
  trigger(input: TriggerInput): Promise<unknown> {
    return this.#ask("POST", "/events", input);
  }

  /** Presses the Test button. */
  pressTest(): Promise<unknown> {
    return this.#ask("POST", "/test");
  }

  /**
   * Does something while some faults are in force, and puts those back that
   * were in force before.
   */
  async withFaults<T>(
    change: Partial<Faults>,
    work: () => Promise<T>,
  ): Promise<T> {
    const before = await this.#ask<Record<string, unknown>>("GET", "/faults");
    await this.#ask("PATCH", "/faults", change);
    try {
      return await work();
    } finally {
      const names = Object.keys(change);
      const back = names.map((name) => [name, before[name]]);
      await this.#ask("PATCH", "/faults", Object.fromEntries(back));
    }
  }

  async #ask<T>(method: string, path: string, fields?: object): Promise<T> {
    const { url, signal, fetch: ask = fetch } = this.#options;
    let response: Response;
    let text: string;
    try {
      response = await ask(`${url}/control${path}`, {
        method,
        redirect: "error",
        signal: AbortSignal.any([
          signal,
          AbortSignal.timeout(ANSWER_WITHIN_MS),
        ]),
        ...(fields !== undefined && { body: JSON.stringify(fields) }),
      });
      text = await response.text();
    } catch (error) {
      if (signal.aborted) throw error;
      throw new CommandError(
        `Cannot reach a sandbox at ${url}: ${messageOf(error)}; start one ` +
          "with `rampkit listen` or `rampkit sandbox`, or name where it is " +
          "with --sandbox",
      );
    }
    const value = jsonOf(text);
    if (response.ok && value !== undefined) return value as T;
    throw new CommandError(
      isRecord(value) && typeof value.error === "string"
        ? `The sandbox at ${url} refused: ${value.error}`
        : `What answers at ${url} is not a sandbox: it answered ` +
          `${response.status} to ${method} /control${path}; name where one ` +
          "is with --sandbox",
    );
  }
}

/** Fields of an order that are used; an answer holds all of them as JSON. */
type OrderFields =
  | "orderId"
  | "userId"
  | "status"
  | "currency"
  | "currencyAmount"
  | "cryptoAmount"
  | "commodity";

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
