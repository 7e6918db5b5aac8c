import type { Command } from "commander";
import { ulid } from "ulid";
import { defined } from "../../core/guards.ts";
import { sleep } from "../../core/waiting/waiting.ts";
import {
  type Played,
  type PlayedStep,
  playScenario,
  SandboxControl,
  type Scenario,
  SCENARIOS,
} from "../listen/play_scenario.ts";
import { type Cli, type Io, jsonLine, line, note } from "../program/io.ts";
import { UsageError } from "../../core/settings/errors.ts";
import { jsonOption } from "../program/options.ts";
import { stoppable, wholeNumber } from "../../core/settings/values.ts";

interface TriggerFlags {
  readonly sandbox: string;
  readonly amount?: string;
  readonly click?: string;
  readonly session?: string;
  readonly pause: number;
  readonly json?: boolean;
}

/** What happened in a sandbox, step by step. */
export interface Triggered extends Played {
  /** What was played. */
  readonly scenario: string;
  /** Address of the sandbox. */
  readonly sandbox: string;
}

/** How often it is looked what the endpoint answered, and how often at most. */
const LOOK_EVERY_MS = 50;
const LOOKS = 60;

/** Pauses after which `listen` has confirmed what happened. */
const RESTS = 16;

/** `trigger`: lets something happen in a sandbox that runs. */
export function addTrigger(program: Command, cli: Cli): void {
  const command = program.command("trigger").argument(
    "<scenario>",
    "one of the scenarios below",
  ).summary("play a scenario in a running sandbox").description(
    "play a scenario in a running `listen` or `sandbox`: a whole order, " +
      "with its webhooks",
  );
  jsonOption(command, "one object")
    .option(
      "--sandbox <url>",
      "address of the sandbox",
      sandboxAddress,
      "http://127.0.0.1:8788",
    )
    .option(
      "--amount <amount>",
      "what the customer pays, in USD (default: the session's, or the sandbox chooses)",
      decimalAmount,
    )
    .option(
      "--session <id>",
      "pay for this session, on its terms: amount, asset, network, wallet and click id",
    )
    .option(
      "--click <id>",
      "click id of the order; of a widget that was opened, its session counts (default: the session's, or the sandbox chooses)",
    )
    .option(
      "--pause <ms>",
      "pause between two events, so that their webhooks keep their order",
      (text) => wholeNumber(0, 60_000)("--pause", text),
      250,
    )
    .addHelpText(
      "after",
      `\nScenarios:\n${scenarioList()}\n\nExample:\n  rampkit trigger success\n  rampkit trigger success --session SESSION --click CLICK`,
    )
    .action(
      cli.run((name: string, flags: TriggerFlags) =>
        trigger(cli.io, name, flags)
      ),
    );
}

async function trigger(
  io: Io,
  name: string,
  flags: TriggerFlags,
): Promise<void> {
  const scenario = scenarioOf(name);
  const { signal } = io;
  const url = flags.sandbox;
  const control = new SandboxControl({ url, signal });
  const { webhookUrl, state } = await control.delivery();
  if (webhookUrl === null || state === "disabled") {
    note(
      io,
      "No webhook will come: in this sandbox " +
        (webhookUrl === null ? "they have no address" : "they are off") +
        `; change it at ${url}/control`,
    );
  }
  if (flags.session !== undefined && flags.click === undefined) {
    const { clickId } = await control.session(flags.session);
    if (clickId === null) {
      note(
        io,
        "No widget was opened with this session, so the sandbox knows no click " +
          "id of it, and the order will match nothing that you recorded: pass " +
          "--click with the one that belongs to it",
      );
    }
  }
  if (!flags.json) line(io, `${name}: ${scenario.summary}`);
  const steps: PlayedStep[] = [];
  const isSent = webhookUrl !== null && state !== "disabled";
  let last = isSent ? await control.latestWebhook() : 0;
  const answered = async () => {
    if (!isSent) return null;
    for (let look = 0; look < LOOKS; look++) {
      const answer = await control.answerAfter(last);
      if (answer !== null) {
        last = await control.latestWebhook();
        return answer;
      }
      await sleep(LOOK_EVERY_MS, signal);
    }
    return null;
  };
  const played = await stoppable(
    signal,
    () =>
      playScenario(scenario, {
        control,
        order: defined({
          clickId: flags.click,
          sessionId: flags.session,
          currencyAmount: flags.amount,
          currency: flags.amount === undefined ? undefined : "USD",
        }),
        pause: () => sleep(flags.pause, signal),
        rest: () => sleep(flags.pause * RESTS, signal),
        newId: ulid,
        answered,
        onStep: (step) => {
          steps.push(step);
          if (!flags.json) line(io, stepLine(step));
        },
      }),
    () =>
      `${steps.length} steps of ${name} happened in the sandbox, and stay so`,
  );
  if (flags.json) {
    return jsonLine<Triggered>(io, { scenario: name, sandbox: url, ...played });
  }
  const about = played.orderId === null
    ? played.userId === null ? null : `User ${played.userId}`
    : `Order ${played.orderId}`;
  if (about !== null) line(io, about);
  const refused = steps.findLast(({ answer }) =>
    answer !== null && (answer < 200 || answer > 299)
  )?.answer;
  if (refused !== undefined && refused !== null) {
    note(io, refused === 404 ? NO_SUCH_PATH : refused === 0 ? NOBODY : FAILS);
  }
}

const NO_SUCH_PATH = "The endpoint answered 404: the webhook address of the " +
  "sandbox does not end in a secret of the endpoint's; set " +
  "RAMPKIT_WEBHOOK_SECRET to the same on both sides";
const NOBODY = "Nobody answered at the webhook address of the sandbox: start " +
  "what takes webhooks there, for example `rampkit serve`";
const FAILS = "The endpoint did not take the webhook: its log says why";

/**
 * The scenario of this name.
 *
 * @throws {UsageError} When there is none; it names those that there are.
 */
function scenarioOf(name: string): Scenario {
  const scenario = Object.hasOwn(SCENARIOS, name) ? SCENARIOS[name] : undefined;
  if (scenario !== undefined) return scenario;
  throw new UsageError(
    `Unknown scenario: "${name}" is not one of ` +
      Object.keys(SCENARIOS).join(", "),
  );
}

const WEBHOOKS: Readonly<Record<PlayedStep["webhook"], string>> = {
  sent: "webhook sent",
  none: "",
  lost: "webhook lost",
  broken: "webhook cut short",
};

function stepLine({ action, status, webhook, answer }: PlayedStep): string {
  const now = status ?? "nothing changed";
  const told = answer === null
    ? ""
    : answer === 0
    ? ", no answer"
    : `, answered ${answer}`;
  return `  ${action.padEnd(20)}  ${now.padEnd(15)}  ${
    WEBHOOKS[webhook]
  }${told}`
    .trimEnd();
}

function scenarioList(): string {
  return Object.entries(SCENARIOS).map(([name, { summary }]) =>
    `  ${name.padEnd(10)} ${summary}`
  ).join("\n");
}

function sandboxAddress(value: string): string {
  const url = URL.parse(value);
  if (url?.protocol === "http:" || url?.protocol === "https:") {
    return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
  }
  throw new UsageError(`Wrong --sandbox: "${value}" is not an http address`);
}

function decimalAmount(value: string): string {
  if (/^\d{1,12}(\.\d{1,8})?$/.test(value)) return value;
  throw new UsageError(
    `Wrong --amount: "${value}" is not an amount; write for example 25.00`,
  );
}
