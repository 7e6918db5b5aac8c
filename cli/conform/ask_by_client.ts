import { OnrampClient, type OnrampClientOptions } from "../../client/client.ts";
import { OnrampError, ValidationError } from "../../client/errors.ts";
import type { AskService, ServiceAnswer } from "../../sync/check/conform.ts";

/** How the service is asked. */
export interface AskByClientOptions extends OnrampClientOptions {
  /** Clock, milliseconds since 1970. */
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/**
 * Asks the service by the client, at its rate and with its retries, one request
 * at a time; what the client makes of an answer is put aside, and the answer
 * itself is given.
 */
export function askByClient(
  { signal, ...options }: AskByClientOptions,
): AskService {
  const { now, fetch: send = globalThis.fetch } = options;
  let seen: ServiceAnswer | null = null;
  const client = new OnrampClient({
    ...options,
    hookBodies: true,
    fetch: async (input, init) => {
      const askedAtMs = now();
      const response = await send(input, init);
      const dateMs = Date.parse(response.headers.get("date") ?? "");
      seen = {
        ...{ status: response.status, askedAtMs, answeredAtMs: now() },
        ...{ dateMs: Number.isNaN(dateMs) ? null : dateMs, text: null },
      };
      return response;
    },
    onResponse: ({ body }) => {
      if (seen !== null) seen = { ...seen, text: body };
    },
  });
  return async (list, extra) => {
    seen = null;
    try {
      await client[list].page({}, { extra, signal });
    } catch (error) {
      signal.throwIfAborted();
      // What the client refuses to send is a fault of the question.
      const isOurs = error instanceof ValidationError && seen === null;
      if (isOurs || !(error instanceof OnrampError)) throw error;
    }
    return seen;
  };
}
