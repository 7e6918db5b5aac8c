import { printable } from "../../core/text.ts";
import type { Ledger } from "../../ledger/mod.ts";
import { CommandError } from "../../core/settings/errors.ts";
import { flagParam, needed, textParam } from "../../core/settings/params.ts";
import {
  type Dropped,
  type Fired,
  type FiredHistoryJson,
  type Resumed,
  type Retried,
  type Stopped,
  subscriptionList,
} from "../queries/deliveries.ts";
import {
  counted,
  drawTable,
  fitted,
  nextCommand,
  operands,
  shellWord,
  wrap,
} from "../views/text.ts";
import {
  type Operation,
  operation,
  type OperationContext,
} from "./operation.ts";

const SUBSCRIPTION = {
  ...needed(
    textParam("Name of the subscription, as `subscriptions list` shows it"),
  ),
  place: "<subscription>",
};

/** `subscriptions retry`. */
export const RETRY: Operation = operation({
  command: "subscriptions retry",
  path: "/v1/subscriptions/{subscription}/retry",
  scope: "operate",
  operationId: "retryDeadLetters",
  summary: "Deliver dead letters and failed deliveries again, at once",
  examples: ["goods"],
  params: {
    subscription: SUBSCRIPTION,
    key: {
      ...textParam(
        "Only this dead letter; without it all of them, and all that wait " +
          "for a retry",
      ),
      place: "[key]",
      // Without one, all are sent again.
      takesEmpty: true as const,
    },
  },
  result: { schema: "Retried", description: "How many will be tried again" },
  run: async ({ ledger }, { subscription, key }): Promise<Retried> => {
    await requireSubscription(ledger, subscription);
    const { subscriptions } = ledger;
    // First: what is revived below is due already.
    const hastened = key === undefined
      ? await subscriptions.hasten(subscription)
      : 0;
    const retried = await subscriptions.retry(subscription, key);
    return { retried, hastened };
  },
  idle: ({ retried, hastened }) =>
    retried + hastened > 0
      ? null
      : "Nothing was done: no such delivery failed, or it was sent again or " +
        "deleted meanwhile",
  says: ({ retried, hastened }, { key }) =>
    counted(retried, "dead letter") +
    (key === undefined
      ? ` and ${hastened} that waited for another attempt`
      : "") +
    " will be tried at once, by the process that runs the subscription",
});

/** `subscriptions drop`. */
export const DROP: Operation = operation({
  command: "subscriptions drop",
  path: "/v1/subscriptions/{subscription}/drop",
  scope: "operate",
  operationId: "dropDeadLetter",
  summary: "Delete a dead letter",
  description: "It is never delivered, and no later one lists it as missed.",
  examples: ["goods order:01KA:release.yes"],
  params: {
    subscription: SUBSCRIPTION,
    key: {
      ...needed(textParam("The dead letter to delete")),
      place: "<key>",
    },
  },
  result: { schema: "Dropped", description: "How many were deleted" },
  run: async ({ ledger }, { subscription, key }): Promise<Dropped> => {
    await requireSubscription(ledger, subscription);
    return { dropped: await ledger.subscriptions.drop(subscription, key) };
  },
  idle: ({ dropped }) =>
    dropped > 0 ? null : "Nothing was deleted: there is no such dead letter; " +
      "it was sent again or deleted meanwhile",
  says: ({ dropped }) => `${counted(dropped, "dead letter")} deleted`,
});

/** `subscriptions stop`. */
export const STOP: Operation = operation({
  command: "subscriptions stop",
  path: "/v1/subscriptions/{subscription}/stop",
  scope: "operate",
  operationId: "stopTarget",
  summary: "Send nothing to a target until it is resumed",
  description: "Nothing is lost: it gets everything that came meanwhile.",
  examples: ["forward:https://shop.example/hooks"],
  params: { subscription: SUBSCRIPTION },
  result: { schema: "Stopped", description: "Whether it was on" },
  run: async ({ ledger, nowMs }, { subscription }): Promise<Stopped> => {
    await requireSubscription(ledger, subscription);
    const at = new Date(nowMs).toISOString();
    return { stopped: await ledger.subscriptions.stop(subscription, at) };
  },
  idle: ({ stopped }) =>
    stopped ? null : "Nothing was done: it is switched off, or is not a target",
  says: (_, { subscription }, { flags }) => [
    "Nothing is sent to the target; to go on:",
    nextCommand(flags, "subscriptions resume", operands(subscription)),
  ],
});

