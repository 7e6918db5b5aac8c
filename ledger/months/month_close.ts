import { createHash } from "node:crypto";
import type {
  MonthClosedBody,
  MonthClosedFile,
  RecordedEvent,
} from "../events/event.ts";
import type { BookBy } from "./month_row.ts";
import type { MonthTerms } from "./month_summary.ts";

/** A closed month as it is stored. */
export interface MonthClose extends MonthTerms {
  /** When it was closed, UTC ISO 8601. */
  readonly closedAt: string;
  /** Digest of its event. */
  readonly digest: string;
  /** Position of its event. */
  readonly position: number;
  /** Its files: `summary.json`, `items.csv`, and sums of it. */
  readonly files: readonly MonthClosedFile[];
}

const utf8 = new TextDecoder();

/**
 * Reads the event of a closed month.
 *
 * @throws {SyntaxError} When its body was erased, or is not that of a month.
 */
export function readMonthClose(event: RecordedEvent): MonthClose {
  const body = bodyOf(event);
  for (const { name, text, sha256 } of body.files) {
    if (sha256Of(text) !== sha256) {
      throw new SyntaxError(
        `Cannot read the closed month ${body.month}: ${name} is not what its ` +
          "hash says; see ledger verify",
      );
    }
  }
  return {
    month: body.month,
    timeZone: body.time_zone,
    timeZoneVersion: body.time_zone_version,
    bookBy: body.book_by as BookBy,
    closedAt: event.recordedAt,
    digest: event.digest,
    position: event.position,
    asOf: { position: body.position, events: body.events },
    foldVersion: body.fold_version,
    files: body.files,
  };
}

function bodyOf(event: RecordedEvent): MonthClosedBody {
  const value: unknown = event.body.length === 0
    ? null
    : JSON.parse(utf8.decode(event.body));
  if (isClosedBody(value)) return value;
  throw new SyntaxError(
    `Cannot read the closed month at position ${event.position}: its event ` +
      "was erased, or is of a newer version",
  );
}

function isClosedBody(value: unknown): value is MonthClosedBody {
  if (typeof value !== "object" || value === null) return false;
  const body = value as Readonly<Record<keyof MonthClosedBody, unknown>>;
  return typeof body.month === "string" && typeof body.time_zone === "string" &&
    typeof body.book_by === "string" && typeof body.position === "number" &&
    typeof body.events === "number" && typeof body.fold_version === "number" &&
    Array.isArray(body.files) &&
    body.files.every((file: Partial<MonthClosedFile> | null) =>
      typeof file?.name === "string" && typeof file.text === "string" &&
      typeof file.sha256 === "string"
    );
}

/** A file of a month, with the hash of its bytes. */
export function monthFile(name: string, text: string): MonthClosedFile {
  return { name, sha256: sha256Of(text), text };
}

/** The text of a file of a closed month; the empty text when it has none. */
export function fileText(close: MonthClose, name: string): string {
  return close.files.find((file) => file.name === name)?.text ?? "";
}

function sha256Of(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}
