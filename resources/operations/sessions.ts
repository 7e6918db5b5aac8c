import {
  type FlowType,
  type SessionInput,
  type SessionsApi,
  sessionValidityMs,
} from "../../client/mod.ts";
import { defined } from "../../core/guards.ts";
import type { Ledger } from "../../ledger/mod.ts";
import type { SessionJson } from "../views/session_view.ts";
import { type TermsJson, termsToRecord } from "./terms.ts";

/** A session to create and record, as the API writes it. */
export interface SessionRequestJson extends TermsJson {
  readonly flowType?: FlowType;
  /** `simple_full_restrict` then needs no wallet and no amount. */
  readonly smartContract?: boolean;
  readonly clickId?: string;
  readonly reference?: string;
  /** What counts in place of the session's own fields. */
  readonly expected?: TermsJson;
  readonly validForMs?: number;
}

/** What a session is created with. */
export interface SessionMaker {
  readonly ledger: Pick<Ledger, "recordSession">;
  /** Asks the service. */
  readonly sessions: Pick<SessionsApi, "create">;
  /** Makes a click id. */
  readonly newClickId: () => string;
  /** Ends waiting for the service. */
  readonly signal: AbortSignal;
}

/**
 * Asks the service for a session, and records what it was asked for.
 *
 * @param extra Fields that this version does not know. @default {none}
 * @throws {OnrampError} When the service makes none.
 * @throws {ExpectationError} When it cannot be recorded.
 */
export async function createSession(
  { ledger, sessions, newClickId, signal }: SessionMaker,
  request: SessionRequestJson,
  extra: Readonly<Record<string, string>> = {},
): Promise<SessionJson> {
  const { flowType, reference, expected, validForMs } = request;
  const input = defined({
    flow_type: flowType,
    ...termsToRecord(request),
  }) as SessionInput;
  const smartContract = request.smartContract ?? false;
  const { sessionId, requestId, warnings } = await sessions.create(input, {
    signal,
    smartContract,
    extra,
  });
  const clickId = request.clickId ?? newClickId();
  await ledger.recordSession(defined({
    ...input,
    ...extra,
    session_id: sessionId,
    request_id: requestId ?? undefined,
    click_id: clickId,
    reference,
    valid_for_ms: validForMs,
    expected: expected && termsToRecord(expected),
  }));
  const validMs = sessionValidityMs;
  return { sessionId, requestId, clickId, validForMs: validMs, warnings };
}
