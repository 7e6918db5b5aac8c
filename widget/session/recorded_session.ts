import type { SessionFields } from "../options/ignored_options.ts";

/** The fields that an order is compared by. */
const TERMS = [
  "user_id",
  "commodity",
  "network",
  "commodity_amount",
  "currency",
  "currency_amount",
  "wallet_address",
] as const satisfies readonly (keyof ExpectedFields)[];

/** What to ask the service for, and what to remember of it. */
export interface SessionPlan<Input extends SessionFields> {
  /** The session to create; your server decides, never the browser. */
  readonly session: Input;
  /**
   * Your own reference of this purchase, for example a basket or an invoice: it
   * is stored in the ledger. Not of the user: an order of one basket would then
   * be compared with another.
   */
  readonly reference?: string;
  /**
   * What the order is to be compared with where the session does not say it: a
   * session of a smart contract has no amount. What is stated here counts in
   * place of the session's own field.
   *
   * @default {what the session says}
   */
  readonly expected?: ExpectedFields;
  /**
   * How long an order of this session is expected, in milliseconds.
   *
   * @default {seven days}
   */
  readonly validForMs?: number;
}

/** What an order is compared with, under the session's field names. */
export type ExpectedFields = Omit<SessionFields, "flow_type">;

/** The same as texts: amounts are decimal strings. */
export type ExpectedTexts = {
  readonly [Field in keyof ExpectedFields]?: string;
};

/** A session as created, to be remembered; the ledger's own shape. */
export interface SessionRecord extends ExpectedTexts {
  /** `sessionId` that the service returned. */
  readonly session_id: string;
  /** `requestId` that the service returned. */
  readonly request_id?: string;
  /** Click id that the widget carries. */
  readonly click_id: string;
  /** Your own reference. */
  readonly reference?: string;
  /** `simple` or `simple_full_restrict`. */
  readonly flow_type: string;
  /** What the plan expects apart from the session's own fields. */
  readonly expected?: ExpectedTexts;
  /** How long it is valid, in milliseconds; seven days unless stated. */
  readonly valid_for_ms?: number;
}

/** What asks for a session, and what remembers it. */
export interface RecordedSessionPorts<Input extends SessionFields> {
  /** Click id that the widget will carry; one for each session. */
  readonly clickId: string;
  /** Creates a session: the client's `sessions.create`. */
  readonly createSession: (
    session: Input,
  ) => Promise<
    { readonly sessionId: string; readonly requestId?: string | null }
  >;
  /** Records the session: the ledger's `recordSession`. */
  readonly recordSession: (record: SessionRecord) => Promise<void>;
}

/**
 * Makes a session, and records what was asked for. A session that cannot be
 * recorded is not handed out, because there would be nothing to compare its
 * order with.
 *
 * @returns What was recorded.
 */
export async function recordedSession<Input extends SessionFields>(
  plan: SessionPlan<Input>,
  { clickId, createSession, recordSession }: RecordedSessionPorts<Input>,
): Promise<SessionRecord> {
  const created = await createSession(plan.session);
  const record = sessionRecord(plan, created, clickId);
  await recordSession(record);
  return record;
}

function sessionRecord<Input extends SessionFields>(
  plan: SessionPlan<Input>,
  created: { readonly sessionId: string; readonly requestId?: string | null },
  click: string,
): SessionRecord {
  const { session, reference, expected, validForMs } = plan;
  return {
    session_id: created.sessionId,
    ...(created.requestId && { request_id: created.requestId }),
    click_id: click,
    ...(reference !== undefined && { reference }),
    flow_type: session.flow_type ?? "simple",
    ...termsOf(session),
    ...(expected && { expected: termsOf(expected) }),
    ...(validForMs && { valid_for_ms: validForMs }),
  };
}

function termsOf(fields: ExpectedFields): ExpectedTexts {
  return Object.fromEntries(
    TERMS.filter((name) => fields[name] !== undefined)
      .map((name) => [name, String(fields[name])]),
  );
}