/** `subscriptions resume`. */
export const RESUME: Operation = operation({
  command: "subscriptions resume",
  path: "/v1/subscriptions/{subscription}/resume",
  scope: "operate",
  operationId: "resumeTarget",
  summary: "Send again to a target that was switched off",
  description:
    "It was switched off by its answer 410, or by a person. It gets " +
    "everything that came meanwhile.",
  examples: ["forward:https://shop.example/hooks"],
  params: { subscription: SUBSCRIPTION },
  result: { schema: "Resumed", description: "Whether it was switched off" },
  run: async ({ ledger }, { subscription }): Promise<Resumed> => {
    await requireSubscription(ledger, subscription);
    return { resumed: await ledger.subscriptions.resume(subscription) };
  },
  idle: ({ resumed }) =>
    resumed ? null : "Nothing was done: it is not switched off",
  says: () => "The target is on again; `serve` sends to it within seconds",
});

/** `subscriptions fire` without keys. */
export const UNFIRED: Operation = operation({
  command: "subscriptions fire",
  path: "/v1/transitions/unfired",
  scope: "read",
  operationId: "listUnfired",
  summary: "List states that were sent to no subscription",
  description: "A refold or an import made them; each can be sent by its key.",
  examples: ["order:01KA:release.yes"],
  params: { imported: flagParam("Also list what an import brought") },
  result: {
    schema: "Unfired",
    description: "The first hundred of orders and of users",
    many: "list",
  },
  folds: true,
  run: async ({ ledger }, { imported = false }) => ({
    items: await ledger.subscriptions.unfired({ imported }),
  }),
  says: ({ items }) =>
    items.length === 0
      ? "Every state was sent to a subscription"
      : items.map(({ key }) => shellWord(key)),
});

const KEYS = "[keys...]";

/** `subscriptions fire` with keys. */
export const FIRE: Operation = operation({
  command: "subscriptions fire",
  path: "/v1/transitions/fire",
  scope: "operate",
  operationId: "fireTransition",
  summary: "Send subscriptions a state that was sent to none of them",
  description: "For states that a refold or an import made.",
  examples: [],
  params: {
    key: {
      ...needed({
        ...textParam("Key of the transition, as the dead letter has it"),
        read: (name: string, text: string): readonly string[] => [
          textParam("").read(name, text),
        ],
      }),
      many: true as const,
      place: KEYS,
    },
  },
  result: { schema: "Fired", description: "0 when it was sent before" },
  folds: true,
  run: async ({ ledger }, { key }): Promise<Fired> => ({
    fired: await ledger.subscriptions.fire(key),
  }),
  logged: ({ fired }, { key }) => ({ key: key.join(" "), fired }),
  says: ({ fired }, { key }, { columns }) => {
    const others = key.length - fired;
    return fitted(
      columns,
      `${counted(fired, "state")} will be sent by the process that runs the ` +
        "subscription",
      ...(others === 0 ? [] : [
        `Left out, because sent before or not in this ledger: ${others}; to ` +
        "list those never sent: rampkit subscriptions fire",
      ]),
    );
  },
});

const HISTORY =
  "Send one subscription, once, every transition from before the " +
  "ledger went live, except releases";

