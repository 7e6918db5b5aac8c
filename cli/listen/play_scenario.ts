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
import { isRecord, messageOf } from "../../core/guards.ts";
import { CommandError } from "../../core/settings/errors.ts";

/** Where a scenario is played: one order, or one user, of a sandbox. */
interface Stage {
  /** Creates the order that the next calls are about. */
  create(input?: OrderInput): Promise<void>;
  /** Lets the order take steps, each with its webhook. */
  steps(...steps: readonly OrderStep[]): Promise<void>;
  /** Lets the order fail for a reason. */
  fail(facts: Partial<StepFacts>): Promise<void>;
  /** Lets the order take a step whose webhook does not arrive. */
  silently(step: OrderStep): Promise<void>;
  /** Lets the order take a step whose webhook is cut short on the way. */
  broken(step: OrderStep): Promise<void>;
  /** Waits for so long that the order's status becomes known. */
  rest(): Promise<void>;
  /** Sends a webhook about the order although nothing happened. */
  say(type: string): Promise<void>;
  /** Sends a webhook about an order that does not exist. */
  invent(type: string): Promise<void>;
  /** Creates a user, and lets it take steps, each with its webhook. */
  user(...steps: readonly UserStep[]): Promise<void>;
  /** Presses the Test button. */
  pressTest(): Promise<void>;
}

/** A story of the service, from its beginning to its end. */
export interface Scenario {
  /** What happens, for people. */
  readonly summary: string;
  /** Makes it happen. */
  readonly play: (stage: Stage) => Promise<void>;
}

/** A scenario in which an order takes steps and nothing else happens. */
function life(summary: string, ...steps: readonly OrderStep[]): Scenario {
  return {
    summary,
    play: async (stage) => {
      await stage.create();
      await stage.steps(...steps);
    },
  };
}

/** The same, with something at its end. */
function then(
  summary: string,
  steps: readonly OrderStep[],
  end: (stage: Stage) => Promise<void>,
): Scenario {
  const { play } = life(summary, ...steps);
  return {
    summary,
    play: async (stage) => {
      await play(stage);
      await end(stage);
    },
  };
}

const PAID = ["pay", "authorise"] as const;
const SENT = [...PAID, "transfer", "complete"] as const;

/** Every scenario, by the word that plays it. */
export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  success: life("an order is paid, sent and complete", ...SENT),
  failed: life("the payment of an order fails", ...PAID, "fail"),
  cancelled: life(
    "an order is cancelled after it was paid",
    ...PAID,
    "cancel",
  ),
  refund: then(
    "the payment comes after the order's time (4016): a refund is due",
    ["pay"],
    (stage) =>
      stage.fail({ failReason: "4016", errorText: "Payment after timeout" }),
  ),
  reversed: then(
    "an order succeeds, and some seconds later the service reverses it",
    SENT,
    async (stage) => {
      await stage.rest();
      await stage.steps("cancel");
    },
  ),
  forged: then(
    "somebody who knows the webhook address claims a false success",
    ["pay"],
    (stage) => stage.say("order_complete"),
  ),
  invented: {
    summary: "a webhook claims the success of an order that does not exist",
    play: (stage) => stage.invent("order_complete"),
  },
  lost: then(
    "an order succeeds, and the webhook that says so never comes",
    PAID,
    (stage) => stage.silently("complete"),
  ),
  broken: then(
    "the body of the last webhook is cut short on the way",
    PAID,
    (stage) => stage.broken("complete"),
  ),
  repeated: then(
    "the last webhook comes twice",
    SENT,
    (stage) => stage.say("order_complete"),
  ),
  late: then(
    "the first webhook comes once more, after the last",
    SENT,
    (stage) => stage.say("payment_started"),
  ),
  unknown: then(
    "a webhook has an undocumented type",
    PAID,
    (stage) => stage.say("order_refund_started"),
  ),
  verified: {
    summary: "a user registers and is verified",
    play: (stage) =>
      stage.user("registration", "verify_start", "verify_success"),
  },
  rejected: {
    summary: "the verification of a user fails",
    play: (stage) =>
      stage.user("registration", "verify_start", "verify_failed"),
  },
  test: {
    summary: "the Test button is pressed",
    play: (stage) => stage.pressTest(),
  },
};

