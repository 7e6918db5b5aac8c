import type { AssetTable } from "../../core/assets/environment.ts";
import {
  ASSUMPTION_NAMES,
  type AssumptionName,
  ASSUMPTIONS,
  type ObservableAssumption,
  type SeenBy,
} from "../../core/assumptions/assumptions.ts";
import { type AskService, NoAnswerError } from "./observing/ask_service.ts";
import type { LedgerSample } from "./observing/ledger_sample.ts";
import {
  type Facts,
  notSeen,
  type NotSeenReason,
  type Observation,
  type Observations,
} from "./observing/observation.ts";
import { createReader, type Reader } from "./observing/reader.ts";
import type { ConformanceRow } from "./observing/row.ts";
import { ANSWER_ROWS } from "./rows/answers.ts";
import { ORDER_FIELD_ROWS } from "./rows/order_fields.ts";
import { ORDER_FILTER_ROWS, ORDER_PAGE_ROWS } from "./rows/order_lists.ts";
import { SESSION_ROWS } from "./rows/sessions.ts";
import {
  USER_FIELD_ROWS,
  USER_FILTER_ROWS,
  USER_PAGE_ROWS,
} from "./rows/users.ts";
import { LEDGER_ROWS, TEST_EVENT_ROWS } from "./rows/webhooks.ts";

/** How each observable assumption is checked and judged. */
const CONFORMANCE_ROWS: Readonly<
  Record<ObservableAssumption, ConformanceRow>
> = {
  ...ORDER_FIELD_ROWS,
  ...ORDER_PAGE_ROWS,
  ...ORDER_FILTER_ROWS,
  ...USER_FIELD_ROWS,
  ...USER_PAGE_ROWS,
  ...USER_FILTER_ROWS,
  ...LEDGER_ROWS,
  ...SESSION_ROWS,
  ...TEST_EVENT_ROWS,
  ...ANSWER_ROWS,
};

/** What looking at the service needs. */
export interface ConformOptions {
  /** Asks the service. */
  readonly ask: AskService;
  /** Which table of assets the environment has. */
  readonly assets: AssetTable;
  /** What the ledger has. @default {no ledger} */
  readonly ledger?: LedgerSample | null;
  /** The Test button's request. @default {not awaited} */
  readonly test?: Reader["test"];
  /** Clock, milliseconds since 1970. */
  readonly now: () => number;
  /** Called with the number of rows looked at so far, and of all rows. */
  readonly onProgress?: (done: number, of: number) => void;
  /** Stops between two rows: it rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

const ROWS: Readonly<Partial<Record<AssumptionName, ConformanceRow>>> =
  CONFORMANCE_ROWS;

/** Why an assumption that can be seen in no other way is not checked. */
const NEVER: Readonly<Partial<Record<SeenBy, NotSeenReason>>> = {
  widget: "only_in_widget",
  failing_delivery: "only_by_failing",
  person: "only_by_person",
};

/**
 * Looks at every assumption, one request at a time. What differs is looked at a
 * second time, because orders may change while they are read; the wrong key is
 * tried once, and last.
 *
 * @returns What was seen of each; {@linkcode judge} judges it.
 */
export async function conform(options: ConformOptions): Promise<Observations> {
  const { ask, assets, now, onProgress, signal } = options;
  const readerNow = () =>
    createReader({
      ask,
      assets,
      ledger: options.ledger ?? null,
      test: options.test ?? (() => "not_awaited"),
      nowMs: now(),
    });
  const reader = readerNow();
  const last = (name: AssumptionName) =>
    ASSUMPTIONS[name].seenBy === "wrong_key";
  const names = [
    ...ASSUMPTION_NAMES.filter((name) => !last(name)),
    ...ASSUMPTION_NAMES.filter(last),
  ];
  const observations: Partial<Record<AssumptionName, Observation>> = {};
  for (const [at, name] of names.entries()) {
    signal?.throwIfAborted();
    onProgress?.(at, names.length);
    const row = ROWS[name];
    const { seenBy } = ASSUMPTIONS[name];
    if (row === undefined) {
      observations[name] = notSeen(NEVER[seenBy] ?? "only_in_widget");
      continue;
    }
    let seen = await looked(row, reader, signal);
    if (seenBy === "reading" && "facts" in seen && !row.agrees(seen.facts)) {
      seen = await looked(row, readerNow(), signal);
    }
    observations[name] = seen;
  }
  onProgress?.(names.length, names.length);
  return observations;
}

/** No answer to one question must not end the others. */
async function looked(
  row: ConformanceRow,
  reader: Reader,
  signal: AbortSignal | undefined,
): Promise<Observation> {
  try {
    return await row.look(reader);
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof NoAnswerError) return notSeen("no_answer");
    throw error;
  }
}

/** Whether the service is as assumed, in one respect. */
export type Judgement =
  | {
    readonly name: AssumptionName;
    readonly verdict: "agrees" | "differs";
    /** What was seen. */
    readonly facts: Facts;
  }
  | {
    readonly name: AssumptionName;
    readonly verdict: "not_seen";
    /** Why it could not be looked at. */
    readonly reason: NotSeenReason;
  };

/**
 * Judges what was seen, row by row. Nothing is asked, so that a transcript can
 * be judged again by a later version.
 *
 * @param observations What was seen of each assumption.
 * @returns One judgement an assumption, in the order of the table.
 */
export function judge(observations: Observations): readonly Judgement[] {
  return ASSUMPTION_NAMES.map((name) => {
    const seen = observations[name];
    const row = ROWS[name];
    if (seen === undefined || row === undefined) {
      const reason = seen !== undefined && "notSeen" in seen
        ? seen.notSeen
        : "not_in_transcript";
      return { name, verdict: "not_seen", reason };
    }
    if ("notSeen" in seen) {
      return { name, verdict: "not_seen", reason: seen.notSeen };
    }
    const { facts } = seen;
    const agrees = agreesWith(row, facts);
    return agrees === null
      ? { name, verdict: "not_seen", reason: "not_in_transcript" }
      : { name, verdict: agrees ? "agrees" : "differs", facts };
  });
}

/** Null where a transcript of another version lacks facts that are judged. */
function agreesWith(row: ConformanceRow, facts: Facts): boolean | null {
  try {
    return row.agrees(facts);
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}
