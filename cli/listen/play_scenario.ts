import type { OrderInput } from "../../sandbox/mod.ts";
import type { SandboxControl } from "./sandbox_control.ts";
import type { Scenario, Stage } from "./scenarios.ts";

/** How a scenario is played. */
export interface PlayOptions {
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