/** The sandbox that is controlled. */
interface SandboxControlOptions {
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

/** How a scenario is played. */
interface PlayOptions {
  /** The sandbox in which it happens. */
  readonly control: SandboxControl;
  /** What the order is to have; the sandbox chooses the rest. */
  readonly order: OrderInput;
  /** Waits between two things that happen, so that their webhooks keep their
   * order. */
  readonly pause: () => Promise<void>;
  /** Waits until what happened has become known. */
  readonly rest: () => Promise<void>;
  /** An identifier that no order has. */
  readonly newId: () => string;
  /** Finds out what the endpoint answered to the last webhook. */
  readonly answered: () => Promise<number | null>;
  /** Called with each event. */
  readonly onStep: (step: PlayedStep) => void;
}

/** One thing that happened. */
export interface PlayedStep {
  /** What happened: a step of the sandbox, or the type of an event. */
  readonly action: string;
  /** The order's or user's status afterwards; null where nothing changed. */
  readonly status: string | null;
  /** What became of its webhook; `none` where the service sends none. */
  readonly webhook: "sent" | "none" | "lost" | "broken";
  /** What the endpoint answered, 0 where nothing did; null where none is known. */
  readonly answer: number | null;
}

/** What was played. */
export interface Played {
  /** The order; null where there was none. */
  readonly orderId: string | null;
  /** The user; null where there was none. */
  readonly userId: string | null;
  /** Everything that happened, in order. */
  readonly steps: readonly PlayedStep[];
}

/** Plays a scenario from its beginning to its end. */
export async function playScenario(
  scenario: Scenario,
  options: PlayOptions,
): Promise<Played> {
  const { control, pause } = options;
  const steps: PlayedStep[] = [];
  let orderId: string | null = null;
  let userId: string | null = null;
  const did = async (happened: Omit<PlayedStep, "answer">) => {
    const { webhook } = happened;
    const answer = webhook === "sent" ? await options.answered() : null;
    const step = { ...happened, answer };
    steps.push(step);
    options.onStep(step);
  };
  /** Every thing but the first happens after a pause. */
  const next = async <T>(work: () => Promise<T>): Promise<T> => {
    if (steps.length > 0) await pause();
    return await work();
  };
  const order = () => {
    if (orderId !== null) return orderId;
    throw new TypeError("A scenario creates its order before it takes steps");
  };
  const advance = async (
    step: Parameters<SandboxControl["advance"]>[1],
    facts: Parameters<SandboxControl["advance"]>[2] = {},
    webhook: PlayedStep["webhook"] = "sent",
  ) => {
    const { status } = await control.advance(order(), step, facts);
    // The one step that the service sends no webhook for.
    const told = step === "authorise" ? "none" : webhook;
    await did({ action: step, status, webhook: told });
  };
  const stage: Stage = {
    create: (input) =>
      next(async () => {
        const made = await control.createOrder({ ...options.order, ...input });
        ({ orderId, userId } = made);
        await did({ action: "create", status: made.status, webhook: "none" });
      }),
    steps: async (...all) => {
      for (const step of all) await next(() => advance(step));
    },
    rest: options.rest,
    fail: (facts) => next(() => advance("fail", facts)),
    silently: (step) =>
      next(() =>
        control.withFaults({ drop: 1 }, () => advance(step, {}, "lost"))
      ),
    broken: (step) =>
      next(() =>
        control.withFaults(
          { malformed: 1 },
          () => advance(step, {}, "broken"),
        )
      ),
    say: (type) =>
      next(async () => {
        await control.trigger({ type, orderId: order() });
        await did({ action: type, status: null, webhook: "sent" });
      }),
    invent: (type) =>
      next(async () => {
        orderId = options.newId();
        const { currencyAmount = "100.00", currency = "USD" } = options.order;
        await control.trigger({
          type,
          fields: {
            order: {
              id: orderId,
              quote: currency,
              quote_amount: currencyAmount,
            },
          },
        });
        await did({ action: type, status: null, webhook: "sent" });
      }),
    user: async (...all) => {
      const made = await next(() =>
        control.createUser({ lkyc: "not initiated" })
      );
      const { userId: id, lkyc } = made;
      userId = id;
      await did({ action: "create", status: lkyc, webhook: "none" });
      for (const step of all) {
        const moved = await next(() => control.advanceUser(id, step));
        await did({ action: step, status: moved.lkyc, webhook: "sent" });
      }
    },
    pressTest: () =>
      next(async () => {
        await control.pressTest();
        await did({ action: "test", status: null, webhook: "sent" });
      }),
  };
  await scenario.play(stage);
  return { orderId, userId, steps };
}
