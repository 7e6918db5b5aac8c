import type { ExpectedTerms, SessionCreatedBody } from "../events/event.ts";
import {
  FieldReader,
  OF_SESSION,
  readCurrencyOfSession,
  SHARED,
  TERMS,
} from "./_fields.ts";
import { ExpectationError } from "./expectation_error.ts";

/**
 * A session to record: its request and response in one object. Those of the
 * client can be spread into it; other fields are ignored.
 */
export interface SessionToRecord extends
  Omit<
    SessionCreatedBody,
    | "session_id"
    | "request_id"
    | "flow_type"
    | "commodity_amount"
    | "currency_amount"
    | "expected"
  > {
  /** Id of the session, as the service or as the client names it. */
  readonly session_id?: string;
  /** The same. */
  readonly sessionId?: string;
  /** Request id, where the service returned one. */
  readonly request_id?: string | null;
  /** The same. */
  readonly requestId?: string | null;
  /** `simple` or `simple_full_restrict`. @default "simple" */
  readonly flow_type?: string;
  /** Asset amount asked for: a decimal string, or a whole number. */
  readonly commodity_amount?: string | number;
  /** Fiat amount asked for, likewise. */
  readonly currency_amount?: string | number;
  /**
   * What an order is compared with when the session does not state it. It
   * replaces the session's own fields.
   */
  readonly expected?: TermsToRecord;
}

/** What an order is compared with, by the service's field names. */
export interface TermsToRecord
  extends Omit<ExpectedTerms, "commodity_amount" | "currency_amount"> {
  /** Asset amount: a decimal string, or a whole number. */
  readonly commodity_amount?: string | number;
  /** Fiat amount, likewise. */
  readonly currency_amount?: string | number;
}

const NAMES: Readonly<Record<string, string>> = {
  sessionId: "session_id",
  requestId: "request_id",
};

/**
 * The fields that are stored of a session, in the order in which they came.
 *
 * @throws {ExpectationError} `invalid`, with every field at fault.
 */
export function sessionBody(
  session: SessionToRecord,
  now: number,
): SessionCreatedBody {
  const fields = new FieldReader(now);
  const stored = fields.read(
    { ...session },
    { ...OF_SESSION, ...SHARED, ...TERMS, currency: readCurrencyOfSession },
    { nameOf: (name) => NAMES[name] ?? name },
  );
  const expected = session.expected === undefined ? undefined : fields.read(
    { ...session.expected },
    TERMS,
    { path: "expected." },
  );
  fields.checkWallet(stored, "wallet_address");
  if (expected !== undefined) {
    fields.checkWallet({ ...stored, ...expected }, "expected.wallet_address");
  }
  if (
    stored.session_id === undefined &&
    (session.session_id ?? session.sessionId) === undefined
  ) fields.missing("session_id", "use the sessionId that the service returned");
  if (fields.issues.length > 0) {
    throw new ExpectationError(fields.issues);
  }
  return {
    ...stored,
    session_id: String(stored.session_id),
    flow_type: String(stored.flow_type ?? "simple"),
    ...(expected === undefined ? {} : { expected }),
  };
}
