import { base64 } from "@scure/base";
import { CommandError, UsageError } from "../../core/settings/errors.ts";
import {
  needed,
  type Param,
  textParam,
  wholeParam,
  wordParam,
} from "../../core/settings/params.ts";
import {
  deliveriesPage,
  DELIVERY_FILTERS,
  deliveryDetail,
  type DeliveryDetailJson,
  transitionsAfter,
} from "../queries/deliveries.ts";
import { PAGE } from "../queries/orders.ts";
import { drawTable, fitted, labelled, operands } from "../views/text.ts";
import { byteLines, printableJson } from "../../core/text.ts";
import {
  filesOf,
  type Operation,
  operation,
  type OperationContext,
} from "./operation.ts";
import { isRecord, messageOf } from "../../core/guards.ts";
import { bodyValue, classify } from "../../core/webhook_event/classify_body.ts";
import {
  matcher,
  type Pattern,
  readLastSeq,
  record,
} from "../../ledger/for_resources.ts";
import { stoppable } from "../../core/settings/values.ts";
import { webhookEndpoint } from "../../webhooks/mod.ts";
import { ENTITIES } from "../../ledger/for_sync.ts";
import type { Transition } from "../../ledger/mod.ts";

/** `deliveries list`. */
export const DELIVERIES: Operation = operation({
  command: "deliveries list",
  path: "/v1/deliveries",
  scope: "read",
  operationId: "listDeliveries",
  summary: "List webhook deliveries, newest first",
  examples: ["--quarantined --limit 20"],
  params: { ...PAGE, ...DELIVERY_FILTERS },
  result: {
    schema: "Delivery",
    description: "One page",
    many: { rows: "deliveries", first: "newest" },
  },
  run: async ({ ledger }, query) => {
    const { items, next } = await deliveriesPage(ledger, query);
    return { items, next };
  },
  says: ({ items }, _, { columns }) =>
    items.length === 0 ? "No deliveries" : [
      drawTable(
        [
          { title: "Delivery", whole: true },
          { title: "Received", whole: true, spare: 1 },
          { title: "Type" },
          { title: "Order", whole: true, spare: 2 },
          { title: "User", whole: true, spare: 3 },
          { title: "Bytes", align: "right", spare: 4 },
        ],
        items.map((one) => [
          one.id,
          one.receivedAt,
          one.type ?? "(quarantined)",
          one.orderId ?? "",
          one.userId ?? "",
          one.bytes === null ? "erased" : String(one.bytes),
        ]),
        columns,
      ),
    ],
});

/** `deliveries show`. */
export const DELIVERY: Operation = operation({
  command: "deliveries show",
  path: "/v1/deliveries/{id}",
  scope: "read",
  operationId: "getDelivery",
  summary: "Show one delivery: its ids, what is unusual about it, its bytes",
  examples: ["01KA00000000000000000000 --json"],
  params: {
    id: {
      ...needed(textParam("Id of a delivery, as `deliveries list` shows it")),
      place: "<id>",
    },
  },
  result: { schema: "DeliveryDetail", description: "The delivery" },
  run: async ({ ledger }, { id }) => {
    const delivery = await deliveryDetail(ledger, id);
    if (delivery !== null) return delivery;
    throw new CommandError(
      `No such delivery: the ledger has no delivery "${id}"`,
      "not_found",
    );
  },
  says: (delivery, _, { columns }) =>
    labelled([
      ["Delivery", delivery.id],
      ["Position", String(delivery.position)],
      ["Received", delivery.receivedAt],
      ["Type", delivery.type ?? "none: it is quarantined"],
      ["Order", delivery.orderId],
      ["User", delivery.userId],
      ["Click id", delivery.clickId],
      ["Odd", delivery.reasons.join("; ")],
      ["Bytes", delivery.bytes === null ? "erased" : `${delivery.bytes}`],
      ...bodyRows(delivery),
    ], columns),
});

/** Bytes of a body that people are shown; scripts get all of it. */
const SHOWN_BYTES = 4096;

