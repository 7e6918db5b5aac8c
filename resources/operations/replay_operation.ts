import { isRecord } from "../../core/guards.ts";
import { byteLines } from "../../core/lines.ts";
import { bodyValue, classify } from "../../core/webhook_event/classify_body.ts";
import { record } from "../../ledger/for_resources.ts";
import { UsageError } from "../../core/settings/errors.ts";
import { needed, textParam } from "../../core/settings/params.ts";
import { stoppable } from "../../core/settings/stoppable.ts";
import { webhookEndpoint } from "../../webhooks/mod.ts";
import { operands } from "../views/shell_word.ts";
import { fitted } from "../views/text.ts";
import { filesOf } from "./ledger_files.ts";
import {
  type Operation,
  operation,
  type OperationContext,
} from "./operation.ts";

/** How many bodies were stored, and which lines were refused. */
export interface Replayed {
  /** Bodies that were stored. */
  readonly replayed: number;
  /** Those of them that are none of the documented events. */
  readonly unrecognised: number;
  /** Numbers of the lines that were refused, from 1. */
  readonly refusedLines: readonly number[];
  /** Position of the last event. */
  readonly position: number;
}

/** How many bodies are under way at once: enough to share their commits. */
const REPLAY_WINDOW = 256;

/** The path secret of an endpoint that nobody but the replay can reach. */
const SECRET = "replayed-by-this-process";

/** `webhook replay`. */
export const REPLAY: Operation = operation({
  command: "webhook replay",
  path: null,
  onlyCommand: "The bodies are in a file beside the command; what comes over " +
    "the network goes to the endpoint.",
  scope: "operate",
  operationId: "replayWebhooks",
  summary: "Feed webhook bodies through the endpoint's code into the ledger, " +
    "then fold and chain them",
  examples: ["bodies.ndjson"],
  params: {
    file: {
      ...needed(
        textParam("One webhook body a line (NDJSON), or - for standard input"),
      ),
      place: "<file>",
      isFile: true as const,
    },
  },
  result: { schema: "Replayed", description: "How many were stored" },
  opens: "begins",
  counts: "bodies stored",
  run: async (context, { file }): Promise<Replayed> => {
    const { ledger, signal, onProgress } = context;
    const endpoint = replayEndpoint(context);
    let stored = 0;
    let unrecognised = 0;
    let number = 0;
    const refusedLines: number[] = [];
    const deliver = async (body: Uint8Array, number: number) => {
      const answer = await endpoint(
        new Request(`http://replay.invalid/webhooks/${SECRET}`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: body as Uint8Array<ArrayBuffer>,
        }),
      );
      if (answer.status !== 204) return void refusedLines.push(number);
      onProgress(++stored);
      if (classify(bodyValue(body)).why !== null) unrecognised++;
    };
    await stoppable(
      signal,
      async () => {
        let window: Promise<void>[] = [];
        try {
          for await (const body of byteLines(filesOf(context).read(file))) {
            signal.throwIfAborted();
            number++;
            if (number === 1) refuseExport(body);
            if (body.length === 0) continue;
            window.push(deliver(body, number));
            if (window.length < REPLAY_WINDOW) continue;
            await Promise.all(window);
            window = [];
          }
        } finally {
          // Even when stopped, store what is under way.
          await Promise.all(window);
          await endpoint.drain();
        }
        await ledger.project({ signal });
      },
      () =>
        number === 0
          ? "no body was read, and none is stored"
          : `the bodies of lines 1 to ${number} are stored` +
            (refusedLines.length === 0
              ? ""
              : `, except those refused (lines ${refusedLines.join(", ")})`) +
            ", and the next command that reads folds them; go on with: " +
            `tail -n +${number + 1} FILE | rampkit webhook replay -`,
    );
    const { position } = await ledger.stats();
    return { replayed: stored, unrecognised, refusedLines, position };
  },
  exit: ({ refusedLines }) => refusedLines.length === 0 ? "fine" : "failed",
  says: (
    { replayed, unrecognised, refusedLines, position },
    { file },
    { columns },
  ) =>
    fitted(
      columns,
      `Replayed ${replayed} bodies; the last event is at position ${position}`,
      ...(unrecognised === 0 ? [] : [
        `None of the documented events: ${unrecognised} of them; see why ` +
        `with: rampkit webhook parse ${operands(file)}`,
      ]),
      ...refusedLines.map((at) =>
        `Line ${at} was refused: too large, or the ledger was busy`
      ),
    ),
});

/**
 * The endpoint's own code, so that a replay stores what a delivery would have
 * stored.
 */
function replayEndpoint(
  context: OperationContext,
): ReturnType<typeof webhookEndpoint> {
  const { ledger, now } = context;
  const { newSalt } = filesOf(context);
  return webhookEndpoint({
    // What is replayed has happened: the ledger does not go live with it.
    append: (delivery) =>
      ledger.append([record("webhook", delivery.body, {
        eventId: delivery.id,
        recordedAt: delivery.receivedAt,
        salt: newSalt(),
      })]),
    secrets: [SECRET],
    now,
  });
}

/**
 * What is stored stays for ever, so the events of another ledger are not to be
 * taken for webhook bodies.
 *
 * @throws {UsageError} When the first line is the header of an export.
 */
function refuseExport(line: Uint8Array): void {
  const value = bodyValue(line);
  if (!isRecord(value) || value.rampkit !== "events") return;
  throw new UsageError(
    "Wrong <file>: it holds events that `ledger export` wrote, not webhook " +
      "bodies; take it in with: rampkit ledger import FILE",
  );
}
