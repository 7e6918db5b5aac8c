import type {
  OrderInput,
  OrderStep,
  StepFacts,
  UserStep,
} from "../../sandbox/mod.ts";

/** Where a scenario is played: one order, or one user, of a sandbox. */
export interface Stage {
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
