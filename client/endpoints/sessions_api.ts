import { type Api, refuseFaults } from "../http/api.ts";
import type { SessionOptions } from "../http/call_options.ts";
import { stringifyExact } from "../../core/json/exact_number.ts";
import { promised } from "../http/caller.ts";
import { sessionSchema } from "./schemas.ts";
import {
  checkSessionInput,
  type Session,
  type SessionInput,
} from "./session_input.ts";

/** Widget sessions. */
export interface SessionsApi {
  /**
   * Creates a session. Open the widget with it within 30 seconds, once; ask
   * when the user clicks.
   *
   * @throws {ValidationError} When the input breaks a rule; lists every fault.
   * @throws {OnrampError} When the call fails.
   */
  create(input: SessionInput, options?: SessionOptions): Promise<Session>;
}

const action = "Cannot create a session";

/** Makes the sessions part of a client. */
export function sessionsApi(api: Api): SessionsApi {
  return {
    async create(input, options = {}): Promise<Session> {
      const { faults, warnings, body } = checkSessionInput(input, {
        assets: api.environment.assets,
        allowUnlistedAssets: options.allowUnlistedAssets ??
          api.allowUnlistedAssets,
        smartContract: options.smartContract ?? false,
        extra: options.extra ?? {},
      });
      refuseFaults(action, faults);
      const answer = await api.ask({
        operation: "sessions.create",
        action,
        method: "POST",
        url: `${api.environment.baseUrl}/api/external/hpp/create-session`,
        body: stringifyExact(body),
        repeatable: true,
        secrets: [],
        signal: options.signal,
      });
      const session = promised(sessionSchema, answer, action);
      return {
        sessionId: session.sessionId,
        requestId: session.requestId ?? null,
        warnings,
      };
    },
  };
}