/** `subscriptions fire --historic`. */
export const FIRE_HISTORY: Operation = operation({
  command: "subscriptions fire",
  path: "/v1/subscriptions/{subscription}/fire-historic",
  scope: "operate",
  operationId: "fireHistory",
  action: "fire_historic",
  summary: HISTORY,
  description: "A dry run counts them, and sends nothing.",
  examples: ["goods --historic --dry-run"],
  params: {
    historic: {
      ...needed(flagParam(HISTORY)),
      only: "command" as const,
    },
    subscription: { ...SUBSCRIPTION, place: KEYS },
    dryRun: flagParam("Count them, and send nothing"),
  },
  result: {
    schema: "FiredHistory",
    description: "How many there are, and how many are sent",
  },
  folds: true,
  confirms: async (context, values, { columns }) => {
    const plan = await fireHistory(context, { ...values, dryRun: true });
    const name = printable(values.subscription);
    return {
      shows: fitted(
        columns,
        `${
          counted(plan.transitions, "transition")
        } from before the ledger went live were never sent to ${name}`,
        ...(plan.released === 0 ? [] : [
          `Left out: ${counted(plan.released, "release")}, because the goods ` +
          "may have been handed over before; one that is to be shipped: " +
          "rampkit subscriptions fire order:ORDER:release.yes",
        ]),
      ),
      question: values.dryRun || plan.transitions === 0
        ? null
        : `Send them to ${name}? Type yes: `,
      instead: plan,
      refusal: "Nothing was sent: add --yes where nobody can be asked",
    };
  },
  run: fireHistory,
  says: ({ fired }) =>
    `${
      counted(fired, "transition")
    } will be sent by the process that runs the ` +
    "subscription",
});

async function fireHistory(
  { ledger, signal }: OperationContext,
  { subscription, dryRun = false }: {
    readonly subscription: string;
    readonly dryRun?: boolean;
  },
): Promise<FiredHistoryJson> {
  await requireSubscription(ledger, subscription);
  const how = { dryRun, signal };
  const plan = await ledger.subscriptions.fireHistoric(subscription, how);
  return { ...plan, fired: dryRun ? 0 : plan.transitions };
}

/** `subscriptions list`. */
export const SUBSCRIPTIONS: Operation = operation({
  command: "subscriptions list",
  path: "/v1/subscriptions",
  scope: "read",
  operationId: "listSubscriptions",
  summary: "Show how far each subscription is, and its dead letters",
  params: {},
  result: {
    schema: "Subscription",
    description: "All of them, as `subscriptions list --json` prints them",
    many: "list",
  },
  run: async ({ ledger }) => ({ items: await subscriptionList(ledger) }),
  says: ({ items }, _, { columns, flags }) => {
    if (items.length === 0) return "No subscriptions";
    const next = (command: string, name: string) =>
      `  ${nextCommand(flags, `subscriptions ${command}`, operands(name))}`;
    const told = (text: string) => ["", wrap(printable(text), columns, 2)];
    return [
      drawTable(
        [
          { title: "Subscription", whole: true },
          { title: "Takes", spare: 1 },
          { title: "Behind", align: "right" },
          { title: "Retrying", align: "right" },
          { title: "Waiting", align: "right" },
          { title: "Dead", align: "right" },
        ],
        items.map((one) => [
          one.name,
          one.on.join(" "),
          ...[one.behind, one.retrying, one.waiting, one.dead].map(String),
        ]),
        columns,
      ),
      ...items.flatMap(({ name, target }) =>
        target === null || target.offAt === null ? [] : [
          ...told(
            `${name}: switched off since ${target.offAt}, because the target ` +
              target.offReason,
          ),
          "  when it wants webhooks again:",
          next("resume", name),
        ]
      ),
      ...items.flatMap(({ name, retrying, lastError }) =>
        lastError === null
          ? []
          : told(`${name}: ${retrying} sent again; one failed: ${lastError}`)
      ),
      ...items.flatMap(({ deadLetters }) => deadLetters).flatMap((one) => [
        ...told(
          `${one.name}: ${one.transition.key} failed ${one.attempts} times: ` +
            one.error,
        ),
        "  mend what fails, then:",
        next("retry", one.name),
      ]),
    ];
  },
});

/**
 * Makes sure that a subscription exists.
 *
 * @throws {CommandError} When it does not, naming those that do.
 */
async function requireSubscription(
  ledger: Ledger,
  name: string,
): Promise<void> {
  const names = (await ledger.subscriptions.list()).map(({ name }) => name);
  if (names.includes(name)) return;
  throw new CommandError(
    `No such subscription: "${name}"; there ` +
      (names.length === 0 ? "is none yet" : `are ${names.join(", ")}`),
    "not_found",
  );
}
