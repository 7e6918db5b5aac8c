import { type AskService, createReader, NoAnswerError } from "./reader.ts";
import {
  CONFORMANCE_ROWS,
  type ConformanceRow,
  type Fact,
  NOT_SEEN,
  type NotSeenReason,
  RISKS,
} from "./rows.ts";

/** One thing that is assumed of the service, and what was seen of it. */
export interface ConformRow {
  /** Name of the row. */
  readonly name: string;
  /** What it is about. */
  readonly subject: ConformanceRow["subject"];
  /** What is assumed of the service, in one sentence. */
  readonly taken: string;
  /** Whether it is so. */
  readonly verdict: "agrees" | "differs" | "not_seen";
  /** What was seen; null when it could not be looked at. */
  readonly facts:
    | readonly {
      /** What it is of. */
      readonly name: string;
      /** A count, a status, a word, or several words. */
      readonly value: Fact;
    }[]
    | null;
  /** Why it could not be looked at; null when it was. */
  readonly reason: {
    readonly code: NotSeenReason;
    /** The same for people. */
    readonly message: string;
  } | null;
  /** What goes wrong where it is not so. */
  readonly risk: {
    readonly code: ConformanceRow["risk"];
    /** The same for people. */
    readonly message: string;
  };
}

/** What looking at the service needs. */
interface ConformOptions {
  /** Asks the service. */
  readonly ask: AskService;
  /** Clock, milliseconds since 1970. */
  readonly now: () => number;
  /** Called with the number of rows looked at so far. */
  readonly onProgress?: (done: number) => void;
  /** Stops between two rows: it rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/**
 * Looks at each row, one request at a time. What differs is looked at a second
 * time, because orders may change while they are read.
 */
export async function conform(
  { ask, now, onProgress, signal }: ConformOptions,
): Promise<readonly ConformRow[]> {
  const reader = createReader(ask, now());
  const rows: ConformRow[] = [];
  for (const [name, row] of Object.entries(CONFORMANCE_ROWS)) {
    signal?.throwIfAborted();
    onProgress?.(rows.length);
    const look = (by: typeof reader) =>
      row.look(by).catch((error) => {
        signal?.throwIfAborted();
        // No answer to one question must not end the others.
        if (error instanceof NoAnswerError) return "no_answer" as const;
        throw error;
      });
    let seen = await look(reader);
    if (typeof seen !== "string" && !seen[0]) {
      seen = await look(createReader(ask, now()));
    }
    const [verdict, facts, code] = typeof seen === "string"
      ? ["not_seen", null, seen] as const
      : [seen[0] ? "agrees" : "differs", seen[1], null] as const;
    const { subject, taken, risk } = row;
    rows.push({
      ...{ name, subject, taken, verdict },
      facts: facts &&
        Object.entries(facts).map(([name, value]) => ({ name, value })),
      reason: code && { code, message: NOT_SEEN[code] },
      risk: { code: risk, message: RISKS[risk] },
    });
  }
  onProgress?.(rows.length);
  return rows;
}