/** The body as one JSON string, in which a terminal finds nothing to obey. */
function bodyRows(
  { text, base64: bytes }: DeliveryDetailJson,
): [string, string][] {
  if (bytes === null) return [];
  const body = base64.decode(bytes);
  const cut = body.length > SHOWN_BYTES;
  const start = body.subarray(0, SHOWN_BYTES);
  return [
    text === null ? ["Body (base64)", base64.encode(start)] : [
      "Body",
      printableJson(cut ? new TextDecoder().decode(start) : text),
    ],
    ...(cut
      ? [["", `The first ${SHOWN_BYTES} bytes; --json has all`] as [
        string,
        string,
      ]]
      : []),
  ];
}

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

/** The longest that an answer waits for a transition, seconds. */
const LONGEST_WAIT_S = 60;

/** A place in the feed. */
const AFTER: Param<number | "latest"> = {
  description: "Only those after this `seq`; `latest` for only those to come",
  schema: {
    oneOf: [{ type: "integer", minimum: 0 }, { const: "latest" }],
    default: 0,
  },
  read: (name, text) => {
    if (text === "latest") return text;
    if (/^\d{1,15}$/.test(text)) return Number(text);
    throw new UsageError(
      `Wrong ${name}: "${text}" is neither the seq of a transition nor latest`,
    );
  },
};

/** Patterns of transitions, as subscriptions have them. */
const PATTERNS: Param<(transition: Transition) => boolean> = {
  description: "Only those that match one of these patterns, by commas: " +
    "order.release.yes, order.*.failed, user.fkyc.confirmed.*",
  schema: { type: "string", minLength: 1 },
  read: (name, text) => {
    try {
      return matcher(text.split(",").map((one) => one.trim()) as Pattern[]);
    } catch (error) {
      // What a program may pass beside patterns cannot be said here.
      const [what = ""] = messageOf(error).split("; a status");
      throw new UsageError(
        `Wrong ${name}: ${what.replace("Wrong pattern: ", "")}`,
      );
    }
  },
};

/** The feed of transitions; the API lets requests wait for more of it. */
export const TRANSITIONS: Operation = operation({
  command: null,
  onlyRequest: "A feed is for programs; `listen` shows people what happens.",
  path: "/v1/transitions",
  scope: "read",
  operationId: "readTransitions",
  summary: "The feed of transitions, in the order of the log",
  description:
    "Each states the release of its order as of now beside what was logged. " +
    "Pass `next` as `after` of the next request; no transition is lost " +
    "between two. With `wait`, the answer waits until there is one. With " +
    "`Accept: text/event-stream` it is a stream of Server-Sent Events " +
    "instead: the id of each is its `seq`, and `Last-Event-ID` goes on after " +
    "it.",
  params: {
    after: AFTER,
    limit: wholeParam("At most this many", { min: 1, max: 1000, usual: 100 }),
    wait: wholeParam(
      "Where there is none yet, wait this many seconds for one",
      { min: 0, max: LONGEST_WAIT_S, usual: 0 },
    ),
    on: PATTERNS,
    entity: wordParam("Only those of orders, or of users", ENTITIES),
    id: textParam("Only those of this order or user id"),
  },
  result: {
    schema: "FeedEntry",
    description: "The transitions after a place, and the next place",
    many: "feed",
  },
  run: async ({ ledger }, { after = 0, ...params }) =>
    await transitionsAfter(ledger, {
      ...params,
      after: after === "latest" ? await readLastSeq(ledger.driver) : after,
    }),
});

/** That the ledger can be read. */
export interface Readable {
  /** Always true: where it cannot be read, the answer is a problem. */
  readonly ok: true;
}

/** Whether the ledger can be read. */
export const HEALTH: Operation = operation({
  command: null,
  onlyRequest: "Load balancers ask it; `doctor` says much more to people.",
  path: "/v1/health",
  scope: null,
  operationId: "getHealth",
  summary: "Whether the ledger can be read; for load balancers",
  params: {},
  result: { schema: "Readable", description: "It can" },
  run: async ({ ledger }): Promise<Readable> => {
    await readLastSeq(ledger.driver);
    return { ok: true };
  },
});
